//! Checking a whole table: every checksum, block and value. The container is
//! parsed by [`super::layout`]; codecs and numberings are shared with the reader.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::canonical::Canonical;
use super::layout::{Layout, Stored, check_values, outside};
use super::order::{ColumnOrder, Gathered};
use crate::codec::{self, Codec, Shape};
use crate::numbering;
use crate::source::Source;
use crate::{Error, Limits, Result};

/// Positions that one task checks: a multiple of all block sizes that are
/// powers of two. Blocks that reach over its ends are decoded twice.
const UNIT_POSITIONS: u64 = 1 << 15;
/// Values that one task holds, roughly; wide records make smaller units.
const UNIT_VALUES: u64 = 4 << 20;

/// What [`verify`] found in a sound table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Positions in the table.
    pub positions: u64,
    /// Blocks that were decoded.
    pub blocks: u64,
    /// CRC-32 of the content, computed from the records.
    pub content_crc32: u32,
}

/// Checks every checksum, decodes every block, checks every value against its
/// field's bounds, and compares the checksum of the content. Holds the whole
/// tail of the file in memory, and some blocks for each thread; `progress` is
/// called with the positions done, and its error stops the work.
///
/// Errors: [`Error::Corrupt`] with the rule that is broken first, and the place
/// of the first bad block; as [`super::Reader::open`] otherwise.
pub fn verify(
    source: &dyn Source,
    progress: Option<&dyn Fn(u64) -> Result<()>>,
) -> Result<Verified> {
    verify_within(source, &Limits::default(), progress)
}

/// [`verify`] with other limits for what the file may make it allocate.
pub fn verify_within(
    source: &dyn Source,
    limits: &Limits,
    progress: Option<&dyn Fn(u64) -> Result<()>>,
) -> Result<Verified> {
    let checked = check(source, limits, progress);
    match source.path() {
        Some(path) => checked.map_err(|e| e.in_file(path)),
        None => checked,
    }
}

fn check(
    source: &dyn Source,
    limits: &Limits,
    progress: Option<&dyn Fn(u64) -> Result<()>>,
) -> Result<Verified> {
    let table = Table::open(source, limits)?;
    let positions = table.positions;
    let unit = UNIT_POSITIONS.min(UNIT_VALUES / table.width.max(1));
    let mut batch = unit * rayon::current_num_threads() as u64 * 4;
    for (stored, _, _, order) in &table.columns {
        if order.is_own() {
            batch = batch.max(Gathered::step(stored.column.width()));
        }
    }
    let mut content = crc32fast::Hasher::new();
    let mut blocks = 0;
    let mut next = 0;
    while next < positions {
        let end = next.saturating_add(batch).min(positions);
        let gathered = table.gather(next..end)?;
        blocks += gathered.blocks;
        let firsts: Vec<u64> = (next..end).step_by(unit as usize).collect();
        let done: Vec<_> = firsts
            .into_par_iter()
            .map(|first| table.check_unit(first, (first + unit).min(end), &gathered))
            .collect();
        for unit in done {
            let (part, count) = unit?;
            content.combine(&part);
            blocks += count;
        }
        next = end;
        if let Some(progress) = progress {
            progress(next)?;
        }
    }
    let found = content.finalize();
    if found != table.content_crc32 {
        return Err(Error::corrupt(
            "F-7",
            format!(
                "the content's checksum is {found:08x}, {:08x} stated",
                table.content_crc32
            ),
        ));
    }
    Ok(Verified {
        positions,
        blocks,
        content_crc32: found,
    })
}

struct Table<'a> {
    source: &'a dyn Source,
    positions: u64,
    /// Values in a record over all columns.
    width: u64,
    columns: Vec<(Stored, Arc<dyn Codec>, Canonical, ColumnOrder)>,
    content_crc32: u32,
}

/// Records of the columns that are in an order of their own.
struct Batch {
    columns: Vec<Option<Gathered>>,
    /// How many blocks had their first rows among them.
    blocks: u64,
}

impl<'a> Table<'a> {
    fn open(source: &'a dyn Source, limits: &Limits) -> Result<Self> {
        let layout = Layout::parse(source, limits)?;
        let (name, version, params) = &layout.numbering;
        let numbering = numbering::open(name, *version, params)?;
        if numbering.len() != layout.positions {
            return Err(Error::corrupt(
                "S-14",
                format!(
                    "{} positions, the numbering has {}",
                    layout.positions,
                    numbering.len()
                ),
            ));
        }
        let mut width = 0;
        let mut columns = Vec::new();
        for stored in layout.columns {
            let column = &stored.column;
            let values = column.width() as u64 * u64::from(column.block_positions);
            Limits::check("a decoded block in bytes", values * 4, limits.block_bytes)?;
            width += column.width() as u64;
            let shape = Shape {
                bits: column.value_bits(),
                block_positions: column.block_positions,
            };
            let id = &column.codec;
            let codec = codec::open(&id.name, id.version, &id.params, &shape)?;
            let form = Canonical::of(column);
            let order = ColumnOrder::open(column, &numbering)?;
            columns.push((stored, codec, form, order));
        }
        Ok(Table {
            source,
            positions: layout.positions,
            width,
            columns,
            content_crc32: layout.content_crc32,
        })
    }

    /// Checks the records from `first` to before `end`: their share of the
    /// content's checksum, and how many blocks begin there.
    fn check_unit(
        &self,
        first: u64,
        end: u64,
        gathered: &Batch,
    ) -> Result<(crc32fast::Hasher, u64)> {
        let mut blocks = 0;
        let mut parts = Vec::new();
        for (stored, codec, _, order) in &self.columns {
            let column = &stored.column;
            let from = first.max(column.first);
            let to = end.min(column.first + column.count).max(from);
            let size = u64::from(column.block_positions);
            let mut values = Vec::with_capacity((to - from) as usize * column.width());
            let mut number = if order.is_own() { to } else { from };
            while number < to {
                let grid = number / size;
                let start = (grid * size).max(column.first);
                let last = ((grid + 1) * size).min(column.first + column.count);
                let records = self.block(stored, &**codec, order, start, last)?;
                let width = column.width();
                let taken = records.get(
                    (number - start) as usize * width..(last.min(to) - start) as usize * width,
                );
                values.extend_from_slice(taken.unwrap_or_default());
                blocks += u64::from(start >= first);
                number = last;
            }
            parts.push((from..to, values));
        }
        let mut canonical = Vec::new();
        for number in first..end {
            let columns = self.columns.iter().zip(&gathered.columns);
            for ((range, values), ((stored, _, form, _), own)) in parts.iter().zip(columns) {
                let width = stored.column.width();
                let own = own.as_ref().and_then(|own| own.record(number));
                let record = match range.contains(&number) {
                    true if own.is_some() => own.unwrap_or_default(),
                    true => &values[(number - range.start) as usize * width..][..width],
                    false => &stored.column.elsewhere,
                };
                form.append(record, &mut canonical);
            }
        }
        let mut content = crc32fast::Hasher::new();
        content.update(&canonical);
        Ok((content, blocks))
    }

    /// Decodes the blocks in which records of `numbers` are stored in another order.
    fn gather(&self, numbers: std::ops::Range<u64>) -> Result<Batch> {
        let blocks = AtomicU64::new(0);
        let columns = self.columns.iter().map(|(stored, codec, _, order)| {
            let column = &stored.column;
            if !order.is_own() {
                return Ok(None);
            }
            let end = column.first + column.count;
            let these =
                numbers.start.clamp(column.first, end)..numbers.end.clamp(column.first, end);
            let parts = rayon::current_num_threads() * 8;
            let decode = |first: u64, count: usize, _, out: &mut Vec<u32>| {
                // Other batches have others of its rows.
                blocks.fetch_add(
                    u64::from(these.contains(&order.number_of(first))),
                    Ordering::Relaxed,
                );
                *out = self.block(stored, &**codec, order, first, first + count as u64)?;
                Ok(())
            };
            Gathered::collect(column, order, these.clone(), parts, decode).map(Some)
        });
        Ok(Batch {
            columns: columns.collect::<Result<_>>()?,
            blocks: blocks.into_inner(),
        })
    }

    /// The records of the block with the rows from `start` to before `end`.
    fn block(
        &self,
        stored: &Stored,
        codec: &dyn Codec,
        order: &ColumnOrder,
        start: u64,
        end: u64,
    ) -> Result<Vec<u32>> {
        let column = &stored.column;
        let size = u64::from(column.block_positions);
        let block = start / size - column.first / size;
        let wrong = |e: Error, place: Option<u64>| match e {
            Error::Corrupt { rule, message, .. } => Error::Corrupt {
                path: None,
                offset: place,
                rule,
                message: format!(
                    "block {block} of column '{}' (positions {start} to {}): {message}",
                    column.name,
                    end - 1
                ),
            },
            other => other,
        };
        let range = stored.block(block).map_err(|e| wrong(e, None))?;
        let place = stored.region.start + range.start;
        let length = range.end - range.start;
        let here = |rule, message| wrong(Error::corrupt(rule, message), Some(place));
        if length < 4 {
            return Err(here(
                "B-2",
                format!("{length} bytes, no room for a checksum"),
            ));
        }
        let longest = 16 * column.width() as u64 * size + 1024;
        if length > longest {
            return Err(here(
                "B-8",
                format!("{length} bytes, at most {longest} expected"),
            ));
        }
        let mut bytes = vec![0; length as usize];
        self.source.read_at(place, &mut bytes)?;
        let (payload, stated) = bytes.split_at(bytes.len() - 4);
        let found = crc32fast::hash(payload);
        if found.to_le_bytes() != stated {
            return Err(here(
                "B-1",
                format!("its checksum is {found:08x}, another one is stated"),
            ));
        }
        let count = (end - start) as usize;
        let mut values = vec![0; count * column.width()];
        codec
            .decode(start, count, payload, order.plan(), &mut values)
            .map_err(|e| wrong(e, Some(place)))?;
        check_values(column, &values)
            .map_err(|(field, value)| here("B-7", outside(field, value)))?;
        Ok(values)
    }
}

//! Checking a whole table. The container is parsed here a second time, from
//! `spec/FORMAT.md` and with no code of the reader or of [`crate::format`]'s
//! parsers, so that the two check each other; codecs and numberings are shared.

use std::ops::Range;

use rayon::prelude::*;

use super::canonical::Canonical;
use crate::codec::{self, Shape};
use crate::format::{CodecId, Column, Field, Kind};
use crate::source::Source;
use crate::{Error, Properties, Result, Value, numbering};

/// Positions that one task checks, at least; a multiple of all block sizes.
const UNIT_POSITIONS: u64 = 8192;

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
    let checked = check(source, progress);
    match source.path() {
        Some(path) => checked.map_err(|e| e.in_file(path)),
        None => checked,
    }
}

fn check(source: &dyn Source, progress: Option<&dyn Fn(u64) -> Result<()>>) -> Result<Verified> {
    let table = Layout::parse(source)?;
    let numbering = numbering::open(&table.numbering.0, table.numbering.1, &table.numbering.2)?;
    if numbering.len() != table.positions {
        return Err(Error::corrupt(
            "S-14",
            format!(
                "{} positions, the numbering has {}",
                table.positions,
                numbering.len()
            ),
        ));
    }
    let mut columns = Vec::new();
    for stored in &table.columns {
        let column = &stored.column;
        let shape = Shape {
            bits: column.value_bits(),
            block_positions: column.block_positions,
        };
        let codec = codec::open(
            &column.codec.name,
            column.codec.version,
            &column.codec.params,
            &shape,
        )?;
        columns.push((stored, codec, Canonical::of(column)));
    }
    let least_unit = table.columns.iter().fold(1u64, |unit, c| {
        let size = u64::from(c.column.block_positions);
        let common = (1..=size)
            .rev()
            .find(|d| unit % d == 0 && size % d == 0)
            .unwrap_or(1);
        unit / common * size
    });
    let unit = least_unit * UNIT_POSITIONS.div_ceil(least_unit);

    let check_unit = |first: u64| -> Result<(crc32fast::Hasher, u64)> {
        let end = (first + unit).min(table.positions);
        let mut blocks = 0;
        let mut parts: Vec<(Range<u64>, Vec<u32>)> = Vec::new();
        for (stored, codec, _) in &columns {
            let column = &stored.column;
            let range = first.max(column.first)
                ..end
                    .min(column.first + column.count)
                    .max(first.max(column.first));
            let mut values = Vec::new();
            let mut number = range.start;
            while number < range.end {
                let size = u64::from(column.block_positions);
                let block = number / size - column.first / size;
                let last = ((number / size + 1) * size).min(column.first + column.count);
                let (from, to) = (stored.offset(block)?, stored.offset(block + 1)?);
                let place = stored.region.start + from;
                let in_block = |e: Error| match e {
                    Error::Corrupt { rule, message, .. } => Error::corrupt(
                        rule,
                        format!(
                            "block {block} of column '{}' (positions {number} to {}): {message}",
                            column.name,
                            last - 1
                        ),
                    )
                    .at(place),
                    other => other,
                };
                if from.checked_add(4).is_none_or(|least| least > to)
                    || to > stored.region.end - stored.region.start
                {
                    return Err(in_block(Error::corrupt(
                        "I-5",
                        format!("it reaches from {from} to {to}"),
                    )));
                }
                let mut bytes = vec![0; (to - from) as usize];
                source.read_at(place, &mut bytes)?;
                let (payload, stated) = bytes.split_at(bytes.len() - 4);
                let found = crc32fast::hash(payload);
                if found.to_le_bytes() != stated {
                    return Err(in_block(Error::corrupt(
                        "B-1",
                        format!("its checksum is {found:08x}, another one is stated"),
                    )));
                }
                let start = values.len();
                let count = (last - number) as usize;
                values.resize(start + count * column.width(), 0);
                codec
                    .decode(number, count, payload, &*numbering, &mut values[start..])
                    .map_err(in_block)?;
                check_bounds(column, &values[start..]).map_err(in_block)?;
                blocks += 1;
                number = last;
            }
            parts.push((range, values));
        }
        let mut canonical = Vec::new();
        for number in first..end {
            for ((range, values), (stored, _, form)) in parts.iter().zip(&columns) {
                let width = stored.column.width();
                let record = match range.contains(&number) {
                    true => &values[(number - range.start) as usize * width..][..width],
                    false => &stored.column.elsewhere,
                };
                form.append(record, &mut canonical);
            }
        }
        let mut content = crc32fast::Hasher::new();
        content.update(&canonical);
        Ok((content, blocks))
    };

    let mut content = crc32fast::Hasher::new();
    let mut blocks = 0;
    let batch = unit * rayon::current_num_threads() as u64 * 4;
    let mut next = 0;
    while next < table.positions {
        let end = next.saturating_add(batch).min(table.positions);
        let firsts: Vec<u64> = (next..end).step_by(unit as usize).collect();
        let done: Vec<_> = firsts.into_par_iter().map(check_unit).collect();
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
        positions: table.positions,
        blocks,
        content_crc32: found,
    })
}

fn check_bounds(column: &Column, values: &[u32]) -> Result<()> {
    for record in values.chunks_exact(column.width()) {
        let mut rest = record;
        for field in &column.fields {
            let (head, tail) = rest.split_at(field.count as usize);
            rest = tail;
            if field.kind == Kind::Float {
                continue;
            }
            for &raw in head {
                let value = i64::from(raw) + field.bias;
                if value < field.minimum || value > field.maximum {
                    return Err(Error::corrupt(
                        "B-7",
                        format!(
                            "field '{}' has the value {value}, {} to {} expected",
                            field.name, field.minimum, field.maximum
                        ),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Where everything is, read plainly.
struct Layout {
    positions: u64,
    numbering: (String, u16, Properties),
    columns: Vec<Stored>,
    content_crc32: u32,
}

/// A column and its index.
struct Stored {
    column: Column,
    region: Range<u64>,
    blocks: u64,
    bias: u64,
    group: u64,
    bits: u64,
    knots: Vec<u64>,
    distances: Vec<u8>,
}

impl Stored {
    /// Offset of a block in the region, by the formula of the specification.
    fn offset(&self, block: u64) -> Result<u64> {
        if block == self.blocks {
            return Ok(self.region.end - self.region.start);
        }
        let mut distance = 0u64;
        for i in 0..self.bits {
            let bit = block * self.bits + i;
            distance |= u64::from(self.distances[(bit / 8) as usize] >> (bit % 8) & 1) << i;
        }
        let (group, within) = ((block / self.group) as usize, block % self.group);
        let (from, to) = (
            i128::from(self.knots[group]),
            i128::from(self.knots[group + 1]),
        );
        let line = from + i128::from(within) * ((to - from).div_euclid(i128::from(self.group)));
        u64::try_from(line + i128::from(distance) - i128::from(self.bias))
            .map_err(|_| Error::corrupt("I-5", format!("block {block} lies before its region")))
    }
}

/// The rest of some bytes.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, n: u64) -> Result<&'a [u8]> {
        if n > self.0.len() as u64 {
            return Err(Error::corrupt(
                "S-1",
                format!("{n} bytes expected, {} left", self.0.len()),
            ));
        }
        let (head, tail) = self.0.split_at(n as usize);
        self.0 = tail;
        Ok(head)
    }

    fn number(&mut self, bytes: u64) -> Result<u64> {
        Ok(self
            .bytes(bytes)?
            .iter()
            .rev()
            .fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    fn text(&mut self, length_bytes: u64) -> Result<String> {
        let n = self.number(length_bytes)?;
        String::from_utf8(self.bytes(n)?.to_vec())
            .map_err(|_| Error::corrupt("S-2", "text is not UTF-8"))
    }

    fn properties(&mut self) -> Result<Properties> {
        let mut out = Properties::new();
        for _ in 0..self.number(2)? {
            let key = self.text(1)?;
            let value = match self.number(1)? {
                0 => Value::Unsigned(self.number(8)?),
                1 => Value::Signed(self.number(8)? as i64),
                2 => Value::Text(self.text(4)?),
                3 => {
                    let n = self.number(4)?;
                    Value::Bytes(self.bytes(n)?.to_vec())
                }
                tag => {
                    return Err(Error::corrupt(
                        "S-4",
                        format!("property '{key}' has type {tag}, 0 to 3 expected"),
                    ));
                }
            };
            out.set(&key, value);
        }
        Ok(out)
    }

    fn field(&mut self) -> Result<Field> {
        Ok(Field {
            name: self.text(1)?,
            kind: match self.number(1)? {
                0 => Kind::Unsigned,
                1 => Kind::Signed,
                2 => Kind::Float,
                kind => {
                    return Err(Error::corrupt(
                        "S-10",
                        format!("a field of kind {kind}, 0 to 2 expected"),
                    ));
                }
            },
            bits: self.number(1)? as u8,
            count: self.number(4)? as u32,
            bias: self.number(8)? as i64,
            minimum: self.number(8)? as i64,
            maximum: self.number(8)? as i64,
            properties: self.properties()?,
        })
    }

    fn column(&mut self) -> Result<Column> {
        let mut column = Column {
            name: self.text(1)?,
            first: self.number(8)?,
            count: self.number(8)?,
            block_positions: self.number(4)? as u32,
            codec: CodecId {
                name: self.text(1)?,
                version: self.number(2)? as u16,
                params: self.properties()?,
            },
            fields: Vec::new(),
            elsewhere: Vec::new(),
        };
        for _ in 0..self.number(2)? {
            column.fields.push(self.field()?);
        }
        for _ in 0..self.number(2)? {
            column.elsewhere.push(self.number(4)? as u32);
        }
        Ok(column)
    }
}

impl Layout {
    fn parse(source: &dyn Source) -> Result<Self> {
        let len = source.len();
        let expect = |rule, right: bool, message: &str| match right {
            true => Ok(()),
            false => Err(Error::corrupt(rule, message)),
        };
        expect(
            "H-1",
            len >= 80,
            &format!("{len} bytes, a table has at least 80"),
        )?;
        let (mut header, mut footer) = ([0; 32], [0; 48]);
        source.read_at(0, &mut header)?;
        source.read_at(len - 48, &mut footer)?;
        let mut rest = Rest(&header);
        expect(
            "H-2",
            rest.bytes(8)? == b"\x89ETB\r\n\x1a\n",
            "the first 8 bytes are not those of a table",
        )?;
        let (major, _minor, needed, flags) = (
            rest.number(2)?,
            rest.number(2)?,
            rest.number(2)?,
            rest.number(2)?,
        );
        let (positions, schema_bytes) = (rest.number(8)?, rest.number(4)?);
        let crc = rest.number(4)?;
        expect(
            "H-3",
            crc == u64::from(crc32fast::hash(&header[..28])),
            "the header's checksum is wrong",
        )?;
        if major != 1 || needed > 0 || flags & 0xff != 0 {
            return Err(Error::unsupported(format!(
                "format {major}, reader {needed}, flags {flags:#x}; 1, 0 and 0 are known: update endtable"
            )));
        }
        expect("H-4", positions < 1 << 63, "more than 2^63 - 1 positions")?;
        let mut rest = Rest(&footer);
        let (file_bytes, index_offset, index_bytes) =
            (rest.number(8)?, rest.number(8)?, rest.number(8)?);
        let (content_crc32, zero, crc, zero2) = (
            rest.number(4)?,
            rest.number(4)?,
            rest.number(4)?,
            rest.number(4)?,
        );
        expect(
            "F-2",
            rest.bytes(8)? == b"\x1aend.ETB",
            "the end mark is missing: the file is truncated",
        )?;
        expect(
            "F-3",
            file_bytes == len,
            &format!("{file_bytes} bytes expected, the file has {len}"),
        )?;
        expect(
            "F-4",
            zero | zero2 == 0,
            "reserved bytes of the footer are not zero",
        )?;
        let blocks_from = 32 + schema_bytes;
        let fits = index_offset >= blocks_from
            && index_offset
                .checked_add(index_bytes)
                .and_then(|end| end.checked_add(48))
                == Some(len);
        expect(
            "F-5",
            fits,
            "schema, blocks, index and footer do not fill the file",
        )?;
        let (mut schema, mut index) = (
            vec![0; schema_bytes as usize],
            vec![0; index_bytes as usize],
        );
        source.read_at(32, &mut schema)?;
        source.read_at(index_offset, &mut index)?;
        let mut hasher = crc32fast::Hasher::new();
        for part in [&header[..], &schema, &index, &footer[..32]] {
            hasher.update(part);
        }
        expect(
            "F-6",
            u64::from(hasher.finalize()) == crc,
            "the checksum of header, schema, index and footer is wrong",
        )?;

        let mut rest = Rest(&schema);
        let _properties = rest.properties()?;
        let numbering = (rest.text(1)?, rest.number(2)? as u16, rest.properties()?);
        let mut columns = Vec::new();
        for _ in 0..rest.number(2)? {
            columns.push(rest.column()?);
        }
        expect("S-1", rest.0.is_empty(), "bytes are left behind the schema")?;

        let mut rest = Rest(&index);
        let mut at = blocks_from;
        let mut stored = Vec::new();
        for column in columns {
            let usable = column.block_positions > 0
                && column.block_positions <= 1 << 15
                && column
                    .first
                    .checked_add(column.count)
                    .is_some_and(|end| end <= positions)
                && column
                    .fields
                    .iter()
                    .all(|f| (1..=32).contains(&f.bits) && f.count > 0)
                && (1..=65_535).contains(
                    &column
                        .fields
                        .iter()
                        .map(|f| u64::from(f.count))
                        .sum::<u64>(),
                );
            expect(
                "S-6",
                usable,
                &format!("column '{}' has impossible sizes", column.name),
            )?;
            let whole = column.first == 0 && column.count == positions;
            let elsewhere = if whole { 0 } else { column.width() };
            expect(
                "S-12",
                column.elsewhere.len() == elsewhere,
                "the record for numbers not stored has a wrong length",
            )?;
            let size = u64::from(column.block_positions);
            let blocks = match column.count {
                0 => 0,
                count => (column.first + count - 1) / size - column.first / size + 1,
            };
            let (from, bytes, bias) = (rest.number(8)?, rest.number(8)?, rest.number(4)?);
            let (group_log2, bits, zero) = (rest.number(1)?, rest.number(1)?, rest.number(2)?);
            expect(
                "I-2",
                group_log2 <= 16 && bits <= 28,
                "impossible widths in the index",
            )?;
            expect("I-3", zero == 0, "reserved bytes of the index are not zero")?;
            let region = from..from.checked_add(bytes).unwrap_or(0);
            expect(
                "I-4",
                from == at && region.end >= at && region.end <= index_offset,
                "blocks overlap or leave gaps",
            )?;
            at = region.end;
            let group = 1 << group_log2;
            let knots = rest.bytes((blocks.div_ceil(group) + 1).saturating_mul(8))?;
            let knots = knots
                .chunks(8)
                .map(|k| Rest(k).number(8))
                .collect::<Result<_>>()?;
            let distances = rest.bytes(
                u64::try_from((u128::from(blocks) * u128::from(bits)).div_ceil(8))
                    .unwrap_or(u64::MAX),
            )?;
            stored.push(Stored {
                column,
                region,
                blocks,
                bias,
                group,
                bits,
                knots,
                distances: distances.to_vec(),
            });
        }
        expect("I-1", rest.0.is_empty(), "bytes are left behind the index")?;
        expect(
            "I-4",
            at == index_offset,
            "the blocks do not reach to the index",
        )?;
        Ok(Layout {
            positions,
            numbering,
            columns: stored,
            content_crc32: content_crc32 as u32,
        })
    }
}

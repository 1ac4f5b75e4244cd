//! Writing a table: blocks encoded in parallel, streamed to a temporary file
//! beside the wanted one, which takes its name only when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use tempfile::NamedTempFile;

use super::Records;
use super::canonical::Canonical;
use super::encode::{Encoder, Part, Unit, sample};
use super::order::ColumnOrder;
use super::ordered::{self, Buckets};
use crate::codec::{self, SampleBlock, Shape};
use crate::format::{
    BlockIndex, CodecId, Column, FOOTER_BYTES, FORMAT_MINOR, Footer, HEADER_BYTES, Header, Kind,
    Schema,
};
use crate::numbering::{self, Numbering};
use crate::{Error, Result};

/// Records that one task encodes, at least; a multiple of all block sizes.
const UNIT_RECORDS: u64 = 8192;
/// Records of a unit that columns of different block sizes may need.
const MOST_UNIT_RECORDS: u64 = 1 << 20;
/// Bytes of values that are held for each thread, roughly.
const BATCH_BYTES: u64 = 16 << 20;

/// How [`write()`] goes about it.
#[derive(Default)]
pub struct WriteOptions<'a> {
    /// Replace an existing file.
    pub force: bool,
    /// Called with the number of positions written so far; its error stops
    /// the work, and no file is left.
    pub progress: Option<&'a dyn Fn(u64) -> Result<()>>,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Positions in the table.
    pub positions: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Bytes of each column's blocks, in the schema's order.
    pub column_bytes: Vec<u64>,
    /// Bytes of the block index.
    pub index_bytes: u64,
    /// CRC-32 of the content.
    pub content_crc32: u32,
}

/// Writes `records` as a table. `schema` says how: a column's codec names the
/// codec and holds wishes for it as parameters (see [`codec::build`]), which
/// the trained parameters replace. A column's order may be a name without
/// parameters, which are then learnt.
///
/// Errors: [`Error::Invalid`] for a schema that breaks a rule or does not fit
/// the records, or a file that exists already; [`Error::Io`]; what `records`
/// reports.
pub fn write(
    records: &dyn Records,
    mut schema: Schema,
    path: &Path,
    options: &WriteOptions<'_>,
) -> Result<Summary> {
    if records.len() != schema.positions || records.width() != schema.width() {
        return Err(Error::invalid(format!(
            "{} records of {} values do not fit a schema of {} of {}",
            records.len(),
            records.width(),
            schema.positions,
            schema.width()
        )));
    }
    refuse_existing(path, options.force)?;
    let numbering = open_numbering(&schema)?;
    ordered::learn(records, &mut schema, &*numbering)?;
    let samples = (0..schema.columns.len())
        .map(|c| sample(records, &schema, &numbering, c))
        .collect::<Result<Vec<_>>>()?;
    let mut writer = Writer::create(path, schema, &samples)?;
    let width = records.width();
    while writer.next < writer.schema.positions {
        let units = writer.units();
        let encoded: Vec<Result<Unit>> = units
            .into_par_iter()
            .map(|(first, count)| {
                let mut values = vec![0; count * width];
                records.read(first, &mut values)?;
                writer.encoder.unit(&writer.schema, first, &values)
            })
            .collect();
        for unit in encoded {
            writer.append(unit?)?;
        }
        if let Some(progress) = options.progress {
            progress(writer.next)?;
        }
    }
    writer.finish(options.force)
}

/// Writes a table from records that arrive in number order.
pub struct Writer {
    path: PathBuf,
    schema: Schema,
    encoder: Encoder,
    file: BufWriter<NamedTempFile>,
    /// Blocks of the columns behind the first, which follow it in the file.
    spools: Vec<BufWriter<File>>,
    /// Records of columns in an order of their own.
    buckets: Vec<Option<Buckets>>,
    /// Lengths of each column's blocks.
    lengths: Vec<Vec<u32>>,
    content: crc32fast::Hasher,
    front: Vec<u8>,
    /// Number of the next record to append.
    next: u64,
    /// Pushed values that fill no unit yet.
    pending: Vec<u32>,
}

impl Writer {
    /// Starts a table at `path`; see [`write()`] for `schema`. `samples` holds
    /// blocks of each column to train its codec on, and may be empty.
    pub fn create(path: &Path, mut schema: Schema, samples: &[Vec<SampleBlock>]) -> Result<Self> {
        let numbering = open_numbering(&schema)?;
        let mut columns = Vec::new();
        for (c, column) in schema.columns.iter_mut().enumerate() {
            refuse_floats(column)?;
            let shape = Shape {
                bits: column.value_bits(),
                block_positions: column.block_positions,
            };
            let sample = samples.get(c).map_or(&[][..], Vec::as_slice);
            let order = ColumnOrder::open(column, &numbering).map_err(blame_caller)?;
            let codec = codec::build(
                &column.codec.name,
                &shape,
                &column.codec.params,
                order.plan(),
                sample,
            )?;
            column.codec = CodecId {
                name: codec.name().to_owned(),
                version: codec.version(),
                params: codec.params(),
            };
            columns.push((codec, Canonical::of(column), order));
        }
        let described = schema.to_bytes()?;
        let header = Header {
            minor: FORMAT_MINOR,
            minimum_reader: 0,
            positions: schema.positions,
            schema_bytes: u32::try_from(described.len()).map_err(|_| {
                Error::invalid(format!(
                    "a schema of {} bytes, under 4 GiB fit a table",
                    described.len()
                ))
            })?,
        };
        let mut front = header.to_bytes();
        debug_assert_eq!(front.len(), HEADER_BYTES);
        front.extend_from_slice(&described);
        let folder = folder(path);
        let failed = |e| Error::io("create a temporary file beside it", e).in_file(path);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".").suffix(".etb.tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).map_err(failed)?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let spools = schema
            .columns
            .iter()
            .skip(1)
            .map(|_| {
                tempfile::tempfile_in(folder)
                    .map(BufWriter::new)
                    .map_err(failed)
            })
            .collect::<Result<_>>()?;
        let buckets = schema
            .columns
            .iter()
            .map(|column| {
                let own = column
                    .order
                    .as_ref()
                    .map(|_| Buckets::create(column, folder));
                own.transpose().map_err(failed)
            })
            .collect::<Result<_>>()?;
        file.write_all(&front).map_err(|e| write_error(path, e))?;
        let mut in_number_order = schema.columns.iter().filter(|c| c.order.is_none());
        let unit = in_number_order.try_fold(1u64, |unit, c| {
            Some(least_common_multiple(unit, u64::from(c.block_positions)))
                .filter(|unit| *unit <= MOST_UNIT_RECORDS)
        });
        let unit = unit.ok_or_else(|| {
            Error::invalid(format!(
                "the columns' block sizes have no common multiple up to {MOST_UNIT_RECORDS}; choose powers of two"
            ))
        })?;
        let unit = unit * UNIT_RECORDS.div_ceil(unit);
        Ok(Writer {
            path: path.to_owned(),
            encoder: Encoder { columns, unit },
            buckets,
            lengths: vec![Vec::new(); schema.columns.len()],
            schema,
            file,
            spools,
            content: crc32fast::Hasher::new(),
            front,
            next: 0,
            pending: Vec::new(),
        })
    }

    /// Appends records, given as the raw values of one or more of them.
    pub fn push(&mut self, values: &[u32]) -> Result<()> {
        self.pending.extend_from_slice(values);
        let width = self.schema.width();
        while self.next < self.schema.positions {
            let batch = self.units();
            let needed = batch.iter().map(|(_, count)| count * width).sum::<usize>();
            if self.pending.len() < needed {
                return Ok(());
            }
            let mut parts = Vec::new();
            let mut rest = self.pending.as_slice();
            for (first, count) in batch {
                let (head, tail) = rest.split_at(count * width);
                parts.push((first, head));
                rest = tail;
            }
            let encoded: Vec<Result<Unit>> = parts
                .into_par_iter()
                .map(|(first, values)| self.encoder.unit(&self.schema, first, values))
                .collect();
            self.pending.drain(..needed);
            for unit in encoded {
                self.append(unit?)?;
            }
        }
        if self.pending.is_empty() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "more records than the table's {} positions",
            self.schema.positions
        )))
    }

    /// First number and count of the units that are encoded together next.
    fn units(&self) -> Vec<(u64, usize)> {
        let unit = self.encoder.unit;
        let bytes = unit * self.schema.width().max(1) as u64 * 4;
        let most = (BATCH_BYTES / bytes).max(2) * rayon::current_num_threads() as u64;
        let end = self
            .next
            .saturating_add(most.saturating_mul(unit))
            .min(self.schema.positions);
        (self.next..end)
            .step_by(unit as usize)
            .map(|first| (first, (end - first).min(unit) as usize))
            .collect()
    }

    fn append(&mut self, unit: Unit) -> Result<()> {
        let spools = self.spools.iter_mut().map(|spool| spool as &mut dyn Write);
        let sinks = std::iter::once(&mut self.file as &mut dyn Write).chain(spools);
        let places = self.buckets.iter_mut().zip(&mut self.lengths);
        for ((sink, part), (buckets, all)) in sinks.zip(unit.columns).zip(places) {
            let failed = |e| write_error(&self.path, e);
            match (part, buckets) {
                (Part::Blocks(bytes, lengths), _) => {
                    sink.write_all(&bytes).map_err(failed)?;
                    all.extend_from_slice(&lengths);
                }
                (Part::Rows(rows, records), Some(buckets)) => {
                    let width = records.len() / rows.len().max(1);
                    for (row, record) in rows.into_iter().zip(records.chunks_exact(width.max(1))) {
                        buckets.put(row, record).map_err(failed)?;
                    }
                }
                (Part::Rows(..), None) => {}
            }
        }
        self.content.combine(&unit.content);
        self.next += unit.count as u64;
        Ok(())
    }

    /// Encodes what was kept for columns in an order of their own.
    fn encode_buckets(&mut self) -> Result<()> {
        let columns = self.encoder.columns.iter().zip(&self.schema.columns);
        let places = self.buckets.iter_mut().zip(&mut self.lengths);
        for (c, ((encoder, column), (buckets, all))) in columns.zip(places).enumerate() {
            let Some(buckets) = buckets.take() else {
                continue;
            };
            let (codec, _, order) = encoder;
            let sink: &mut dyn Write = match c.checked_sub(1).and_then(|c| self.spools.get_mut(c)) {
                Some(spool) => spool,
                None => &mut self.file,
            };
            let encoded = buckets.encode(column, &**codec, order, |bytes, lengths| {
                all.extend_from_slice(lengths);
                sink.write_all(bytes)
                    .map_err(|e| write_error(&self.path, e))
            });
            encoded.map_err(|e| e.in_file(&self.path))?;
        }
        Ok(())
    }

    /// Completes the table, flushes it to the disk and gives it its name.
    pub fn finish(mut self, force: bool) -> Result<Summary> {
        if self.next != self.schema.positions {
            return Err(Error::invalid(format!(
                "{} records pushed, the table has {}",
                self.next, self.schema.positions
            )));
        }
        self.encode_buckets()?;
        let failed = |e| write_error(&self.path, e);
        for spool in &mut self.spools {
            spool.rewind().map_err(failed)?;
            io::copy(spool.get_mut(), &mut self.file).map_err(failed)?;
        }
        let mut offset = self.front.len() as u64;
        let mut index = Vec::new();
        let mut column_bytes = Vec::new();
        for lengths in &self.lengths {
            let region_bytes = BlockIndex::write(offset, lengths, &mut index);
            column_bytes.push(region_bytes);
            offset += region_bytes;
        }
        let index_bytes = index.len() as u64;
        let file_bytes = offset + index_bytes + FOOTER_BYTES as u64;
        let content_crc32 = self.content.finalize();
        let footer = Footer {
            file_bytes,
            index_offset: offset,
            index_bytes,
            content_crc32,
        };
        self.file.write_all(&index).map_err(failed)?;
        self.file
            .write_all(&footer.to_bytes(&[&self.front, &index]))
            .map_err(failed)?;
        let file = self.file.into_inner().map_err(|e| failed(e.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        refuse_existing(&self.path, force)?;
        let kept = match force {
            true => file.persist(&self.path),
            false => file.persist_noclobber(&self.path),
        };
        kept.map_err(|e| {
            Error::io("give the finished file its name", e.error).in_file(&self.path)
        })?;
        Ok(Summary {
            positions: self.schema.positions,
            file_bytes,
            column_bytes,
            index_bytes,
            content_crc32,
        })
    }
}

/// The numbering that a schema names, if it fits.
fn open_numbering(schema: &Schema) -> Result<Arc<dyn Numbering>> {
    let id = &schema.numbering;
    let numbering = numbering::open(&id.name, id.version, &id.params)?;
    if numbering.len() != schema.positions {
        return Err(Error::invalid(format!(
            "the numbering has {} positions, the schema {}",
            numbering.len(),
            schema.positions
        )));
    }
    Ok(numbering)
}

/// Fails for floating values under a codec that would make them larger than others do.
fn refuse_floats(column: &Column) -> Result<()> {
    let floats = column.fields.iter().any(|field| field.kind == Kind::Float);
    if floats && !codec::suits_floats(&column.codec.name) {
        return Err(Error::invalid(format!(
            "column '{}' has floating values, which codec '{}' predicts badly: choose 'zstd'",
            column.name, column.codec.name
        )));
    }
    Ok(())
}

/// A wrong order in a schema that is to be written is the caller's fault.
fn blame_caller(error: Error) -> Error {
    match error {
        Error::Corrupt { message, .. } => Error::invalid(format!(
            "{message}; an order is learnt by `table::write`, which sees the records first"
        )),
        other => other,
    }
}

/// The folder in which `path` lies.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Fails when `path` exists and may not be replaced.
fn refuse_existing(path: &Path, force: bool) -> Result<()> {
    if !force && path.exists() {
        return Err(Error::invalid(format!(
            "{}: exists already; choose another name or use --force",
            path.display()
        )));
    }
    Ok(())
}

fn write_error(path: &Path, e: io::Error) -> Error {
    Error::io("write the file (nothing is left of it)", e).in_file(path)
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b.max(1));
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b.max(1)
}

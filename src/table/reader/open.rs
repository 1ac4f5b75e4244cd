//! Opening a table: header, schema, footer and index, and nothing else.

use std::path::Path;
use std::sync::Arc;

use super::column::{ColumnReader, Grid};
use super::direct::DIRECT_COLUMNS;
use super::window::Window;
use super::{Reader, name_file};
use crate::codec::{self, Access, Shape};
use crate::format::{BlockIndex, Column, FOOTER_BYTES, Footer, HEADER_BYTES, Header, Schema};
use crate::numbering;
use crate::source::{FileSource, Held, MapSource, Source};
use crate::table::cache::BlockCache;
use crate::table::order::ColumnOrder;
use crate::{Error, Limits, Result};

/// Bytes read at the front at once: header and most schemas.
const FRONT_BYTES: u64 = 4096;
/// Budget of a reader's own cache in bytes.
const CACHE_BYTES: usize = 16 << 20;

/// How a table is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    limits: Limits,
    cache: Option<Arc<BlockCache>>,
}

impl OpenOptions {
    /// Default limits and a cache of 16 MiB of the reader's own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Other limits for what the file may make the reader allocate.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// A cache of `bytes` bytes of the reader's own; 0 for none.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache = Some(Arc::new(BlockCache::new(bytes)));
        self
    }

    /// A cache shared with other tables.
    #[must_use]
    pub fn cache(mut self, cache: Arc<BlockCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Opens a file with positioned reads.
    ///
    /// Errors: [`Error::Io`], [`Error::Corrupt`], [`Error::Unsupported`] and
    /// [`Error::Limit`], each with the file's name.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Reader> {
        self.open_source(Arc::new(FileSource::open(path)?))
    }

    /// Opens a file through a memory map, which is the fastest.
    ///
    /// # Safety
    /// As [`MapSource::open`]: nobody may change the file while it is open.
    #[allow(unsafe_code)]
    pub unsafe fn map(self, path: impl AsRef<Path>) -> Result<Reader> {
        // SAFETY: the caller's promise is the one that the source asks for.
        self.open_source(Arc::new(unsafe { MapSource::open(path)? }))
    }

    /// Opens a table in any source.
    pub fn open_source(self, source: Arc<dyn Source>) -> Result<Reader> {
        match Reader::open_parts(&source, self) {
            Ok(reader) => Ok(reader),
            Err(e) => Err(name_file(e, &*source)),
        }
    }
}

impl Reader {
    fn open_parts(source: &Arc<dyn Source>, options: OpenOptions) -> Result<Self> {
        let limits = options.limits;
        let len = source.len();
        let least = (HEADER_BYTES + FOOTER_BYTES) as u64;
        let mut front = vec![0; len.min(FRONT_BYTES) as usize];
        source.read_at(0, &mut front)?;
        let header = Header::parse(&front)?;
        let described = u64::from(header.schema_bytes);
        Limits::check("the schema in bytes", described, limits.schema_bytes)?;
        if len < least {
            return Err(Error::corrupt(
                "H-1",
                format!("{len} bytes, a table has at least {least}; fetch or make it again"),
            ));
        }
        if least + described > len {
            return Err(Error::corrupt(
                "H-5",
                format!(
                    "a schema of {described} bytes does not fit a file of {len}: it is truncated; fetch or make it again"
                ),
            ));
        }
        let blocks_from = HEADER_BYTES as u64 + described;
        let have = front.len() as u64;
        front.resize(blocks_from as usize, 0);
        if have < blocks_from {
            source.read_at(have, &mut front[have as usize..])?;
        }
        let mut tail = vec![0; FOOTER_BYTES];
        source.read_at(len - FOOTER_BYTES as u64, &mut tail)?;
        let footer = Footer::parse(&tail, len)?;
        if footer.index_offset < blocks_from {
            return Err(Error::corrupt(
                "F-5",
                format!("the index at {} lies in the schema", footer.index_offset),
            ));
        }
        Limits::check(
            "the block index in bytes",
            footer.index_bytes,
            limits.index_bytes,
        )?;
        let mut index = vec![0; footer.index_bytes as usize];
        source.read_at(footer.index_offset, &mut index)?;
        Footer::check(&tail, &[&front, &index])?;
        let schema = Schema::parse(&front[HEADER_BYTES..], header.positions)
            .map_err(|e| e.at(HEADER_BYTES as u64))?;
        let numbering = numbering::open(
            &schema.numbering.name,
            schema.numbering.version,
            &schema.numbering.params,
        )?;
        if numbering.len() != header.positions {
            return Err(Error::corrupt(
                "S-14",
                format!(
                    "{} positions, the numbering has {}",
                    header.positions,
                    numbering.len()
                ),
            ));
        }
        let blocks: Vec<u64> = schema.columns.iter().map(Column::blocks).collect();
        Limits::check(
            "the block index in memory in bytes",
            BlockIndex::memory_bytes(blocks.iter().fold(0, |sum, &n| n.saturating_add(sum))),
            limits.index_bytes,
        )?;
        let indexes = BlockIndex::parse_all(&index, &blocks, blocks_from, footer.index_offset)
            .map_err(|e| e.at(footer.index_offset))?;
        let cache = options
            .cache
            .unwrap_or_else(|| Arc::new(BlockCache::new(CACHE_BYTES)));
        let cache_id = cache.register(schema.columns.len());
        let in_memory = source.bytes().is_some();
        let mut columns = Vec::with_capacity(schema.columns.len());
        for (i, (column, index)) in schema.columns.iter().zip(indexes).enumerate() {
            let shape = Shape {
                bits: column.value_bits(),
                block_positions: column.block_positions,
            };
            let decoded = column.width() as u64 * u64::from(column.block_positions) * 4;
            Limits::check("a decoded block in bytes", decoded, limits.block_bytes)?;
            let codec = codec::open(
                &column.codec.name,
                column.codec.version,
                &column.codec.params,
                &shape,
            )?;
            let order = ColumnOrder::open(column, &numbering)?;
            let grid = Grid::new(column);
            let kept = match codec.access() {
                Access::Slot => Arc::clone(&codec),
                Access::Block => codec::for_memory(&shape),
            };
            columns.push(ColumnReader {
                width: column.width(),
                read_kept: kept.reader(),
                kept,
                access: codec.access(),
                in_memory: in_memory && codec.access() == Access::Slot,
                // Look-ups of that kind know nothing of orders.
                read: codec.reader().filter(|_| !order.is_own()),
                #[cfg(target_arch = "x86_64")]
                lanes: codec
                    .lanes()
                    .filter(|_| in_memory && !order.is_own() && grid.is_near()),
                #[cfg(target_arch = "x86_64")]
                elsewhere: column
                    .elsewhere
                    .as_slice()
                    .try_into()
                    .map(super::column::Aligned)
                    .unwrap_or_default(),
                head_bytes: codec.head_bytes(),
                codec,
                longest: column.longest_block(),
                index,
                cache_id: cache_id + i as u64,
                grid,
                order,
                column: column.clone(),
            });
        }
        let width = schema.width();
        let direct = in_memory
            && columns.len() <= DIRECT_COLUMNS
            && columns.iter().all(|c| c.read.is_some());
        Ok(Reader {
            windows: columns.iter().map(|_| Window::default()).collect(),
            direct,
            #[cfg(target_arch = "x86_64")]
            lanes: match &*columns {
                [one, two] => one.lanes.and(two.lanes),
                _ => None,
            },
            source: Held::new(Arc::clone(source)),
            header,
            schema,
            footer,
            numbering,
            columns,
            cache,
            cache_id,
            width,
        })
    }
}

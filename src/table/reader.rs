//! Opening a table and looking records up.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cache::{BlockCache, Key};
use super::canonical::Canonical;
use super::{CacheStatistics, Records};
use crate::codec::{self, Access, Codec, Shape};
use crate::format::{
    BLOCK_CHECKSUM_BYTES, BlockIndex, Column, FOOTER_BYTES, Footer, HEADER_BYTES, Header, Schema,
};
use crate::numbering::{self, Numbering};
use crate::source::{FileSource, MapSource, Source, prefetch};
use crate::{Error, Limits, Result};

/// Bytes read at the front at once: header and most schemas.
const FRONT_BYTES: u64 = 4096;
/// Budget of a reader's own cache in bytes.
const CACHE_BYTES: usize = 16 << 20;
/// Columns whose places are found ahead of decoding, at most.
const DIRECT_COLUMNS: usize = 4;
/// Records whose bytes are asked for before the first is decoded.
const BATCH_AHEAD: usize = 32;
/// Bytes before and behind a record's estimated beginning that are asked for.
const RECORD_SLACK: usize = 12;
const RECORD_REACH: usize = 36;
/// Records that [`Chunks`] reads at a time, roughly, and their values at most.
const CHUNK_RECORDS: u64 = 4096;
const CHUNK_VALUES: u64 = 4 << 20;

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

/// An open table: look-ups from any number of threads.
pub struct Reader {
    source: Arc<dyn Source>,
    header: Header,
    schema: Schema,
    footer: Footer,
    numbering: Arc<dyn Numbering>,
    columns: Vec<ColumnReader>,
    cache: Arc<BlockCache>,
    width: usize,
    /// Whether [`Reader::get_direct`] serves this table.
    direct: bool,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("path", &self.source.path())
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

/// One column of an open table.
struct ColumnReader {
    column: Column,
    width: usize,
    canonical: Canonical,
    codec: Arc<dyn Codec>,
    access: Access,
    /// See [`Codec::head_share`].
    head_share: usize,
    index: BlockIndex,
    /// Bytes of a stored block, at most.
    longest: usize,
    /// A bit for each block whose checksum was found right, when the source
    /// lies in memory: each block is checked once, before it is first used.
    checked: Vec<AtomicU64>,
    cache_id: u64,
    grid: Grid,
}

impl ColumnReader {
    /// Where a block is; `None` when the index is wrong.
    #[inline]
    fn locate(&self, place: Place) -> Option<Located> {
        let (offset, length) = self.index.find(place.block)?;
        Some(Located {
            place,
            offset,
            length,
        })
    }
}

/// A record's place, and that of its block in the source.
#[derive(Clone, Copy)]
struct Located {
    place: Place,
    offset: u64,
    length: usize,
}

impl Located {
    /// Asks for the bytes that a look-up will probably read: the start of the
    /// block, where tables lie, and the record's place if all records take the
    /// same room.
    #[inline]
    fn prefetch(&self, column: &ColumnReader, bytes: &[u8]) {
        let offset = self.offset as usize;
        let head = self.length * column.head_share >> 8;
        let record = head + ((self.length - head) * self.place.slot >> column.grid.size_log2);
        prefetch(bytes, offset);
        prefetch(bytes, offset + head);
        prefetch(bytes, (offset + record).saturating_sub(RECORD_SLACK));
        prefetch(bytes, offset + record + RECORD_REACH);
    }
}

/// Block and slot of a number, with the divisions made ahead.
struct Grid {
    first: u64,
    count: u64,
    size: u64,
    shift: Option<u32>,
    /// Logarithm of the size, rounded up.
    size_log2: u32,
    /// Grid cell of the first number.
    cell: u64,
}

impl Grid {
    fn new(column: &Column) -> Self {
        let size = u64::from(column.block_positions);
        Grid {
            first: column.first,
            count: column.count,
            size,
            shift: size.is_power_of_two().then(|| size.trailing_zeros()),
            size_log2: size.next_power_of_two().trailing_zeros(),
            cell: column.first / size,
        }
    }

    /// Block, its first number, and how many records it has.
    #[inline]
    fn place(&self, number: u64) -> Option<Place> {
        if number.wrapping_sub(self.first) >= self.count {
            return None;
        }
        let cell = match self.shift {
            Some(shift) => number >> shift,
            None => number / self.size,
        };
        let start = (cell * self.size).max(self.first);
        let end = (cell * self.size + self.size).min(self.first + self.count);
        Some(Place {
            block: cell - self.cell,
            first: start,
            count: (end - start) as usize,
            slot: (number - start) as usize,
        })
    }
}

#[derive(Clone, Copy)]
struct Place {
    block: u64,
    first: u64,
    count: usize,
    slot: usize,
}

impl Reader {
    /// Opens a file with positioned reads and a cache of its own.
    ///
    /// Errors: as [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
    }

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
            let words = if in_memory {
                index.blocks().div_ceil(64) as usize
            } else {
                0
            };
            columns.push(ColumnReader {
                width: column.width(),
                canonical: Canonical::of(column),
                access: codec.access(),
                head_share: codec.head_share(),
                codec,
                checked: (0..words).map(|_| AtomicU64::new(0)).collect(),
                longest: column.longest_block(),
                index,
                cache_id: cache_id + i as u64,
                grid: Grid::new(column),
                column: column.clone(),
            });
        }
        let width = schema.width();
        let direct = in_memory
            && columns.len() <= DIRECT_COLUMNS
            && columns.iter().all(|c| c.access == Access::Slot);
        Ok(Reader {
            direct,
            source: Arc::clone(source),
            header,
            schema,
            footer,
            numbering,
            columns,
            cache,
            width,
        })
    }

    /// What the table says of itself.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The header, with the format's version.
    pub fn header(&self) -> Header {
        self.header
    }

    /// Length of the file in bytes.
    pub fn file_bytes(&self) -> u64 {
        self.footer.file_bytes
    }

    /// Length of the block index in bytes.
    pub fn index_bytes(&self) -> u64 {
        self.footer.index_bytes
    }

    /// Bytes of a column's blocks in the file, checksums included.
    pub fn column_bytes(&self, column: usize) -> u64 {
        self.columns
            .get(column)
            .map_or(0, |c| c.index.region_bytes())
    }

    /// CRC-32 of the content, as the file states it.
    pub fn content_crc32(&self) -> u32 {
        self.footer.content_crc32
    }

    /// The numbering.
    pub fn numbering(&self) -> &dyn Numbering {
        &*self.numbering
    }

    /// The file's name, when it has one.
    pub fn path(&self) -> Option<&Path> {
        self.source.path()
    }

    /// Positions in the table.
    pub fn len(&self) -> u64 {
        self.schema.positions
    }

    /// Whether the table has no positions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values in a record over all columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The cache's counts, over all tables that share it.
    pub fn cache_statistics(&self) -> CacheStatistics {
        self.cache.statistics()
    }

    /// Looks up the whole record of `number`: the raw values of all columns
    /// into `out`, whose length is [`Reader::width`].
    ///
    /// Errors: [`Error::Invalid`] for a number out of range or a buffer of
    /// another length; [`Error::Corrupt`] and [`Error::Io`] with the file's name.
    #[inline]
    pub fn get(&self, number: u64, out: &mut [u32]) -> Result<()> {
        if out.len() != self.width {
            return Err(self.width_error(out.len(), self.width));
        }
        self.check_number(number)?;
        if self.direct
            && let Some(bytes) = self.source.bytes()
            && self.get_direct(number, bytes, out)
        {
            return Ok(());
        }
        let mut rest = out;
        for column in &self.columns {
            let (head, tail) = rest.split_at_mut(column.width);
            self.look_up(column, number, head)?;
            rest = tail;
        }
        Ok(())
    }

    /// A whole record from a source in memory whose columns are all decoded
    /// slot by slot. `false` when something is wrong, which the ordinary way
    /// then names: errors cost nothing here.
    #[inline]
    fn get_direct(&self, number: u64, bytes: &[u8], out: &mut [u32]) -> bool {
        let mut places = [None; DIRECT_COLUMNS];
        self.locate_all(number, bytes, &mut places) && self.decode_all(&places, bytes, out)
    }

    /// Finds the places of all columns and asks for their bytes, so that they
    /// come from memory side by side. `false` when the index is wrong.
    #[inline]
    fn locate_all(
        &self,
        number: u64,
        bytes: &[u8],
        places: &mut [Option<Located>; DIRECT_COLUMNS],
    ) -> bool {
        for (column, located) in self.columns.iter().zip(places) {
            if let Some(place) = column.grid.place(number) {
                let Some(found) = column.locate(place) else {
                    return false;
                };
                found.prefetch(column, bytes);
                *located = Some(found);
            }
        }
        true
    }

    /// Decodes a record from the places of its columns. `false` when anything
    /// is wrong.
    #[inline]
    fn decode_all(
        &self,
        places: &[Option<Located>; DIRECT_COLUMNS],
        bytes: &[u8],
        out: &mut [u32],
    ) -> bool {
        let mut rest = out;
        for (column, located) in self.columns.iter().zip(places) {
            let (head, tail) = rest.split_at_mut(column.width);
            match located {
                None => head.copy_from_slice(&column.column.elsewhere),
                Some(located) => {
                    if !self.direct(column, *located, bytes, head) {
                        return false;
                    }
                }
            }
            rest = tail;
        }
        true
    }

    /// Looks up one column's record of `number`; `column` is its place in
    /// [`Schema::columns`], `out` as long as its width. Errors: as [`Reader::get`].
    #[inline]
    pub fn get_column(&self, column: usize, number: u64, out: &mut [u32]) -> Result<()> {
        let column = self.column(column)?;
        if out.len() != column.width {
            return Err(self.width_error(out.len(), column.width));
        }
        self.check_number(number)?;
        self.look_up(column, number, out)
    }

    /// Asks the processor for the bytes that [`Reader::get_column`] will need,
    /// when the table lies in memory: look-ups that are announced first wait
    /// for memory side by side. It reads nothing and fails at nothing.
    #[inline]
    pub fn prefetch(&self, column: usize, number: u64) {
        if let Some(column) = self.columns.get(column)
            && let Some(bytes) = self.source.bytes()
            && let Some(place) = column.grid.place(number)
            && let Some(located) = column.locate(place)
        {
            located.prefetch(column, bytes);
        }
    }

    /// Looks up many records, in any order: `out` takes them one after the
    /// other, in the order of `numbers`. What lies in memory is asked for some
    /// records ahead; otherwise blocks are visited in order, each once.
    /// Errors: as [`Reader::get`].
    pub fn get_batch(&self, numbers: &[u64], out: &mut [u32]) -> Result<()> {
        if out.len() != numbers.len() * self.width {
            return Err(self.width_error(out.len(), numbers.len() * self.width));
        }
        if let Some(bytes) = self.source.bytes()
            && self.direct
        {
            let parts = numbers.chunks(BATCH_AHEAD);
            for (numbers, out) in parts.zip(out.chunks_mut(BATCH_AHEAD * self.width)) {
                self.get_batch_direct(numbers, bytes, out)?;
            }
            return Ok(());
        }
        for &number in numbers {
            self.check_number(number)?;
        }
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_unstable_by_key(|&i| numbers[i]);
        let mut at = 0;
        for column in &self.columns {
            self.get_batch_sorted(column, at, numbers, &order, out)?;
            at += column.width;
        }
        Ok(())
    }

    /// Some records from a source in memory: all places first, then all values.
    fn get_batch_direct(&self, numbers: &[u64], bytes: &[u8], out: &mut [u32]) -> Result<()> {
        let mut places = [[None; DIRECT_COLUMNS]; BATCH_AHEAD];
        for (&number, places) in numbers.iter().zip(&mut places) {
            self.check_number(number)?;
            if !self.locate_all(number, bytes, places) {
                return self.get(number, &mut out[..self.width]);
            }
        }
        let records = out.chunks_exact_mut(self.width);
        for ((&number, places), record) in numbers.iter().zip(&places).zip(records) {
            if !self.decode_all(places, bytes, record) {
                self.get(number, record)?;
            }
        }
        Ok(())
    }

    /// One column of many records, `order` being that of their numbers.
    fn get_batch_sorted(
        &self,
        column: &ColumnReader,
        at: usize,
        numbers: &[u64],
        order: &[usize],
        out: &mut [u32],
    ) -> Result<()> {
        let mut block = Vec::new();
        let mut held = None;
        for &i in order {
            let record = &mut out[i * self.width + at..][..column.width];
            let Some(place) = column.grid.place(numbers[i]) else {
                record.copy_from_slice(&column.column.elsewhere);
                continue;
            };
            if held != Some(place.block) {
                block.resize(place.count * column.width, 0);
                self.decode_block(column, place, &mut block)?;
                held = Some(place.block);
            }
            record.copy_from_slice(&block[place.slot * column.width..][..column.width]);
        }
        Ok(())
    }

    /// All records in number order, some thousand at a time.
    pub fn chunks(&self) -> Chunks<'_> {
        let unit = self.columns.iter().map(|c| c.grid.size).max().unwrap_or(1);
        Chunks {
            reader: self,
            next: 0,
            step: (unit * CHUNK_RECORDS.div_ceil(unit))
                .min(CHUNK_VALUES / self.width.max(1) as u64),
        }
    }

    fn column(&self, column: usize) -> Result<&ColumnReader> {
        self.columns.get(column).ok_or_else(|| {
            Error::invalid(format!(
                "column {column} asked for, the table has {}",
                self.columns.len()
            ))
        })
    }

    #[cold]
    fn width_error(&self, found: usize, expected: usize) -> Error {
        Error::invalid(format!("a buffer for {found} values, {expected} expected"))
    }

    #[inline]
    fn check_number(&self, number: u64) -> Result<()> {
        match number < self.schema.positions {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "position {number} asked for, the table has 0 to {}",
                self.schema.positions.saturating_sub(1)
            ))),
        }
    }

    #[inline]
    fn look_up(&self, column: &ColumnReader, number: u64, out: &mut [u32]) -> Result<()> {
        let Some(place) = column.grid.place(number) else {
            out.copy_from_slice(&column.column.elsewhere);
            return Ok(());
        };
        if column.access == Access::Slot
            && let Some(bytes) = self.source.bytes()
            && let Some(located) = column.locate(place)
        {
            located.prefetch(column, bytes);
            if self.direct(column, located, bytes, out) {
                return Ok(());
            }
        }
        let in_memory = self.source.bytes().is_some() && column.access == Access::Slot;
        let found = match in_memory || self.cache.is_off() {
            true => self.uncached(column, place, out),
            false => self.cached(column, place, out),
        };
        found.map_err(|e| name_file(e, &*self.source))
    }

    /// One record straight from a source in memory; `false` when anything is
    /// wrong.
    #[inline]
    fn direct(
        &self,
        column: &ColumnReader,
        located: Located,
        bytes: &[u8],
        out: &mut [u32],
    ) -> bool {
        let (place, plan) = (located.place, &*self.numbering);
        let Some(payload) = payload_in(column, located, bytes) else {
            return false;
        };
        column
            .codec
            .decode_slot(place.first, place.count, place.slot, payload, plan, out)
            .is_ok()
    }

    /// One record past the cache: no more is decoded than needed.
    fn uncached(&self, column: &ColumnReader, place: Place, out: &mut [u32]) -> Result<()> {
        self.with_payload(column, place, |payload| {
            let plan = &*self.numbering;
            column
                .codec
                .decode_slot(place.first, place.count, place.slot, payload, plan, out)
        })
    }

    /// One record from the cache, into which its block is brought if needed.
    #[inline]
    fn cached(&self, column: &ColumnReader, place: Place, out: &mut [u32]) -> Result<()> {
        let key = Key {
            column: column.cache_id,
            block: place.block,
        };
        let plan = &*self.numbering;
        let hit = self.cache.get(key, |block| match column.access {
            Access::Slot => {
                column
                    .codec
                    .decode_slot(place.first, place.count, place.slot, block, plan, out)
            }
            Access::Block => {
                column
                    .canonical
                    .read(&block[place.slot * column.canonical.record_bytes()..], out);
                Ok(())
            }
        });
        match hit {
            Some(done) => done,
            None => self.load(column, place, key, out),
        }
    }

    /// Reads a block, answers from it, and keeps it.
    #[cold]
    fn load(&self, column: &ColumnReader, place: Place, key: Key, out: &mut [u32]) -> Result<()> {
        let plan = &*self.numbering;
        let kept: Box<[u8]> = self.with_payload(column, place, |payload| match column.access {
            Access::Slot => {
                column.codec.decode_slot(
                    place.first,
                    place.count,
                    place.slot,
                    payload,
                    plan,
                    out,
                )?;
                Ok(payload.into())
            }
            Access::Block => {
                let mut values = vec![0; place.count * column.width];
                column
                    .codec
                    .decode(place.first, place.count, payload, plan, &mut values)?;
                out.copy_from_slice(&values[place.slot * column.width..][..column.width]);
                let mut bytes = Vec::with_capacity(place.count * column.canonical.record_bytes());
                column.canonical.append(&values, &mut bytes);
                Ok(bytes.into())
            }
        })?;
        self.cache.insert(key, kept);
        Ok(())
    }

    /// Hands a block's checked payload to `f`.
    fn with_payload<T>(
        &self,
        column: &ColumnReader,
        place: Place,
        f: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        let (offset, length) = locate(column, place.block)?;
        if let Some(bytes) = self.source.bytes() {
            let located = Located {
                place,
                offset,
                length,
            };
            if let Some(payload) = payload_in(column, located, bytes) {
                return f(payload);
            }
        }
        let mut stored = vec![0; length];
        self.source.read_at(offset, &mut stored)?;
        check_block(column, place.block, offset, &stored)?;
        f(&stored[..length - BLOCK_CHECKSUM_BYTES])
    }

    /// Decodes the first records of a block, past the cache: as many as fit `out`.
    fn decode_block(&self, column: &ColumnReader, place: Place, out: &mut [u32]) -> Result<()> {
        self.with_payload(column, place, |payload| {
            column
                .codec
                .decode(place.first, place.count, payload, &*self.numbering, out)
        })
        .map_err(|e| name_file(e, &*self.source))
    }

    /// One column of the records from `first` on, `width` values apart in `out`.
    fn read_column(
        &self,
        column: &ColumnReader,
        first: u64,
        at: usize,
        out: &mut [u32],
    ) -> Result<()> {
        let end = first + (out.len() / self.width) as u64;
        let alone = self.columns.len() == 1;
        let mut block = Vec::new();
        let mut number = first;
        while number < end {
            let skip = (number - first) as usize * self.width;
            let Some(place) = column.grid.place(number) else {
                let until = if number < column.grid.first {
                    column.grid.first.min(end)
                } else {
                    end
                };
                for record in out[skip..]
                    .chunks_exact_mut(self.width)
                    .take((until - number) as usize)
                {
                    record[at..at + column.width].copy_from_slice(&column.column.elsewhere);
                }
                number = until;
                continue;
            };
            let take = (place.count - place.slot).min((end - number) as usize);
            if alone && place.slot == 0 {
                self.decode_block(column, place, &mut out[skip..][..take * self.width])?;
            } else {
                block.resize((place.slot + take) * column.width, 0);
                self.decode_block(column, place, &mut block)?;
                let records = block.chunks_exact(column.width).skip(place.slot);
                for (to, from) in out[skip..].chunks_exact_mut(self.width).zip(records) {
                    to[at..at + column.width].copy_from_slice(from);
                }
            }
            number += take as u64;
        }
        Ok(())
    }
}

impl Records for Reader {
    fn len(&self) -> u64 {
        self.schema.positions
    }

    fn width(&self) -> usize {
        self.width
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        if !out.len().is_multiple_of(self.width) {
            return Err(self.width_error(out.len(), out.len().next_multiple_of(self.width)));
        }
        let count = (out.len() / self.width) as u64;
        if count == 0 {
            return Ok(());
        }
        self.check_number(first)?;
        self.check_number(first.saturating_add(count - 1))?;
        let mut at = 0;
        for column in &self.columns {
            self.read_column(column, first, at, out)?;
            at += column.width;
        }
        Ok(())
    }
}

/// Consecutive records of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Number of the first record.
    pub first: u64,
    /// Raw values of the records, one after the other.
    pub values: Vec<u32>,
}

/// Iterator over a whole table; see [`Reader::chunks`].
#[derive(Debug)]
pub struct Chunks<'a> {
    reader: &'a Reader,
    next: u64,
    step: u64,
}

impl Iterator for Chunks<'_> {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = self.step.min(self.reader.len() - self.next);
        if count == 0 {
            return None;
        }
        let first = self.next;
        self.next += count;
        let mut values = vec![0; count as usize * self.reader.width];
        let read = self.reader.read(first, &mut values);
        Some(read.map(|()| Chunk { first, values }))
    }
}

/// The payload of a block of a source in memory, checked at its first use;
/// `None` when it is damaged.
#[inline]
fn payload_in<'a>(column: &ColumnReader, located: Located, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let from = located.offset as usize;
    let stored = bytes.get(from..from + located.length)?;
    let block = located.place.block;
    let seen = column.checked.get((block / 64) as usize)?;
    let bit = 1 << (block % 64);
    if seen.load(Ordering::Relaxed) & bit == 0 {
        check_block(column, block, located.offset, stored).ok()?;
        seen.fetch_or(bit, Ordering::Relaxed);
    }
    let (payload, _) = stored.split_last_chunk::<BLOCK_CHECKSUM_BYTES>()?;
    Some(payload)
}

/// Finds a block in the file, and refuses a length that no codec needs before
/// memory is taken for it.
#[inline]
fn locate(column: &ColumnReader, block: u64) -> Result<(u64, usize)> {
    let (offset, length) = column.index.locate(block)?;
    if length > column.longest {
        return Err(Error::corrupt(
            "B-8",
            format!(
                "block {block} of column '{}' has {length} bytes, at most {} expected",
                column.column.name, column.longest
            ),
        )
        .at(offset));
    }
    Ok((offset, length))
}

/// Compares a stored block with its checksum.
fn check_block(column: &ColumnReader, block: u64, offset: u64, stored: &[u8]) -> Result<()> {
    if let Some((payload, stated)) = stored.split_last_chunk::<BLOCK_CHECKSUM_BYTES>() {
        let (stated, found) = (u32::from_le_bytes(*stated), crc32fast::hash(payload));
        if stated == found {
            return Ok(());
        }
        let message = format!(
            "checksum of block {block} of column '{}' is {found:08x}, {stated:08x} stated; fetch or make the file again",
            column.column.name
        );
        return Err(Error::corrupt("B-1", message).at(offset));
    }
    Err(Error::corrupt(
        "B-2",
        format!(
            "block {block} of column '{}' is too short for a checksum",
            column.column.name
        ),
    )
    .at(offset))
}

/// Adds the source's name to an error.
fn name_file(e: Error, source: &dyn Source) -> Error {
    match source.path() {
        Some(path) => e.in_file(path),
        None => e,
    }
}

//! Reading a table at random.

mod column;
mod many;
mod open;

pub use many::{Chunk, Chunks};
pub use open::OpenOptions;

use std::path::Path;
use std::sync::Arc;

use column::{ColumnReader, Located, Place, check_block, locate, payload_in};

use super::CacheStatistics;
use super::cache::{BlockCache, Key};
use crate::codec::Access;
use crate::format::{BLOCK_CHECKSUM_BYTES, Footer, Header, Schema};
use crate::numbering::Numbering;
use crate::source::Source;
use crate::{Error, Result};

/// Columns whose places are found ahead of decoding, at most.
const DIRECT_COLUMNS: usize = 4;

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

impl Reader {
    /// Opens a file with positioned reads and a cache of its own.
    ///
    /// Errors: as [`OpenOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        OpenOptions::new().open(path)
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
        self.locate_all(number, bytes, &mut places);
        self.decode_all(&places, bytes, out)
    }

    /// Finds the places of all columns and asks for their bytes, so that they
    /// come from memory side by side.
    #[inline]
    fn locate_all(
        &self,
        number: u64,
        bytes: &[u8],
        places: &mut [Option<Located>; DIRECT_COLUMNS],
    ) {
        for (column, located) in self.columns.iter().zip(places) {
            *located = column.grid.place(number).map(|place| {
                let found = column.locate(place);
                found.prefetch(column, bytes);
                found
            });
        }
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
        {
            let located = column.locate(place);
            located.prefetch(column, bytes);
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
        {
            let located = column.locate(place);
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
        let hit = self.cache.get(key, |block| {
            column
                .kept
                .decode_slot(place.first, place.count, place.slot, block, plan, out)
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
                let mut bytes = Vec::new();
                column.kept.encode(place.first, &values, plan, &mut bytes)?;
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
}

/// Adds the source's name to an error.
fn name_file(e: Error, source: &dyn Source) -> Error {
    match source.path() {
        Some(path) => e.in_file(path),
        None => e,
    }
}

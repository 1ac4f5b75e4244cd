//! Reading a table at random.

mod cached;
mod column;
mod direct;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod many;
mod open;
mod window;

pub use many::{Chunk, Chunks};
pub use open::OpenOptions;

use std::path::Path;
use std::sync::Arc;

use column::{ColumnReader, Place, check_block, locate};
use window::Window;

use super::CacheStatistics;
use super::cache::BlockCache;
use crate::codec::Access;
#[cfg(target_arch = "x86_64")]
use crate::codec::Lanes;
use crate::format::{BLOCK_CHECKSUM_BYTES, Footer, Header, Schema};
use crate::numbering::Numbering;
use crate::source::{Held, Source};
use crate::{Error, Result};

/// An open table: look-ups from any number of threads.
pub struct Reader {
    source: Held,
    header: Header,
    schema: Schema,
    footer: Footer,
    numbering: Arc<dyn Numbering>,
    columns: Vec<ColumnReader>,
    cache: Arc<BlockCache>,
    /// The first of the columns' numbers in the cache.
    cache_id: u64,
    width: usize,
    /// For columns in an order of their own, records that lie ahead of sequential readers.
    windows: Vec<Window>,
    /// Whether [`Reader::record_direct`] serves this table.
    direct: bool,
    /// Whether [`Reader::get_lanes`] does.
    #[cfg(target_arch = "x86_64")]
    lanes: Option<Lanes>,
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
    #[inline(always)]
    pub fn get(&self, number: u64, out: &mut [u32]) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = self.lanes {
            // SAFETY: `lanes` proves that the processor can.
            #[allow(unsafe_code)]
            if unsafe { self.get_lanes(lanes, number, out) } {
                return Ok(());
            }
        }
        self.get_by_calls(number, out)
    }

    /// As [`Reader::get`], whatever the codecs are.
    #[inline(always)]
    fn get_by_calls(&self, number: u64, out: &mut [u32]) -> Result<()> {
        if out.len() != self.width {
            return Err(self.width_error(out.len(), self.width));
        }
        self.check_number(number)?;
        if self.direct
            && let Some(bytes) = self.source.bytes()
            && self.record_direct(number, bytes, out)
        {
            return Ok(());
        }
        self.get_from_blocks(&self.columns, number, out)
    }

    /// As [`Reader::get`] for two numbers: sooner done than two look-ups where the
    /// blocks of both are in the cache.
    #[inline]
    pub fn get_two(&self, numbers: [u64; 2], out: [&mut [u32]; 2]) -> Result<()> {
        let [one, two] = out;
        if one.len() == self.width
            && two.len() == self.width
            && self.source.bytes().is_none()
            && self.get_two_cached(numbers, [one, two])
        {
            return Ok(());
        }
        self.get(numbers[0], one)?;
        self.get(numbers[1], two)
    }

    /// Looks up one column's record of `number`; `column` is its place in
    /// [`Schema::columns`], `out` as long as its width. Errors: as [`Reader::get`].
    #[inline]
    pub fn get_column(&self, column: usize, number: u64, out: &mut [u32]) -> Result<()> {
        let column = self.column(column)?;
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = column.lanes {
            // SAFETY: `lanes` proves that the processor can.
            #[allow(unsafe_code)]
            if unsafe { self.get_column_lanes(lanes, column, number, out) } {
                return Ok(());
            }
        }
        if out.len() != column.width {
            return Err(self.width_error(out.len(), column.width));
        }
        self.check_number(number)?;
        self.look_up(column, number, out)
    }

    /// Looks up one value of the record of `number`, `value` being its place among
    /// the values of [`Reader::get`]. With a codec that decodes in order, and past
    /// the cache, this takes less than the record. Errors: as [`Reader::get`].
    #[inline]
    pub fn get_value(&self, number: u64, value: usize) -> Result<u32> {
        self.check_number(number)?;
        let mut place = value;
        let column = self.columns.iter().find(|column| {
            let here = place < column.width;
            place -= if here { 0 } else { column.width };
            here
        });
        let Some(column) = column else {
            return Err(self.width_error(self.width, value + 1));
        };
        let (mut few, mut many) = ([0; 8], Vec::new());
        let record = match few.get_mut(..column.width) {
            Some(record) => record,
            None => {
                many.resize(column.width, 0);
                many.as_mut_slice()
            }
        };
        if column.access == Access::Block
            && self.cache.is_off()
            && let Some(at) = column.place(number)
        {
            let plan = column.order.plan();
            self.with_payload(column, at, |payload| {
                let codec = &column.codec;
                codec.decode_value(at.first, at.count, at.slot, place, payload, plan, record)
            })
            .map_err(|e| name_file(e, &*self.source))?;
        } else {
            self.look_up(column, number, record)?;
        }
        Ok(record.get(place).copied().unwrap_or(0))
    }

    /// Asks the processor for the bytes that [`Reader::get_column`] will need,
    /// when the table lies in memory: look-ups that are announced first wait
    /// for memory side by side. It reads nothing and fails at nothing.
    #[inline]
    pub fn prefetch(&self, column: usize, number: u64) {
        if let (Some(column), Some(bytes)) = (self.columns.get(column), self.source.bytes()) {
            column.prefetch(number, bytes);
        }
    }

    /// As [`Reader::prefetch`] for what [`Reader::get`] will need.
    #[inline]
    pub fn prefetch_record(&self, number: u64) {
        if let Some(bytes) = self.source.bytes() {
            for column in &self.columns {
                column.prefetch(number, bytes);
            }
        }
    }

    #[inline(always)]
    fn column(&self, column: usize) -> Result<&ColumnReader> {
        match self.columns.get(column) {
            Some(column) => Ok(column),
            None => Err(self.column_error(column)),
        }
    }

    #[cold]
    fn column_error(&self, column: usize) -> Error {
        Error::invalid(format!(
            "column {column} asked for, the table has {}",
            self.columns.len()
        ))
    }

    #[cold]
    fn width_error(&self, found: usize, expected: usize) -> Error {
        Error::invalid(format!("a buffer for {found} values, {expected} expected"))
    }

    #[inline(always)]
    fn check_number(&self, number: u64) -> Result<()> {
        match number < self.schema.positions {
            true => Ok(()),
            false => Err(self.number_error(number)),
        }
    }

    #[cold]
    fn number_error(&self, number: u64) -> Error {
        Error::invalid(format!(
            "position {number} asked for, the table has 0 to {}",
            self.schema.positions.saturating_sub(1)
        ))
    }

    #[inline(always)]
    fn look_up(&self, column: &ColumnReader, number: u64, out: &mut [u32]) -> Result<()> {
        if column.read.is_some()
            && let Some(bytes) = self.source.bytes()
            && self.column_direct(column, number, bytes, out)
        {
            return Ok(());
        }
        self.get_from_blocks(std::slice::from_ref(column), number, out)
    }

    /// Hands a block's checked payload to `f`.
    fn with_payload<T>(
        &self,
        column: &ColumnReader,
        place: Place,
        f: impl FnOnce(&[u8]) -> Result<T>,
    ) -> Result<T> {
        let (offset, length) = locate(column, place.block)?;
        if let Some(bytes) = self.source.bytes()
            && let Some(stored) = bytes.get(offset as usize..)
            && let Some((stored, behind)) = stored.split_at_checked(length)
        {
            column.check_once(place.block, offset, stored, behind.len())?;
            return f(&stored[..length - BLOCK_CHECKSUM_BYTES]);
        }
        let mut stored = vec![0; length];
        self.source.read_at(offset, &mut stored)?;
        f(check_block(column, place.block, offset, &stored)?)
    }

    /// Decodes the first records of a block, past the cache: as many as fit `out`.
    fn decode_block(&self, column: &ColumnReader, place: Place, out: &mut [u32]) -> Result<()> {
        self.with_payload(column, place, |payload| {
            column
                .codec
                .decode(place.first, place.count, payload, column.order.plan(), out)
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

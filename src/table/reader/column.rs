//! One column of an open table: where a record is, and its block's bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codec::{Access, Codec};
use crate::format::{BLOCK_CHECKSUM_BYTES, BlockIndex, Column};
use crate::source::prefetch;
use crate::{Error, Result};

/// Bytes before and behind a record's estimated beginning that are asked for.
const RECORD_SLACK: usize = 12;
const RECORD_REACH: usize = 36;

/// One column of an open table.
pub(super) struct ColumnReader {
    pub(super) column: Column,
    pub(super) width: usize,
    pub(super) codec: Arc<dyn Codec>,
    pub(super) access: Access,
    /// The codec of blocks in the cache: the same where it reads records
    /// alone, else one that does.
    pub(super) kept: Arc<dyn Codec>,
    /// See [`Codec::head_share`].
    pub(super) head_share: usize,
    pub(super) index: BlockIndex,
    /// Bytes of a stored block, at most.
    pub(super) longest: usize,
    /// A bit for each block whose checksum was found right, when the source
    /// lies in memory: each block is checked once, before it is first used.
    pub(super) checked: Vec<AtomicU64>,
    pub(super) cache_id: u64,
    pub(super) grid: Grid,
}

impl ColumnReader {
    /// Where a block is: nowhere, with a length of 0, when the index is wrong.
    #[inline]
    pub(super) fn locate(&self, place: Place) -> Located {
        let (offset, length) = self.index.find(place.block).unwrap_or((0, 0));
        Located {
            place,
            offset,
            length,
        }
    }
}

/// A record's place, and that of its block in the source.
#[derive(Clone, Copy)]
pub(super) struct Located {
    pub(super) place: Place,
    pub(super) offset: u64,
    pub(super) length: usize,
}

impl Located {
    /// Asks for the bytes that a look-up will probably read: the start of the
    /// block, where tables lie, and the record's place if all records take the
    /// same room.
    #[inline]
    pub(super) fn prefetch(&self, column: &ColumnReader, bytes: &[u8]) {
        let offset = self.offset as usize;
        let head = (self.length * column.head_share) >> 8;
        let record = head + (((self.length - head) * self.place.slot) >> column.grid.size_log2);
        prefetch(bytes, offset);
        prefetch(bytes, offset + head);
        prefetch(bytes, (offset + record).saturating_sub(RECORD_SLACK));
        prefetch(bytes, offset + record + RECORD_REACH);
    }
}

/// Block and slot of a number, with the divisions made ahead.
pub(super) struct Grid {
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) size: u64,
    pub(super) shift: Option<u32>,
    /// Logarithm of the size, rounded up.
    pub(super) size_log2: u32,
    /// Grid cell of the first number.
    pub(super) cell: u64,
}

impl Grid {
    pub(super) fn new(column: &Column) -> Self {
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
    pub(super) fn place(&self, number: u64) -> Option<Place> {
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
pub(super) struct Place {
    pub(super) block: u64,
    pub(super) first: u64,
    pub(super) count: usize,
    pub(super) slot: usize,
}

/// The payload of a block of a source in memory, checked at its first use;
/// `None` when it is damaged.
#[inline]
pub(super) fn payload_in<'a>(
    column: &ColumnReader,
    located: Located,
    bytes: &'a [u8],
) -> Option<&'a [u8]> {
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
pub(super) fn locate(column: &ColumnReader, block: u64) -> Result<(u64, usize)> {
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
pub(super) fn check_block(
    column: &ColumnReader,
    block: u64,
    offset: u64,
    stored: &[u8],
) -> Result<()> {
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

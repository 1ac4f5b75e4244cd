//! One column of an open table: where a record is, and its block's bytes.

use std::sync::Arc;

#[cfg(target_arch = "x86_64")]
use crate::codec::Lanes;
use crate::codec::{Access, Codec, ReadRecord};
use crate::format::{BLOCK_CHECKSUM_BYTES, BlockIndex, Column};
use crate::source::prefetch;
use crate::table::order::ColumnOrder;
use crate::{Error, Result};

/// Bytes that come from memory together, and how many such parts of a block are
/// asked for.
const LINE: usize = 64;
const BLOCK_LINES: usize = 4;

/// One column of an open table.
pub(super) struct ColumnReader {
    pub(super) column: Column,
    pub(super) width: usize,
    pub(super) codec: Arc<dyn Codec>,
    pub(super) access: Access,
    /// Whether its blocks lie in memory and its records are read alone, so that a
    /// cache is of no use.
    pub(super) in_memory: bool,
    /// See [`Codec::reader`].
    pub(super) read: Option<ReadRecord>,
    /// See [`Codec::lanes`].
    #[cfg(target_arch = "x86_64")]
    pub(super) lanes: Option<Lanes>,
    /// The record of numbers that are not stored, where there are `lanes`.
    #[cfg(target_arch = "x86_64")]
    pub(super) elsewhere: Aligned,
    /// The codec of blocks in the cache: the same where it reads records
    /// alone, else one that does.
    pub(super) kept: Arc<dyn Codec>,
    /// Its quick way.
    pub(super) read_kept: Option<ReadRecord>,
    /// See [`Codec::head_bytes`].
    pub(super) head_bytes: usize,
    pub(super) index: BlockIndex,
    /// Bytes of a stored block, at most.
    pub(super) longest: usize,
    pub(super) cache_id: u64,
    pub(super) grid: Grid,
    pub(super) order: ColumnOrder,
}

/// A record at the start of a line: one that reaches into another page is read only when
/// all before it is done.
#[cfg(target_arch = "x86_64")]
#[derive(Default)]
#[repr(align(64))]
pub(super) struct Aligned(pub(super) [u32; Lanes::VALUES]);

impl ColumnReader {
    /// Block and slot of the record of a number, if it is stored.
    #[inline]
    pub(super) fn place(&self, number: u64) -> Option<Place> {
        self.grid.place(self.order.row_of(number))
    }

    /// Asks for the bytes of a block in memory, which is decoded from both of its ends.
    #[inline]
    pub(super) fn prefetch_block(&self, block: u64, bytes: &[u8]) {
        let Some((offset, length)) = self.index.find(block) else {
            return;
        };
        let offset = offset as usize;
        for line in 0..BLOCK_LINES.min(length.div_ceil(LINE)) {
            prefetch(bytes, offset.wrapping_add(line * LINE));
        }
        prefetch(bytes, offset.wrapping_add(length).wrapping_sub(1));
    }

    /// Checks a block of a source in memory at its first use; `stored` is all of it,
    /// and `behind` how many bytes follow it.
    pub(super) fn check_once(
        &self,
        block: u64,
        offset: u64,
        stored: &[u8],
        behind: usize,
    ) -> Result<()> {
        if self.index.is_checked(block) {
            return Ok(());
        }
        let payload = check_block(self, block, offset, stored)?;
        self.codec.check(self.grid.count_of(block), payload)?;
        self.index
            .set_checked(block, self.is_quick(payload, behind));
        Ok(())
    }

    /// Whether [`Lanes::read`] serves a block that was found right.
    #[cfg(target_arch = "x86_64")]
    fn is_quick(&self, payload: &[u8], behind: usize) -> bool {
        self.lanes.is_some() && Lanes::serve(payload, behind)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_quick(&self, _payload: &[u8], _behind: usize) -> bool {
        false
    }
}

/// Block and slot of a row, with the division by the size made ahead.
pub(super) struct Grid {
    pub(super) first: u64,
    pub(super) count: u64,
    pub(super) size: u64,
    /// 2⁶⁴ by the size, rounded up: see [`Grid::cell_of`]; 0 for a size of 1.
    reciprocal: u64,
    /// Grid cell of the first number.
    pub(super) cell: u64,
}

impl Grid {
    pub(super) fn new(column: &Column) -> Self {
        Self::of(
            column.first,
            column.count,
            u64::from(column.block_positions),
        )
    }

    fn of(first: u64, count: u64, size: u64) -> Self {
        Grid {
            first,
            count,
            size,
            reciprocal: (1u128 << 64).div_ceil(u128::from(size)) as u64,
            cell: first / size,
        }
    }

    /// Records in a block.
    pub(super) fn count_of(&self, block: u64) -> usize {
        let row = (self.cell + block) * self.size;
        let place = self.place(row.max(self.first));
        place.map_or(0, |place| place.count)
    }

    /// `row / size`, for rows below 2⁴⁸ without a division, which would take as
    /// long as a dozen other instructions. The reciprocal is too large by less than
    /// 1, so that the quotient is by less than `row` / 2⁶⁴: below 2⁻¹⁶, which is less than
    /// 1 / `size`, it never reaches the next cell.
    #[inline(always)]
    fn cell_of(&self, row: u64) -> u64 {
        match row >> 48 == 0 && self.size > 1 {
            true => self.share(row),
            false => row / self.size,
        }
    }

    /// Whether [`Grid::place_near`] serves this grid.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn is_near(&self) -> bool {
        let end = self.first.saturating_add(self.count);
        end <= 1 << 48 && self.size > 1
    }

    /// As [`Grid::place`], in fewer instructions: block and slot.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn place_near(&self, row: u64) -> Option<(u64, usize)> {
        if row.wrapping_sub(self.first) >= self.count {
            return None;
        }
        let cell = self.share(row);
        let start = (cell * self.size).max(self.first);
        Some((cell - self.cell, (row - start) as usize))
    }

    /// `whole / size`, about; 0 for a size of 1.
    #[inline(always)]
    pub(super) fn share(&self, whole: u64) -> u64 {
        ((u128::from(whole) * u128::from(self.reciprocal)) >> 64) as u64
    }

    /// Block, its first row, and how many records it has.
    #[inline(always)]
    pub(super) fn place(&self, row: u64) -> Option<Place> {
        if row.wrapping_sub(self.first) >= self.count {
            return None;
        }
        let cell = self.cell_of(row);
        let start = (cell * self.size).max(self.first);
        let end = (cell * self.size + self.size).min(self.first + self.count);
        Some(Place {
            block: cell - self.cell,
            first: start,
            count: (end - start) as usize,
            slot: (row - start) as usize,
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

/// Compares a stored block with its checksum; what is before that is the payload.
pub(super) fn check_block<'a>(
    column: &ColumnReader,
    block: u64,
    offset: u64,
    stored: &'a [u8],
) -> Result<&'a [u8]> {
    if let Some((payload, stated)) = stored.split_last_chunk::<BLOCK_CHECKSUM_BYTES>() {
        let (stated, found) = (u32::from_le_bytes(*stated), crc32fast::hash(payload));
        if stated == found {
            return Ok(payload);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_those_of_a_division() {
        for size in (1..=300).chain([4095, 4096, 32_767, 32_768]) {
            let grid = Grid::of(0, u64::MAX, size);
            for middle in [0, 1 << 20, (1 << 48) / size * size, 1 << 50] {
                for row in (middle.max(size) - size)..=middle + size {
                    assert_eq!(grid.cell_of(row), row / size, "{row} / {size}");
                }
            }
        }
    }
}

//! Look-ups straight from a source in memory, for codecs that decode slot by
//! slot.
//!
//! Such a look-up waits for memory and for little else, so its code is kept
//! short enough that a processor runs ahead to the next one meanwhile. What can
//! be checked once a block is checked at its first use. Nothing here names a
//! fault: the ordinary way, taken then, does.

use super::Reader;
use super::column::ColumnReader;
use crate::source::prefetch;

/// Columns whose places are found ahead of decoding, at most.
pub(super) const DIRECT_COLUMNS: usize = 4;

/// How far loads reach behind a block's head, and before and behind a record's
/// estimated beginning, in bytes.
const HEAD_REACH: usize = 27;
const RECORD_SLACK: usize = 6;
const RECORD_REACH: usize = 38;

/// A record's block in the source, and its slot.
#[derive(Clone, Copy)]
pub(super) struct Located {
    block: u64,
    slot: usize,
    offset: usize,
    /// About how long the block is.
    length: usize,
}

/// Places of a record's columns; `None` where the column has none.
pub(super) type Places = [Option<Located>; DIRECT_COLUMNS];

impl Located {
    /// Where a column's record is: behind everything when the index is wrong.
    #[inline(always)]
    fn new(column: &ColumnReader, row: u64) -> Option<Self> {
        let place = column.grid.place(row)?;
        let (offset, length) = column.index.estimate(place.block).unwrap_or((u64::MAX, 0));
        Some(Located {
            block: place.block,
            slot: place.slot,
            offset: offset as usize,
            length,
        })
    }

    /// Decodes the record; `false` when this way cannot.
    #[inline(always)]
    fn decode(self, column: &ColumnReader, bytes: &[u8], out: &mut [u32]) -> bool {
        let Some(block) = bytes.get(self.offset..) else {
            return false;
        };
        (column.index.is_checked(self.block) || first_use(column, self.block, bytes))
            && column.read.is_some_and(|read| read(block, self.slot, out))
    }
}

/// Asks for the bytes that a look-up will probably read: the start of the block, where
/// tables lie, and the record's place if all records take the same room.
#[inline(always)]
pub(super) fn prefetch_record(
    column: &ColumnReader,
    bytes: &[u8],
    offset: usize,
    length: usize,
    slot: usize,
) {
    // The length may be anything, so that sums wrap.
    let head = column.head_bytes;
    let records = length.wrapping_sub(head);
    let before = column.grid.share(records.wrapping_mul(slot) as u64);
    let record = offset.wrapping_add(head).wrapping_add(before as usize);
    prefetch(bytes, offset);
    prefetch(bytes, offset.wrapping_add(head + HEAD_REACH));
    prefetch(bytes, record.wrapping_sub(RECORD_SLACK));
    prefetch(bytes, record.wrapping_add(RECORD_REACH));
}

/// Checks a block; `false` when it is wrong.
#[cold]
#[inline(never)]
fn first_use(column: &ColumnReader, block: u64, bytes: &[u8]) -> bool {
    let found = column.index.find(block).and_then(|(offset, length)| {
        let (stored, behind) = bytes.get(offset as usize..)?.split_at_checked(length)?;
        column.check_once(block, offset, stored, behind.len()).ok()
    });
    found.is_some()
}

impl ColumnReader {
    /// Asks for the bytes of a number's record.
    #[inline]
    pub(super) fn prefetch(&self, number: u64, bytes: &[u8]) {
        announce(self, self.order.row_of(number), bytes);
    }
}

/// Where a column's record is, its bytes asked for.
#[inline(always)]
fn announce(column: &ColumnReader, row: u64, bytes: &[u8]) -> Option<Located> {
    let located = Located::new(column, row);
    if let Some(at) = &located {
        prefetch_record(column, bytes, at.offset, at.length, at.slot);
    }
    located
}

/// One column's record from its place; `false` when this way cannot.
#[inline(always)]
fn decode(column: &ColumnReader, place: Option<Located>, bytes: &[u8], out: &mut [u32]) -> bool {
    match place {
        Some(located) => located.decode(column, bytes, out),
        None => {
            // Records of distributions are copied without a call.
            let (to, from) = (&mut *out, &*column.column.elsewhere);
            match (<&mut [u32; 32]>::try_from(to), <&[u32; 32]>::try_from(from)) {
                (Ok(to), Ok(from)) => *to = *from,
                _ => out.copy_from_slice(from),
            }
            true
        }
    }
}

impl Reader {
    /// One column's record; `false` when this way cannot.
    #[inline(always)]
    pub(super) fn column_direct(
        &self,
        column: &ColumnReader,
        number: u64,
        bytes: &[u8],
        out: &mut [u32],
    ) -> bool {
        decode(column, announce(column, number, bytes), bytes, out)
    }

    /// A whole record; `false` when this way cannot.
    #[inline(always)]
    pub(super) fn record_direct(&self, number: u64, bytes: &[u8], out: &mut [u32]) -> bool {
        // The usual table has places in registers.
        if let [one, two] = &*self.columns
            && let Some((head, tail)) = out.split_at_mut_checked(one.width)
        {
            let first = announce(one, number, bytes);
            let second = announce(two, number, bytes);
            return decode(one, first, bytes, head) && decode(two, second, bytes, tail);
        }
        let mut places = [None; DIRECT_COLUMNS];
        self.announce(number, bytes, &mut places);
        self.decode(&places, bytes, out)
    }

    /// Finds the places of all columns and asks for their bytes, so that they
    /// come from memory side by side.
    #[inline(always)]
    pub(super) fn announce(&self, number: u64, bytes: &[u8], places: &mut Places) {
        for (column, place) in self.columns.iter().zip(places) {
            *place = announce(column, number, bytes);
        }
    }

    /// Decodes a record from the places of its columns; `false` when this way
    /// cannot.
    #[inline(always)]
    pub(super) fn decode(&self, places: &Places, bytes: &[u8], out: &mut [u32]) -> bool {
        let mut rest = out;
        for (column, place) in self.columns.iter().zip(places) {
            let Some((head, tail)) = rest.split_at_mut_checked(column.width) else {
                return false;
            };
            if !decode(column, *place, bytes, head) {
                return false;
            }
            rest = tail;
        }
        true
    }
}

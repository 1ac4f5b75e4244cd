//! Look-ups of records of 32 values of 16 bits, as bearoff distributions are, with
//! AVX-512: all of it in one function that calls none.
//!
//! While a look-up waits for memory the processor goes on to those behind it, a few
//! hundred instructions far. So what counts is how few a look-up takes.

use super::Reader;
use super::column::ColumnReader;
use super::direct::prefetch_record;
use crate::codec::Lanes;

/// Values of a column's record.
const VALUES: usize = Lanes::VALUES;

impl Reader {
    /// As [`Reader::get`] for two columns; `false` where only the ordinary way can, or
    /// knows what is wrong.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi2"
    )]
    pub(super) fn get_lanes(&self, lanes: Lanes, number: u64, out: &mut [u32]) -> bool {
        let (Some(bytes), [one, two], ([head, tail], [])) =
            (self.source.bytes(), &*self.columns, out.as_chunks_mut())
        else {
            return false;
        };
        if number >= self.schema.positions {
            return false;
        }
        // The bytes of both come from memory side by side.
        match (announce(one, number, bytes), announce(two, number, bytes)) {
            (Some(first), Some(second)) => {
                read(lanes, one, first, head);
                read(lanes, two, second, tail);
                true
            }
            _ => false,
        }
    }

    /// As [`Reader::get_column`]; `false` where only the ordinary way can, or knows what
    /// is wrong.
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi2"
    )]
    pub(super) fn get_column_lanes(
        &self,
        lanes: Lanes,
        column: &ColumnReader,
        number: u64,
        out: &mut [u32],
    ) -> bool {
        match (self.source.bytes(), out.try_into()) {
            (Some(bytes), Ok(record)) if number < self.schema.positions => {
                announce(column, number, bytes)
                    .map(|place| read(lanes, column, place, record))
                    .is_some()
            }
            _ => false,
        }
    }
}

/// A record's place: in a block that [`Lanes::serve`] found fit, or that of all records
/// which are not stored.
enum Place {
    Slot(*const u8, usize),
    Elsewhere,
}

/// Where a column's record is, its bytes asked for; `None` in a block that was not found
/// fit, so far or at all.
#[inline(always)]
fn announce(column: &ColumnReader, number: u64, bytes: &[u8]) -> Option<Place> {
    let Some((block, slot)) = column.grid.place_near(number) else {
        return Some(Place::Elsewhere);
    };
    // SAFETY: the index has all blocks of the grid.
    #[allow(unsafe_code)]
    let (offset, length) = unsafe { column.index.estimate_quick(block)? };
    prefetch_record(column, bytes, offset as usize, length, slot);
    let block = bytes.as_ptr().wrapping_add(offset as usize);
    Some(Place::Slot(block, slot))
}

/// One column's record from its place.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi2")]
fn read(lanes: Lanes, column: &ColumnReader, place: Place, out: &mut [u32; VALUES]) {
    match place {
        // SAFETY: the block was found fit, and it has all slots that the grid gives.
        #[allow(unsafe_code)]
        Place::Slot(block, slot) => unsafe { lanes.read(block, slot, out) },
        Place::Elsewhere => *out = column.elsewhere.0,
    }
}

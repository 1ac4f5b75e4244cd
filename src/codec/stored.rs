//! Codec `stored`: records in canonical form, side by side.

use super::{Access, Codec, Plan, ReadRecord, Shape, length_error};
use crate::{Error, Properties, Result};

pub(super) const NAME: &str = "stored";

/// No compression: as fast as memory.
pub(super) struct Stored {
    shape: Shape,
    record_bytes: usize,
}

impl Stored {
    pub(super) fn new(shape: Shape) -> Self {
        Stored {
            record_bytes: shape.record_bytes(),
            shape,
        }
    }

    fn record(&self, mut bytes: &[u8], out: &mut [u32]) -> Result<()> {
        for (value, &bits) in out.iter_mut().zip(&self.shape.bits) {
            let Some((head, rest)) = bytes.split_at_checked(usize::from(bits.div_ceil(8))) else {
                return Err(Error::corrupt("B-3", "the block ends within a record"));
            };
            bytes = rest;
            *value = head.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b));
            if *value > Shape::largest(bits) {
                return Err(Error::corrupt(
                    "B-4",
                    format!("value {value} has more than {bits} bits"),
                ));
            }
        }
        Ok(())
    }
}

/// A [`ReadRecord`] of values that are all 16 bits wide: no shifts, no checks.
fn read_words(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    let length = 2 * out.len();
    let Some(record) = bytes.get(slot * length..slot * length + length) else {
        return false;
    };
    let (pairs, _) = record.as_chunks::<2>();
    for (value, pair) in out.iter_mut().zip(pairs) {
        *value = u32::from(u16::from_le_bytes(*pair));
    }
    true
}

impl Codec for Stored {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> Properties {
        Properties::new()
    }

    fn access(&self) -> Access {
        Access::Slot
    }

    fn encode(
        &self,
        _first: u64,
        values: &[u32],
        _plan: &dyn Plan,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        for record in values.chunks_exact(self.shape.width()) {
            for (&value, bytes) in record.iter().zip(self.shape.value_bytes()) {
                out.extend(value.to_le_bytes().iter().take(bytes));
            }
        }
        Ok(())
    }

    fn decode(
        &self,
        first: u64,
        count: usize,
        bytes: &[u8],
        plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        self.check(count, bytes)?;
        let read = self.reader();
        for (slot, record) in out.chunks_exact_mut(self.shape.width()).enumerate() {
            if !read.is_some_and(|read| read(bytes, slot, record)) {
                self.decode_slot(first, count, slot, bytes, plan, record)?;
            }
        }
        Ok(())
    }

    fn check(&self, count: usize, bytes: &[u8]) -> Result<()> {
        match bytes.len() == count * self.record_bytes {
            true => Ok(()),
            false => Err(length_error("B-3", count * self.record_bytes, bytes.len())),
        }
    }

    fn reader(&self) -> Option<ReadRecord> {
        let words = self.shape.bits.iter().all(|&bits| bits == 16);
        words.then_some(read_words)
    }

    #[inline]
    fn decode_slot(
        &self,
        _first: u64,
        count: usize,
        slot: usize,
        bytes: &[u8],
        _plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        self.check(count, bytes)?;
        let record = bytes.get(slot * self.record_bytes..).unwrap_or_default();
        self.record(record, out)
    }
}

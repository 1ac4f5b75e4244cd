//! Codec `packed`: for each block a width table (base and bits of each value),
//! then records of equal length in bits, so that one is decoded alone.
//!
//! Payload: u16 first value that the table has, u16 values in it, their bit
//! widths (u8 each), their bases (as many bytes each as the column's widest
//! value), then the records. Values outside the table are zero.

#[cfg(target_arch = "x86_64")]
mod vectors;
#[cfg(target_arch = "x86_64")]
pub use vectors::Lanes;

use super::{Access, Codec, Plan, ReadRecord, Shape, length_error};
use crate::{Error, Properties, Result};

pub(super) const NAME: &str = "packed";

/// Bytes before the width table.
const FIXED_BYTES: usize = 4;

pub(super) struct Packed {
    shape: Shape,
    largest: Vec<u32>,
    base_bytes: usize,
    /// Where all values have 16 bits, the processor's fastest way to read some.
    vectors: Option<ReadRecord>,
}

impl Packed {
    pub(super) fn new(shape: Shape) -> Self {
        let base_bytes = shape.value_bytes().max().unwrap_or(1);
        let largest: Vec<u32> = shape
            .bits
            .iter()
            .map(|&bits| Shape::largest(bits))
            .collect();
        Packed {
            base_bytes,
            vectors: match largest.iter().all(|&v| v == 0xffff) {
                #[cfg(target_arch = "x86_64")]
                true => vectors::detect(),
                _ => None,
            },
            shape,
            largest,
        }
    }

    /// Splits a payload into its parts.
    fn parts<'a>(&self, bytes: &'a [u8]) -> Result<Parts<'a>> {
        let short = || Error::corrupt("P-1", "the block ends within its width table");
        let (head, rest) = bytes.split_first_chunk::<FIXED_BYTES>().ok_or_else(short)?;
        let [a, b, c, d] = *head;
        let first = usize::from(u16::from_le_bytes([a, b]));
        let active = usize::from(u16::from_le_bytes([c, d]));
        if first + active > self.shape.width() {
            return Err(Error::corrupt(
                "P-2",
                format!(
                    "the width table covers values {first} to {}, a record has {}",
                    first + active,
                    self.shape.width()
                ),
            ));
        }
        let (widths, rest) = rest.split_at_checked(active).ok_or_else(short)?;
        let (bases, data) = rest
            .split_at_checked(active * self.base_bytes)
            .ok_or_else(short)?;
        Ok(Parts {
            first,
            widths,
            bases,
            data,
        })
    }

    /// Decodes one record of `bits` bits of a block that is right so far.
    fn record(
        &self,
        parts: &Parts<'_>,
        bits: usize,
        bytes: &[u8],
        slot: usize,
        out: &mut [u32],
    ) -> Result<()> {
        match self.vectors {
            Some(read) if read(bytes, slot, out) => Ok(()),
            _ => self.plain(parts, slot * bits, out),
        }
    }

    /// Decodes one record value by value; `from` is its first bit.
    fn plain(&self, parts: &Parts<'_>, from: usize, out: &mut [u32]) -> Result<()> {
        out.fill(0);
        let mut bit = from;
        let values = out.iter_mut().zip(&self.largest).skip(parts.first);
        let table = parts.widths.iter().zip(self.bases(parts));
        for ((&width, base), (value, &largest)) in table.zip(values) {
            // Five bytes hold any 32 bits; the checks before leave none missing.
            let window = parts.data.get(bit / 8..).unwrap_or_default();
            let word = window
                .iter()
                .take(5)
                .rev()
                .fold(0u64, |v, &b| v << 8 | u64::from(b));
            let delta = (word >> (bit % 8)) & ((1u64 << width) - 1);
            bit += usize::from(width);
            let sum = u64::from(base) + delta;
            if sum > u64::from(largest) {
                return Err(Error::corrupt(
                    "P-5",
                    format!("value {sum} is over the field's {largest}"),
                ));
            }
            *value = sum as u32;
        }
        Ok(())
    }

    /// Bits of a record, once widths and length are found right.
    fn record_bits(&self, parts: &Parts<'_>, count: usize) -> Result<usize> {
        let mut bits = 0;
        for (&width, &most) in parts
            .widths
            .iter()
            .zip(self.shape.bits.iter().skip(parts.first))
        {
            if width > most {
                return Err(Error::corrupt(
                    "P-3",
                    format!("a width of {width} bits in a field of {most}"),
                ));
            }
            bits += usize::from(width);
        }
        let expected = (bits * count).div_ceil(8);
        if parts.data.len() != expected {
            return Err(length_error("P-4", expected, parts.data.len()));
        }
        Ok(bits)
    }

    /// Whether no sum of a base and any delta is over its field's largest value.
    fn all_fit(&self, parts: &Parts<'_>) -> bool {
        let table = parts.widths.iter().zip(self.bases(parts));
        let mut fields = table.zip(self.largest.iter().skip(parts.first));
        fields.all(|((&width, base), &largest)| {
            u64::from(base) + ((1 << width) - 1) <= u64::from(largest)
        })
    }

    /// The bases of the values in the table.
    fn bases<'a>(&self, parts: &Parts<'a>) -> impl Iterator<Item = u32> + use<'a> {
        let bytes = parts.bases.chunks_exact(self.base_bytes);
        bytes.map(|base| base.iter().rev().fold(0, |v, &b| v << 8 | u32::from(b)))
    }
}

struct Parts<'a> {
    first: usize,
    widths: &'a [u8],
    bases: &'a [u8],
    data: &'a [u8],
}

impl Codec for Packed {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> Properties {
        Properties::new()
    }

    fn access(&self) -> Access {
        Access::Slot
    }

    /// Measured: 43 for `win` and 20 for `gammon` at 10 points.
    fn head_bytes(&self) -> usize {
        40
    }

    fn encode(
        &self,
        _first: u64,
        values: &[u32],
        _plan: &dyn Plan,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let width = self.shape.width();
        let mut low = vec![u32::MAX; width];
        let mut high = vec![0u32; width];
        for record in values.chunks_exact(width) {
            for ((low, high), &value) in low.iter_mut().zip(&mut high).zip(record) {
                *low = (*low).min(value);
                *high = (*high).max(value);
            }
        }
        let first = high.iter().position(|&v| v != 0).unwrap_or(0);
        let end = high.iter().rposition(|&v| v != 0).map_or(0, |i| i + 1);
        let active = end.saturating_sub(first);
        out.extend_from_slice(&(first as u16).to_le_bytes());
        out.extend_from_slice(&(active as u16).to_le_bytes());
        let bounds = || low.iter().zip(&high).skip(first).take(active);
        let bits = |(low, high): (&u32, &u32)| u32::BITS - (high - low).leading_zeros();
        out.extend(bounds().map(|b| bits(b) as u8));
        for (low, _) in bounds() {
            out.extend(low.to_le_bytes().iter().take(self.base_bytes));
        }
        let widths: Vec<(u32, u32)> = bounds()
            .map(|(low, high)| (*low, bits((low, high))))
            .collect();
        let (mut word, mut filled) = (0u64, 0);
        for record in values.chunks_exact(width) {
            for (&value, &(base, bits)) in record.iter().skip(first).zip(&widths) {
                word |= u64::from(value - base) << filled;
                filled += bits;
                if filled >= 32 {
                    out.extend_from_slice(&(word as u32).to_le_bytes());
                    word >>= 32;
                    filled -= 32;
                }
            }
        }
        out.extend(word.to_le_bytes().iter().take(filled.div_ceil(8) as usize));
        Ok(())
    }

    fn check(&self, count: usize, bytes: &[u8]) -> Result<()> {
        let parts = self.parts(bytes)?;
        let bits = self.record_bits(&parts, count)?;
        if self.all_fit(&parts) {
            return Ok(());
        }
        let mut record = vec![0; self.shape.width()];
        (0..count).try_for_each(|slot| self.plain(&parts, slot * bits, &mut record))
    }

    fn reader(&self) -> Option<ReadRecord> {
        self.vectors
    }

    #[cfg(target_arch = "x86_64")]
    fn lanes(&self) -> Option<Lanes> {
        let fits = self.shape.width() == Lanes::VALUES && self.vectors.is_some();
        fits.then(Lanes::detect).flatten()
    }

    fn decode(
        &self,
        _first: u64,
        count: usize,
        bytes: &[u8],
        _plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        let parts = self.parts(bytes)?;
        let bits = self.record_bits(&parts, count)?;
        for (slot, record) in out.chunks_exact_mut(self.shape.width()).enumerate() {
            self.record(&parts, bits, bytes, slot, record)?;
        }
        Ok(())
    }

    fn decode_slot(
        &self,
        _first: u64,
        count: usize,
        slot: usize,
        bytes: &[u8],
        _plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        let parts = self.parts(bytes)?;
        let bits = self.record_bits(&parts, count)?;
        self.record(&parts, bits, bytes, slot, out)
    }
}

//! Codec `packed`: for each block a width table (base and bits of each value),
//! then records of equal length in bits, so that one is decoded alone.
//!
//! Payload: u16 first value that the table has, u16 values in it, their bit
//! widths (u8 each), their bases (as many bytes each as the column's widest
//! value), then the records. Values outside the table are zero.

use super::{Access, Codec, Plan, Shape, length_error};
use crate::{Error, Properties, Result};

pub(super) const NAME: &str = "packed";

/// Bytes before the width table.
const FIXED_BYTES: usize = 4;

pub(super) struct Packed {
    shape: Shape,
    largest: Vec<u32>,
    base_bytes: usize,
    #[cfg(target_arch = "x86_64")]
    vectors: bool,
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
            #[cfg(target_arch = "x86_64")]
            vectors: base_bytes == 2
                && largest.iter().all(|&v| v == 0xffff)
                && std::arch::is_x86_feature_detected!("avx2"),
            shape,
            largest,
        }
    }

    /// Splits a payload into its parts.
    #[inline]
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

    /// Decodes one record value by value; `from` is its first bit.
    fn plain(&self, parts: &Parts<'_>, from: usize, out: &mut [u32]) -> Result<()> {
        out.fill(0);
        let mut bit = from;
        let values = out.iter_mut().zip(&self.largest).skip(parts.first);
        for ((&width, base), (value, &largest)) in parts
            .widths
            .iter()
            .zip(parts.bases.chunks_exact(self.base_bytes))
            .zip(values)
        {
            let base = base.iter().rev().fold(0u32, |v, &b| v << 8 | u32::from(b));
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
    #[inline]
    fn record_bits(&self, parts: &Parts<'_>, count: usize) -> Result<usize> {
        let mut bits = 0;
        let mut widest = 0;
        for &width in parts.widths {
            bits += usize::from(width);
            widest = widest.max(width);
        }
        if widest > 32 {
            return Err(Error::corrupt(
                "P-3",
                format!("a width of {widest} bits, at most 32 allowed"),
            ));
        }
        let expected = (bits * count).div_ceil(8);
        if parts.data.len() != expected {
            return Err(length_error("P-4", expected, parts.data.len()));
        }
        Ok(bits)
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
            #[cfg(target_arch = "x86_64")]
            if self.vectors && vectors::record(&parts, bytes, bits, slot * bits, record) {
                continue;
            }
            self.plain(&parts, slot * bits, record)?;
        }
        Ok(())
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
        let parts = self.parts(bytes)?;
        let bits = self.record_bits(&parts, count)?;
        #[cfg(target_arch = "x86_64")]
        if self.vectors && vectors::record(&parts, bytes, bits, slot * bits, out) {
            return Ok(());
        }
        self.plain(&parts, slot * bits, out)
    }
}

/// The same with AVX2, eight values at a time.
#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::Parts;
    use std::arch::x86_64::*;

    /// Decodes one record of 16-bit values that starts at bit `from`; `false`
    /// when the record lies too near to the end of `bytes` for whole loads, a
    /// width is over 16, or a value has more than 16 bits: the plain code then
    /// does the work or names the fault.
    pub(super) fn record(
        parts: &Parts<'_>,
        bytes: &[u8],
        bits: usize,
        from: usize,
        out: &mut [u32],
    ) -> bool {
        let active = parts.widths.len();
        // Lanes are 32 bits wide, and so must be the number of any bit.
        let room = (from + bits) / 8 + 4 <= parts.data.len() && from + bits <= i32::MAX as usize;
        // Eight widths and eight bases are loaded at a time, whole.
        let table_room = active.next_multiple_of(8) * 2 + active + 4 <= bytes.len();
        if !room || !table_room || parts.first + active > out.len() {
            return false;
        }
        // SAFETY: AVX2 was detected when the codec was made; the lengths that
        // the function needs were checked just now.
        #[allow(unsafe_code)]
        unsafe {
            decode(parts, from, out)
        }
    }

    /// # Safety
    /// Needs AVX2; four bytes of `data` behind each value's first byte; widths
    /// and bases readable up to the next multiple of eight values; `out` as
    /// long as `first` and the table together.
    #[allow(unsafe_code)]
    #[target_feature(enable = "avx2")]
    unsafe fn decode(parts: &Parts<'_>, from: usize, out: &mut [u32]) -> bool {
        let active = parts.widths.len();
        out.fill(0);
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let mut start = from as i32;
        let mut wrong = _mm256_setzero_si256();
        for chunk in (0..active).step_by(8) {
            let live = _mm256_cmpgt_epi32(_mm256_set1_epi32((active - chunk) as i32), lanes);
            // SAFETY: the caller promises these loads and the masked store.
            unsafe {
                let widths = _mm_loadl_epi64(parts.widths.as_ptr().add(chunk).cast());
                let widths = _mm256_and_si256(_mm256_cvtepu8_epi32(widths), live);
                let bases = _mm_loadu_si128(parts.bases.as_ptr().add(2 * chunk).cast());
                let bases = _mm256_cvtepu16_epi32(bases);
                // Inclusive prefix sums within each half, then over both.
                let mut sums = _mm256_add_epi32(widths, _mm256_slli_si256::<4>(widths));
                sums = _mm256_add_epi32(sums, _mm256_slli_si256::<8>(sums));
                let low = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(3));
                sums = _mm256_add_epi32(
                    sums,
                    _mm256_blend_epi32::<0xf0>(_mm256_setzero_si256(), low),
                );
                let begin =
                    _mm256_add_epi32(_mm256_sub_epi32(sums, widths), _mm256_set1_epi32(start));
                start += _mm256_extract_epi32::<7>(sums);
                let words = _mm256_mask_i32gather_epi32::<1>(
                    _mm256_setzero_si256(),
                    parts.data.as_ptr().cast(),
                    _mm256_srli_epi32::<3>(begin),
                    live,
                );
                let shifted =
                    _mm256_srlv_epi32(words, _mm256_and_si256(begin, _mm256_set1_epi32(7)));
                let masks = _mm256_sub_epi32(
                    _mm256_sllv_epi32(_mm256_set1_epi32(1), widths),
                    _mm256_set1_epi32(1),
                );
                let values = _mm256_add_epi32(_mm256_and_si256(shifted, masks), bases);
                wrong = _mm256_or_si256(wrong, _mm256_and_si256(values, live));
                wrong = _mm256_or_si256(
                    wrong,
                    _mm256_slli_epi32::<16>(_mm256_cmpgt_epi32(widths, _mm256_set1_epi32(16))),
                );
                _mm256_maskstore_epi32(
                    out.as_mut_ptr().add(parts.first + chunk).cast(),
                    live,
                    values,
                );
            }
        }
        _mm256_testz_si256(wrong, _mm256_set1_epi32(!0xffff)) != 0
    }
}

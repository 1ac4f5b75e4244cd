//! One record of 16-bit values at a time with AVX2 or AVX-512.
//!
//! A table look-up waits for memory, so what counts is that the processor can
//! run ahead to the next one: there is no branch on what the block says but
//! those that are almost never taken.

use std::arch::x86_64::*;

use super::FIXED_BYTES;

/// Values that are decoded at once; a wider table is left to plain code.
const LANES: usize = 16;

/// Which instructions the processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Avx2,
    Avx512,
}

impl Level {
    /// The best that there is.
    pub(super) fn detect() -> Option<Self> {
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi");
        match avx512 {
            true => Some(Level::Avx512),
            false => is_x86_feature_detected!("avx2").then_some(Level::Avx2),
        }
    }
}

/// A payload cut up, with no more checks than the code below needs.
struct Parts<'a> {
    /// Value at which the table begins.
    first: usize,
    /// Values in the table, at most [`LANES`].
    active: usize,
    /// Widths, bases and data side by side: `active`, `2 × active` and
    /// `data_bytes` bytes.
    table: &'a [u8],
    data_bytes: usize,
}

impl Parts<'_> {
    fn widths(&self) -> *const u8 {
        self.table.as_ptr()
    }

    fn bases(&self) -> *const u8 {
        self.table.as_ptr().wrapping_add(self.active)
    }

    fn data(&self) -> *const u8 {
        self.table.as_ptr().wrapping_add(3 * self.active)
    }
}

/// Decodes the record in `slot` of `count`. `false` when this code cannot: the
/// table is wide, the record lies near the end of the block, or something is
/// wrong; plain code then does the work or names the fault. `level` must have
/// been detected.
#[inline]
pub(super) fn record(
    level: Level,
    bytes: &[u8],
    count: usize,
    slot: usize,
    out: &mut [u32],
) -> bool {
    let Some(([a, b, c, d], table)) = bytes.split_first_chunk::<FIXED_BYTES>() else {
        return false;
    };
    let first = usize::from(u16::from_le_bytes([*a, *b]));
    let active = usize::from(u16::from_le_bytes([*c, *d]));
    if active > LANES || first + active > out.len() || 3 * active > table.len() {
        return false;
    }
    let parts = Parts {
        first,
        active,
        table,
        data_bytes: table.len() - 3 * active,
    };
    // SAFETY: the level was detected; the table has at most 16 values, their
    // widths and bases lie in it, and `out` is as long as it reaches.
    #[allow(unsafe_code)]
    unsafe {
        match level {
            Level::Avx512 => avx512(&parts, count, slot, out),
            Level::Avx2 => table.len() >= active + 2 * LANES && avx2(&parts, count, slot, out),
        }
    }
}

/// Zeroes a record without a call, which would cost more than the stores.
#[inline(always)]
fn clear(out: &mut [u32]) {
    let (chunks, rest) = out.as_chunks_mut::<LANES>();
    for chunk in chunks {
        *chunk = [0; LANES];
    }
    for value in rest {
        *value = 0;
    }
}

/// Inclusive prefix sums of 16 bytes, modulo 256.
#[inline]
#[target_feature(enable = "avx2")]
fn prefix_sums(x: __m128i) -> __m128i {
    let x = _mm_add_epi8(x, _mm_slli_si128::<1>(x));
    let x = _mm_add_epi8(x, _mm_slli_si128::<2>(x));
    let x = _mm_add_epi8(x, _mm_slli_si128::<4>(x));
    _mm_add_epi8(x, _mm_slli_si128::<8>(x))
}

/// Sum of 16 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn total(x: __m128i) -> usize {
    let halves = _mm_sad_epu8(x, _mm_setzero_si128());
    (_mm_cvtsi128_si64(halves) + _mm_extract_epi64::<1>(halves)) as usize
}

/// # Safety
/// Needs AVX-512 F, BW, VL and VBMI; parts that lie in their table; `out` as
/// long as `first` and `active` together.
#[allow(unsafe_code)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2")]
unsafe fn avx512(parts: &Parts<'_>, count: usize, slot: usize, out: &mut [u32]) -> bool {
    let live = ((1u32 << parts.active) - 1) as u16;
    // SAFETY: masked loads touch the bytes of live values only.
    let (widths, bases) = unsafe {
        (
            _mm_maskz_loadu_epi8(live, parts.widths().cast()),
            _mm256_maskz_loadu_epi16(live, parts.bases().cast()),
        )
    };
    let bits = total(widths);
    let from = slot * bits;
    if _mm_cmpgt_epu8_mask(widths, _mm_set1_epi8(16)) != 0
        || parts.data_bytes != (bits * count).div_ceil(8)
        || from / 8 > parts.data_bytes
    {
        return false;
    }
    // A load of 32 bytes holds the record, but for the widest ones.
    if from % 8 + bits > 256 {
        return false;
    }
    let left = parts.data_bytes - from / 8;
    let mask = u32::MAX >> (32 - left.clamp(1, 32));
    let mask = if left == 0 { 0 } else { mask };
    // SAFETY: the load is masked to the data that is left.
    let bytes = unsafe { _mm256_maskz_loadu_epi8(mask, parts.data().add(from / 8).cast()) };
    let bytes = _mm512_zextsi256_si512(bytes);
    let begin = _mm512_cvtepu8_epi32(_mm_sub_epi8(prefix_sums(widths), widths));
    let begin = _mm512_add_epi32(begin, _mm512_set1_epi32((from % 8) as i32));
    // Four bytes from the one in which each value begins.
    let place = _mm512_mullo_epi32(
        _mm512_srli_epi32::<3>(begin),
        _mm512_set1_epi32(0x0101_0101),
    );
    let place = _mm512_add_epi32(place, _mm512_set1_epi32(0x0302_0100));
    let words = _mm512_permutexvar_epi8(place, bytes);
    let shifted = _mm512_srlv_epi32(words, _mm512_and_si512(begin, _mm512_set1_epi32(7)));
    let one = _mm512_set1_epi32(1);
    let masks = _mm512_sub_epi32(_mm512_sllv_epi32(one, _mm512_cvtepu8_epi32(widths)), one);
    let deltas = _mm512_and_si512(shifted, masks);
    let values = _mm512_add_epi32(deltas, _mm512_cvtepu16_epi32(bases));
    clear(out);
    // SAFETY: the store is masked to the table's values, for which `out` has room.
    unsafe { _mm512_mask_storeu_epi32(out.as_mut_ptr().add(parts.first).cast(), live, values) };
    _mm512_cmpgt_epu32_mask(values, _mm512_set1_epi32(0xffff)) == 0
}

/// # Safety
/// Needs AVX2; parts that lie in their table, and 32 bytes from the first base
/// on; `out` as long as `first` and `active` together.
#[allow(unsafe_code)]
#[target_feature(enable = "avx2")]
unsafe fn avx2(parts: &Parts<'_>, count: usize, slot: usize, out: &mut [u32]) -> bool {
    let active = parts.active as i8;
    let lanes = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let live = _mm_cmpgt_epi8(_mm_set1_epi8(active), lanes);
    // SAFETY: widths and bases lie side by side, more than 16 bytes together
    // with what is behind them; what is not live is masked out.
    let widths = unsafe { _mm_and_si128(_mm_loadu_si128(parts.widths().cast()), live) };
    let bits = total(widths);
    let from = slot * bits;
    let wide = _mm_movemask_epi8(_mm_or_si128(
        _mm_cmpgt_epi8(widths, _mm_set1_epi8(16)),
        widths,
    ));
    // Each gather reads four bytes from the one in which a value begins.
    if wide != 0
        || parts.data_bytes != (bits * count).div_ceil(8)
        || (from + bits) / 8 + 4 > parts.data_bytes
    {
        return false;
    }
    let begin = _mm_sub_epi8(prefix_sums(widths), widths);
    let mut wrong = _mm256_setzero_si256();
    clear(out);
    for half in 0..2 {
        let (widths, begin, live, at) = match half {
            0 => (widths, begin, live, 0),
            _ => (
                _mm_srli_si128::<8>(widths),
                _mm_srli_si128::<8>(begin),
                _mm_srli_si128::<8>(live),
                8,
            ),
        };
        let (widths, live) = (_mm256_cvtepu8_epi32(widths), _mm256_cvtepi8_epi32(live));
        let begin = _mm256_add_epi32(
            _mm256_cvtepu8_epi32(begin),
            _mm256_set1_epi32((from % 8) as i32),
        );
        // SAFETY: the gather and the store are masked to live values; the
        // caller promises 16 bases' bytes.
        unsafe {
            let bases = _mm_loadu_si128(parts.bases().add(2 * at).cast());
            let words = _mm256_mask_i32gather_epi32::<1>(
                _mm256_setzero_si256(),
                parts.data().add(from / 8).cast(),
                _mm256_srli_epi32::<3>(begin),
                live,
            );
            let shifted = _mm256_srlv_epi32(words, _mm256_and_si256(begin, _mm256_set1_epi32(7)));
            let one = _mm256_set1_epi32(1);
            let masks = _mm256_sub_epi32(_mm256_sllv_epi32(one, widths), one);
            let values = _mm256_add_epi32(
                _mm256_and_si256(shifted, masks),
                _mm256_cvtepu16_epi32(bases),
            );
            wrong = _mm256_or_si256(wrong, _mm256_and_si256(values, live));
            // A half without live values may begin behind the end of `out`.
            let to = out.as_mut_ptr().wrapping_add(parts.first + at);
            _mm256_maskstore_epi32(to.cast(), live, values);
        }
    }
    _mm256_testz_si256(wrong, _mm256_set1_epi32(!0xffff)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every level that this processor has answers alike, and as it should.
    #[test]
    fn all_levels_agree() {
        let mut state = 1u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize
        };
        let best = Level::detect();
        let levels = [Level::Avx2, Level::Avx512];
        let mut compared = 0;
        for _ in 0..20_000 {
            let active = random() % 17;
            let widths: Vec<u8> = (0..active).map(|_| (random() % 18) as u8).collect();
            let bases: Vec<u8> = (0..2 * active).map(|_| random() as u8 & 0x7f).collect();
            let bits: usize = widths.iter().map(|&w| usize::from(w)).sum();
            let count = 1 + random() % 40;
            let data: Vec<u8> = (0..(bits * count).div_ceil(8))
                .map(|_| random() as u8)
                .collect();
            let first = random() % 16;
            let head = [first as u8, 0, active as u8, 0];
            let block = [&head[..], &widths, &bases, &data].concat();
            let slot = random() % count;
            let mut seen: Option<Vec<u32>> = None;
            for level in levels {
                if best < Some(level) {
                    continue;
                }
                let mut out = vec![7; 32];
                if record(level, &block, count, slot, &mut out) {
                    assert!(seen.is_none_or(|other| other == out), "{level:?} differs");
                    let mut bit = slot * bits;
                    for (i, &width) in widths.iter().enumerate() {
                        let value = (0..usize::from(width))
                            .map(|k| (data[(bit + k) / 8] as u32 >> ((bit + k) % 8) & 1) << k)
                            .sum::<u32>();
                        let base = u32::from(bases[2 * i]) | u32::from(bases[2 * i + 1]) << 8;
                        assert_eq!(out[first + i], base + value);
                        bit += usize::from(width);
                    }
                    seen = Some(out);
                    compared += 1;
                }
            }
        }
        assert!(best.is_none() || compared > 1000, "{compared}");
    }
}

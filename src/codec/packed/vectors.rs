//! One record of 16-bit values at a time with AVX2 or AVX-512.
//!
//! A table look-up waits for memory, so what counts is that the processor can
//! run ahead to the next one: there is no branch on what the block says but
//! those that are almost never taken.

use std::arch::x86_64::*;

use super::{FIXED_BYTES, ReadRecord};

/// Values that are decoded at once; a wider table is left to plain code.
const LANES: usize = 16;
/// Bits of [`LANES`] values that 32 bytes hold wherever they begin in the first;
/// sums of widths then fit a byte, too.
const MOST_BITS: usize = 249;

/// The fastest way that this processor has.
pub(super) fn detect() -> Option<ReadRecord> {
    ways().pop()
}

/// All ways that this processor has, the fastest last.
fn ways() -> Vec<ReadRecord> {
    let mut ways: Vec<ReadRecord> = Vec::new();
    if is_x86_feature_detected!("avx2") {
        ways.push(read_avx2);
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("bmi2")
        {
            ways.push(read_avx512);
        }
    }
    ways
}

/// Handed out by [`ways`] alone, where AVX-512 was detected.
fn read_avx512(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    // SAFETY: the instructions were detected.
    #[allow(unsafe_code)]
    unsafe {
        avx512(bytes, slot, out)
    }
}

/// Handed out by [`ways`] alone, where AVX2 was detected.
fn read_avx2(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    // SAFETY: the instructions were detected.
    #[allow(unsafe_code)]
    unsafe {
        avx2(bytes, slot, out)
    }
}

/// A payload cut up, with no more checks than the code below needs.
struct Parts<'a> {
    /// Value at which the table begins.
    first: usize,
    /// Values in the table.
    active: usize,
    /// Widths, bases and data side by side: `active`, `2 × active` and
    /// `data_bytes` bytes.
    table: &'a [u8],
    data_bytes: usize,
}

impl<'a> Parts<'a> {
    /// `None` when the table does not fit the bytes, a record of `width` values or
    /// the lanes.
    #[inline(always)]
    fn cut(bytes: &'a [u8], width: usize, lanes: usize) -> Option<Self> {
        let ([a, b, c, d], table) = bytes.split_first_chunk::<FIXED_BYTES>()?;
        let first = usize::from(u16::from_le_bytes([*a, *b]));
        let active = usize::from(u16::from_le_bytes([*c, *d]));
        let fits = active <= lanes && first + active <= width && 3 * active <= table.len();
        fits.then(|| Parts {
            first,
            active,
            table,
            data_bytes: table.len() - 3 * active,
        })
    }

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

/// A bit for each of the first `n` lanes, at most `most`.
#[inline(always)]
fn mask(n: usize, most: usize) -> u32 {
    ((1u64 << n.min(most)) - 1) as u32
}

/// The common case: records of 32 values, a table of up to 16 and bytes enough
/// behind all of it that nothing need be masked.
///
/// # Safety
/// Needs AVX-512 F, BW, VL and VBMI, and BMI2.
#[allow(unsafe_code)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2,bmi2")]
unsafe fn avx512(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    let (Some(head), Ok(record)) = (
        bytes.first_chunk::<{ FIXED_BYTES + 3 * LANES }>(),
        <&mut [u32; 2 * LANES]>::try_from(&mut *out),
    ) else {
        // SAFETY: as for this function.
        return unsafe { avx512_any(bytes, slot, out) };
    };
    let first = usize::from(u16::from_le_bytes([head[0], head[1]]));
    let active = usize::from(u16::from_le_bytes([head[2], head[3]]));
    let live = mask(active, LANES);
    // SAFETY: the widths lie in `head`, and 16 bases do, read or not.
    let (widths, bases) = unsafe {
        let table = head.as_ptr().add(FIXED_BYTES);
        (
            _mm_maskz_loadu_epi8(live as u16, table.cast()),
            _mm256_loadu_si256(table.add(active.min(LANES)).cast()),
        )
    };
    let bits = total(widths);
    let from = slot * bits;
    let place = FIXED_BYTES + 3 * active + from / 8;
    if active > LANES || first + active > 2 * LANES || place + 32 > bytes.len() || bits > MOST_BITS
    {
        // SAFETY: as for this function.
        return unsafe { avx512_any(bytes, slot, out) };
    }
    // SAFETY: 32 bytes are there.
    let data = unsafe { _mm256_loadu_si256(bytes.as_ptr().add(place).cast()) };
    let (values, right) = avx512_lanes(live as u16, widths, bases, data, from % 8);
    // Lanes turned to where the record has them: both halves are the same
    // vector, each without the lanes of the other.
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let turn = _mm512_sub_epi32(lanes, _mm512_set1_epi32(first as i32));
    let turned = _mm512_permutexvar_epi32(turn, values);
    let live = live.wrapping_shl(first as u32);
    let low = _mm512_maskz_mov_epi32(live as u16, turned);
    let high = _mm512_maskz_mov_epi32((live >> LANES) as u16, turned);
    // SAFETY: the record has room for both.
    unsafe {
        _mm512_storeu_si512(record.as_mut_ptr().cast(), low);
        _mm512_storeu_si512(record.as_mut_ptr().add(LANES).cast(), high);
    }
    right
}

/// As [`avx512`] for records of any width and tables of up to 32 values.
///
/// # Safety
/// As [`avx512`].
#[allow(unsafe_code)]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2,bmi2")]
unsafe fn avx512_any(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    let Some(parts) = Parts::cut(bytes, out.len(), 2 * LANES) else {
        return false;
    };
    out.fill(0);
    let mut from = slot;
    // SAFETY: as for this function.
    unsafe {
        from *= total(avx512_widths(&parts, 0)) + total(avx512_widths(&parts, LANES));
    }
    for at in [0, LANES] {
        let live = mask(parts.active.saturating_sub(at), LANES) as u16;
        let left = mask(parts.data_bytes.saturating_sub(from / 8), 32);
        let to = out.as_mut_ptr().wrapping_add(parts.first + at);
        // SAFETY: as for this function; loads and stores are masked to what is
        // there.
        unsafe {
            let widths = avx512_widths(&parts, at);
            let bases = parts.bases().wrapping_add(2 * at);
            let bases = _mm256_maskz_loadu_epi16(live, bases.cast());
            let data = parts.data().wrapping_add(from / 8);
            let data = _mm256_maskz_loadu_epi8(left, data.cast());
            let (values, right) = avx512_lanes(live, widths, bases, data, from % 8);
            _mm512_mask_storeu_epi32(to.cast(), live, values);
            if !right || total(widths) > MOST_BITS {
                return false;
            }
            from += total(widths);
        }
    }
    true
}

/// The widths of up to 16 values from the `at`-th of the table on.
///
/// # Safety
/// As [`avx512`].
#[allow(unsafe_code)]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2,bmi2")]
unsafe fn avx512_widths(parts: &Parts<'_>, at: usize) -> __m128i {
    let live = mask(parts.active.saturating_sub(at), LANES) as u16;
    // SAFETY: masked to the widths, which lie in the table.
    unsafe { _mm_maskz_loadu_epi8(live, parts.widths().wrapping_add(at).cast()) }
}

/// Decodes up to 16 values whose bits begin in the first byte of `data`, `from`
/// bits behind its first, and tells whether the `live` ones are right. They have
/// [`MOST_BITS`] together at most.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx2,bmi2")]
fn avx512_lanes(
    live: u16,
    widths: __m128i,
    bases: __m256i,
    data: __m256i,
    from: usize,
) -> (__m512i, bool) {
    let data = _mm512_zextsi256_si512(data);
    let begin = _mm512_cvtepu8_epi32(_mm_sub_epi8(prefix_sums(widths), widths));
    let begin = _mm512_add_epi32(begin, _mm512_set1_epi32(from as i32));
    // Four bytes from the one in which each value begins.
    let place = _mm512_mullo_epi32(
        _mm512_srli_epi32::<3>(begin),
        _mm512_set1_epi32(0x0101_0101),
    );
    let place = _mm512_add_epi32(place, _mm512_set1_epi32(0x0302_0100));
    let words = _mm512_permutexvar_epi8(place, data);
    let shifted = _mm512_srlv_epi32(words, _mm512_and_si512(begin, _mm512_set1_epi32(7)));
    let wide = _mm512_cvtepu8_epi32(widths);
    let one = _mm512_set1_epi32(1);
    let masks = _mm512_sub_epi32(_mm512_sllv_epi32(one, wide), one);
    let deltas = _mm512_and_si512(shifted, masks);
    let values = _mm512_add_epi32(deltas, _mm512_cvtepu16_epi32(bases));
    let wrong = _mm512_mask_cmpgt_epu32_mask(live, values, _mm512_set1_epi32(0xffff));
    (values, wrong == 0)
}

/// # Safety
/// Needs AVX2.
#[allow(unsafe_code)]
#[target_feature(enable = "avx2")]
unsafe fn avx2(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    let Some(parts) = Parts::cut(bytes, out.len(), LANES) else {
        return false;
    };
    // Bases are loaded whole, whatever lies behind them.
    if parts.table.len() < parts.active + 2 * LANES {
        return false;
    }
    let active = parts.active as i8;
    let lanes = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let live = _mm_cmpgt_epi8(_mm_set1_epi8(active), lanes);
    // SAFETY: widths and bases lie side by side, more than 16 bytes together
    // with what is behind them; what is not live is masked out.
    let widths = unsafe { _mm_and_si128(_mm_loadu_si128(parts.widths().cast()), live) };
    let bits = total(widths);
    let from = slot * bits;
    // Each gather reads four bytes from the one in which a value begins.
    if bits > MOST_BITS || (from + bits) / 8 + 4 > parts.data_bytes {
        return false;
    }
    let begin = _mm_sub_epi8(prefix_sums(widths), widths);
    let mut wrong = _mm256_setzero_si256();
    out.fill(0);
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
        // SAFETY: the gather and the store are masked to live values; 16 bases'
        // bytes are there.
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

    /// Every way that this processor has answers alike, and as it should.
    #[test]
    fn all_ways_agree() {
        let mut state = 1u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize
        };
        let ways = ways();
        let mut compared = 0;
        for _ in 0..20_000 {
            let active = random() % 33;
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
            for read in &ways {
                let mut out = vec![7; 32];
                if read(&block, slot, &mut out) {
                    assert!(seen.is_none_or(|other| other == out), "ways differ");
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
        assert!(ways.is_empty() || compared > 1000, "{compared}");
    }
}

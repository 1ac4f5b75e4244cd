//! Tables of up to 16 values, in two halves of eight lanes.

use std::arch::x86_64::*;

use super::{FIXED_BYTES, MOST_BITS};

/// Values that are decoded at once; a wider table is left to plain code.
const LANES: usize = 16;

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
    fn cut(bytes: &'a [u8], width: usize) -> Option<Self> {
        let ([a, b, c, d], table) = bytes.split_first_chunk::<FIXED_BYTES>()?;
        let first = usize::from(u16::from_le_bytes([*a, *b]));
        let active = usize::from(u16::from_le_bytes([*c, *d]));
        let fits = active <= LANES && first + active <= width && 3 * active <= table.len();
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

/// A [`ReadRecord`](super::ReadRecord).
#[allow(unsafe_code)]
#[target_feature(enable = "avx2")]
pub(super) fn read(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    let Some(parts) = Parts::cut(bytes, out.len()) else {
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

//! Tables of up to 32 values, sixteen at a time. The bits of four values lie within
//! sixteen bytes, out of which each of them is shuffled.

use std::arch::x86_64::*;

use super::FIXED_BYTES;

/// Values that are decoded at once.
const LANES: usize = 16;
/// Bits of so many values, at most: sums of widths that fit a byte.
const MOST_BITS: usize = 255;
/// Bytes that are loaded for them, wherever they begin in the first, at most.
const REACH: usize = MOST_BITS.div_ceil(8) + 16;

/// A [`ReadRecord`](super::ReadRecord).
#[target_feature(enable = "avx2")]
pub(super) fn read(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    let Some(([a, b, c, d], table)) = bytes.split_first_chunk::<FIXED_BYTES>() else {
        return false;
    };
    let first = usize::from(u16::from_le_bytes([*a, *b]));
    let active = usize::from(u16::from_le_bytes([*c, *d]));
    if active > 2 * LANES || first + active > out.len() {
        return false;
    }
    // Lanes without a value are stored as zeros, too, where there is room for them.
    out.fill(0);
    let Some(out) = out.get_mut(first..) else {
        return false;
    };
    let Some(low) = Sixteen::new(table, active, 0) else {
        return false;
    };
    if active <= LANES {
        return low.decode(table, slot * low.bits, out);
    }
    let Some(high) = Sixteen::new(table, active, LANES) else {
        return false;
    };
    let from = slot * (low.bits + high.bits);
    low.decode(table, from, out)
        && out
            .get_mut(LANES..)
            .is_some_and(|out| high.decode(table, from + low.bits, out))
}

/// Sixteen values of a table.
struct Sixteen {
    /// How many there are.
    live: usize,
    /// Their widths, zero for others, and the sum of these.
    widths: __m128i,
    bits: usize,
    bases: [__m128i; 2],
    /// Where the data begins in the table.
    data: usize,
}

impl Sixteen {
    /// Those from the `at`-th on of a table of `active` values; `None` where not so many
    /// bytes as are loaded for all of them lie in it or behind it, or for widths that
    /// are too large.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(table: &[u8], active: usize, at: usize) -> Option<Self> {
        let bases = active + 2 * at;
        if table.len() < bases + 2 * LANES {
            return None;
        }
        let live = (active - at).min(LANES);
        // SAFETY: so many bytes are there; bases lie behind all widths.
        #[allow(unsafe_code)]
        let [widths, low, high] = unsafe {
            [at, bases, bases + LANES].map(|at| _mm_loadu_si128(table.as_ptr().add(at).cast()))
        };
        let widths = _mm_and_si128(widths, mask(live));
        let halves = _mm_sad_epu8(widths, _mm_setzero_si128());
        let bits = (_mm_cvtsi128_si64(halves) + _mm_extract_epi64::<1>(halves)) as usize;
        (bits <= MOST_BITS).then_some(Sixteen {
            live,
            widths,
            bits,
            bases: [low, high],
            data: 3 * active,
        })
    }

    /// Decodes them from the `from`-th bit of the data on; `false` where that reaches
    /// over the bytes of the table and behind it, or for a value of more than 16 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn decode(&self, table: &[u8], from: usize, out: &mut [u32]) -> bool {
        let place = self.data + from / 8;
        if place + REACH > table.len() || out.len() < self.live {
            return false;
        }
        let begin = _mm_sub_epi8(prefix_sums(self.widths), self.widths);
        let shift = (from % 8) as i32;
        let four = |begin: i32| {
            let at = place + (begin + shift) as usize / 8;
            // SAFETY: at most 255 bits lie before it, so that so many bytes are there.
            #[allow(unsafe_code)]
            unsafe {
                _mm_loadu_si128(table.as_ptr().add(at).cast())
            }
        };
        let low = _mm256_set_m128i(four(_mm_extract_epi8::<4>(begin)), four(0));
        let high = _mm256_set_m128i(
            four(_mm_extract_epi8::<12>(begin)),
            four(_mm_extract_epi8::<8>(begin)),
        );
        let behind = |x: __m128i| _mm_srli_si128::<8>(x);
        let low = eight(self.widths, begin, shift, low, self.bases[0]);
        let high = eight(
            behind(self.widths),
            behind(begin),
            shift,
            high,
            self.bases[1],
        );
        let live = mask(self.live);
        let (live_low, live_high) = (
            _mm256_cvtepi8_epi32(live),
            _mm256_cvtepi8_epi32(behind(live)),
        );
        let (low, high) = (
            _mm256_and_si256(low, live_low),
            _mm256_and_si256(high, live_high),
        );
        // SAFETY: there is room for all of them, or stores are masked to those there are.
        #[allow(unsafe_code)]
        unsafe {
            let to = out.as_mut_ptr();
            if out.len() >= LANES {
                _mm256_storeu_si256(to.cast(), low);
                _mm256_storeu_si256(to.add(LANES / 2).cast(), high);
            } else {
                _mm256_maskstore_epi32(to.cast(), live_low, low);
                let to = to.wrapping_add(LANES / 2);
                _mm256_maskstore_epi32(to.cast(), live_high, high);
            }
        }
        _mm256_testz_si256(_mm256_or_si256(low, high), _mm256_set1_epi32(!0xffff)) != 0
    }
}

/// Eight values of the given widths that begin at the given bits behind `shift`, in bytes
/// of their own; four of them in each half of `data`, from the byte on in which the first
/// begins.
#[inline]
#[target_feature(enable = "avx2")]
fn eight(widths: __m128i, begin: __m128i, shift: i32, data: __m256i, bases: __m128i) -> __m256i {
    let widths = _mm256_cvtepu8_epi32(widths);
    let begin = _mm256_add_epi32(_mm256_cvtepu8_epi32(begin), _mm256_set1_epi32(shift));
    // Four bytes from the one in which each value begins.
    let byte = _mm256_srli_epi32::<3>(begin);
    let byte = _mm256_sub_epi32(byte, _mm256_shuffle_epi32::<0>(byte));
    let copies = _mm256_set_epi64x(
        0x0c0c_0c0c_0808_0808,
        0x0404_0404_0000_0000,
        0x0c0c_0c0c_0808_0808,
        0x0404_0404_0000_0000,
    );
    let place = _mm256_add_epi8(
        _mm256_shuffle_epi8(byte, copies),
        _mm256_set1_epi32(0x0302_0100),
    );
    let words = _mm256_shuffle_epi8(data, place);
    let shifted = _mm256_srlv_epi32(words, _mm256_and_si256(begin, _mm256_set1_epi32(7)));
    let one = _mm256_set1_epi32(1);
    let ones = _mm256_sub_epi32(_mm256_sllv_epi32(one, widths), one);
    let deltas = _mm256_and_si256(shifted, ones);
    _mm256_add_epi32(deltas, _mm256_cvtepu16_epi32(bases))
}

/// All bits of the first bytes, `n` of them.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(n: usize) -> __m128i {
    let lanes = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    _mm_cmpgt_epi8(_mm_set1_epi8(n as i8), lanes)
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

//! Records of up to 32 values, each in a lane of its own.

use std::arch::x86_64::*;

use super::FIXED_BYTES;

/// Bytes that are loaded of the data, and bits of a record that they hold wherever these
/// begin in the first; sums of widths then fit a byte, too.
pub(super) const DATA_BYTES: usize = 32;
const MOST_BITS: usize = 8 * DATA_BYTES - 7;

/// Decodes records of 32 values of 16 bits in as many lanes of AVX-512: a proof that
/// the processor has it.
#[derive(Debug, Clone, Copy)]
pub struct Lanes(());

impl Lanes {
    /// Values of the records.
    pub(crate) const VALUES: usize = 32;

    /// The proof, where there is one.
    pub(in crate::codec::packed) fn detect() -> Option<Self> {
        let all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("bmi2");
        all.then_some(Lanes(()))
    }

    /// Whether [`Lanes::read`] serves a block, its checksum aside, which
    /// [`Codec::check`](crate::codec::Codec::check) found right and which has so many
    /// bytes behind it.
    pub(crate) fn serve(block: &[u8], behind: usize) -> bool {
        let (Some([_, _, a, b]), true) = (block.first_chunk(), behind >= DATA_BYTES) else {
            return false;
        };
        let active = usize::from(u16::from_le_bytes([*a, *b]));
        let widths = block.iter().skip(FIXED_BYTES).take(active);
        let bits: usize = widths.map(|&width| usize::from(width)).sum();
        bits <= MOST_BITS
    }

    /// Decodes the record in a slot of a block.
    ///
    /// # Safety
    /// [`Lanes::serve`] must have found the block fit, whose first byte this is, and it
    /// must have such a slot.
    #[allow(unsafe_code)]
    #[inline]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi2"
    )]
    pub(crate) unsafe fn read(self, block: *const u8, slot: usize, out: &mut [u32; Self::VALUES]) {
        // SAFETY: as for this function.
        if let Some(values) = unsafe { decode::<false>(block, 0, slot) } {
            store(values, out);
        }
    }
}

/// A [`ReadRecord`](super::ReadRecord).
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi2")]
pub(super) fn read(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    if bytes.len() < FIXED_BYTES || out.len() > Lanes::VALUES {
        return false;
    }
    // SAFETY: so many bytes are there, those of the head's first part at least.
    #[allow(unsafe_code)]
    let values = unsafe { decode::<true>(bytes.as_ptr(), bytes.len(), slot) };
    let Some(values) = values else {
        return false;
    };
    match <&mut [u32; Lanes::VALUES]>::try_from(&mut *out) {
        Ok(record) => store(values, record),
        Err(_) => {
            let live = mask(out.len());
            let [low, high] = wide(values);
            // SAFETY: masked to what there is room for.
            #[allow(unsafe_code)]
            unsafe {
                let to = out.as_mut_ptr();
                _mm512_mask_storeu_epi32(to.cast(), live as u16, low);
                let to = to.wrapping_add(Lanes::VALUES / 2);
                _mm512_mask_storeu_epi32(to.cast(), (live >> 16) as u16, high);
            }
        }
    }
    true
}

/// A bit for each of the first `n` of 32 lanes.
#[inline]
#[target_feature(enable = "bmi2")]
fn mask(n: usize) -> u32 {
    _bzhi_u32(u32::MAX, n as u32)
}

/// Both halves of 32 values of 16 bits, as 32 bits each.
#[inline]
#[target_feature(enable = "avx512f")]
fn wide(values: __m512i) -> [__m512i; 2] {
    [
        _mm512_cvtepu16_epi32(_mm512_castsi512_si256(values)),
        _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(values)),
    ]
}

/// Writes 32 values of 16 bits as 32 bits each.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(values: __m512i, out: &mut [u32; Lanes::VALUES]) {
    let [low, high] = wide(values);
    // SAFETY: there is room for both halves.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_storeu_si512(out.as_mut_ptr().cast(), low);
        _mm512_storeu_si512(out.as_mut_ptr().add(Lanes::VALUES / 2).cast(), high);
    }
}

/// Decodes the record in a slot of a block; of `ANY` block, `None` where more than 32
/// lanes, `length` bytes, [`MOST_BITS`] or 16 bits a value are needed.
///
/// # Safety
/// `block` must be as for [`Lanes::read`], or else must have `length` bytes, at least
/// [`FIXED_BYTES`].
#[allow(unsafe_code)]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi2")]
unsafe fn decode<const ANY: bool>(block: *const u8, length: usize, slot: usize) -> Option<__m512i> {
    // SAFETY: so many bytes are there.
    let [first, active] = unsafe { [0, 2].map(|at| block.add(at).cast::<[u8; 2]>().read()) };
    let first = usize::from(u16::from_le_bytes(first));
    let active = usize::from(u16::from_le_bytes(active));
    if ANY && (first + active > Lanes::VALUES || FIXED_BYTES + 3 * active > length) {
        return None;
    }
    // Each value has a lane of its own from these loads on.
    let live = mask(active).wrapping_shl(first as u32);
    let table = block.wrapping_add(FIXED_BYTES);
    // SAFETY: masked to the widths, which lie in the head.
    let widths = unsafe { _mm256_maskz_loadu_epi8(live, table.wrapping_sub(first).cast()) };
    let (begin, bits) = begins(widths);
    let from = slot * bits;
    let place = 3 * active + from / 8;
    if ANY && (bits > MOST_BITS || FIXED_BYTES + place + DATA_BYTES > length) {
        return None;
    }
    // SAFETY: so many bytes are there, of this block or behind it.
    let data = unsafe { _mm256_loadu_si256(table.add(place).cast()) };
    let data = _mm512_zextsi256_si512(data);
    // Two words of the data hold each value, which begins in the first of them.
    let begin = _mm512_add_epi16(
        _mm512_cvtepu8_epi16(begin),
        _mm512_set1_epi16((from % 8) as i16),
    );
    let word = _mm512_srli_epi16::<4>(begin);
    let next = _mm512_add_epi16(word, _mm512_set1_epi16(1));
    let low = _mm512_permutexvar_epi16(word, data);
    let high = _mm512_permutexvar_epi16(next, data);
    let shifted = _mm512_shrdv_epi16(low, high, begin);
    let ones = _mm512_permutexvar_epi16(_mm512_cvtepu8_epi16(widths), ones_table());
    let deltas = _mm512_and_si512(shifted, ones);
    let bases = table.wrapping_add(active).wrapping_sub(2 * first);
    // SAFETY: masked to the bases, which lie in the head.
    let bases = unsafe { _mm512_maskz_loadu_epi16(live, bases.cast()) };
    let values = _mm512_add_epi16(deltas, bases);
    if ANY && _mm512_cmplt_epu16_mask(values, bases) != 0 {
        return None;
    }
    Some(values)
}

/// As many ones as the lane's number says.
#[inline]
#[target_feature(enable = "avx512f")]
fn ones_table() -> __m512i {
    const TABLE: [u64; 8] = [
        0x0007_0003_0001_0000,
        0x007f_003f_001f_000f,
        0x07ff_03ff_01ff_00ff,
        0x7fff_3fff_1fff_0fff,
        0xffff,
        0,
        0,
        0,
    ];
    let [a, b, c, d, e, f, g, h] = TABLE.map(|word| word as i64);
    _mm512_setr_epi64(a, b, c, d, e, f, g, h)
}

/// Where each of 32 values begins, modulo 256, by their widths in bits, and the sum of these.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512vbmi,avx2")]
fn begins(widths: __m256i) -> (__m256i, usize) {
    // A product with 1 in each byte has in each byte the sum of those up to it.
    let within = _mm256_mullo_epi64(widths, _mm256_set1_epi8(1));
    let zero = _mm256_setzero_si256();
    let eights = _mm256_sad_epu8(widths, zero);
    let twos = _mm256_add_epi64(eights, _mm256_alignr_epi64::<3>(eights, zero));
    let sums = _mm256_add_epi64(twos, _mm256_alignr_epi64::<2>(twos, zero));
    // Each eight's bytes get the sum up to the eight before. Byte 7 is zero.
    let before = _mm256_setr_epi64x(
        0x0707_0707_0707_0707,
        0,
        0x0808_0808_0808_0808,
        0x1010_1010_1010_1010,
    );
    let before = _mm256_permutexvar_epi8(before, sums);
    let begin = _mm256_sub_epi8(_mm256_add_epi8(within, before), widths);
    (begin, _mm256_extract_epi64::<3>(sums) as usize)
}

//! Predicted values and scales of 16 lanes with AVX2: the arithmetic of
//! `predict.rs` for columns of at most 16 bits.
#![allow(unsafe_code)] // loads from arrays of checked length, behind detection of AVX2
#![allow(clippy::indexing_slicing)] // of arrays of fixed length

use std::arch::x86_64::*;

use super::layout::{FRACTION, LANES, NEAR, WEIGHT_BITS};
use super::model::Cell;
use super::predict::{Inputs, Lanes, Window};

/// Whether this processor can, and has what the rest of the decoder is compiled for.
#[inline(always)]
pub(super) fn available() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
}

/// Predicts a window; as `predict::window`.
#[inline(always)]
pub(super) fn window(inputs: &Inputs<'_, u16>, cell: &Cell, out: &mut Lanes) {
    assert!(available(), "AVX2 is missing");
    // SAFETY: the processor has AVX2.
    unsafe { vector_window(inputs, cell, out) }
}

/// 16 values of a row, from `place` on.
#[inline(always)]
fn load(row: Window<'_, u16>, place: usize) -> __m256i {
    const { assert!(size_of::<[u16; LANES + 8]>() == 48) };
    debug_assert!(place <= 8);
    // SAFETY: a row has 24 values and `place` is at most 4 wherever this is called.
    unsafe { _mm256_loadu_si256(row.as_ptr().add(place).cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn vector_window(inputs: &Inputs<'_, u16>, cell: &Cell, out: &mut Lanes) {
    // Signed saturating differences of values shifted by 2^15 are the clamped
    // differences of the values.
    let sign = _mm256_set1_epi16(i16::MIN);
    let signed = |row, place| _mm256_xor_si256(load(row, place), sign);
    let base = inputs.rows[0];
    let before = signed(base, 1);
    let here = signed(base, 2);
    let after = signed(base, 3);
    let plain = load(base, 2);
    let zero = _mm256_setzero_si256();
    // Features are weighted in pairs, in their order.
    let mut weights = cell.weights.iter();
    let (mut low, mut high) = (zero, zero);
    let mut add = |one, other| {
        let Some(weights) = weights.next() else {
            return;
        };
        // SAFETY: the weights of a pair are 64 bytes.
        let (w_low, w_high) = unsafe {
            let w = weights.as_ptr().cast::<__m256i>();
            (_mm256_loadu_si256(w), _mm256_loadu_si256(w.add(1)))
        };
        let pairs = _mm256_unpacklo_epi16(one, other);
        low = _mm256_add_epi32(low, _mm256_madd_epi16(pairs, w_low));
        let pairs = _mm256_unpackhi_epi16(one, other);
        high = _mm256_add_epi32(high, _mm256_madd_epi16(pairs, w_high));
    };
    let half = _mm256_sub_epi16(zero, _mm256_srli_epi16::<1>(plain));
    let [own_anchor, base_anchor] = inputs.anchors;
    add(
        half,
        _mm256_subs_epi16(signed(own_anchor, 2), signed(base_anchor, 2)),
    );
    let mut others = inputs.rows.iter().take(inputs.count).skip(1);
    let mut pending = None;
    if inputs.spread {
        add(
            _mm256_subs_epi16(before, here),
            _mm256_subs_epi16(after, here),
        );
        add(
            _mm256_subs_epi16(signed(base, 0), here),
            _mm256_subs_epi16(signed(base, 4), here),
        );
        for &row in others.by_ref().take(NEAR - 1) {
            add_to(
                &mut pending,
                _mm256_subs_epi16(signed(row, 1), before),
                &mut add,
            );
            add_to(
                &mut pending,
                _mm256_subs_epi16(signed(row, 2), here),
                &mut add,
            );
            add_to(
                &mut pending,
                _mm256_subs_epi16(signed(row, 3), after),
                &mut add,
            );
        }
    }
    for &row in others {
        add_to(
            &mut pending,
            _mm256_subs_epi16(signed(row, 2), here),
            &mut add,
        );
    }
    if let Some(last) = pending {
        add(last, zero);
    }
    const SHIFT: i32 = (WEIGHT_BITS - FRACTION) as i32;
    let half = _mm256_set1_epi32(1 << (SHIFT - 1));
    let round = |sum| {
        // The sum of a large number and the half must not wrap where the
        // portable arithmetic, in 64 bits there, does not.
        let fraction = _mm256_and_si256(sum, _mm256_set1_epi32((1 << SHIFT) - 1));
        let carry = _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(fraction, half));
        _mm256_add_epi32(_mm256_srai_epi32::<SHIFT>(sum), carry)
    };
    let widened = |value| _mm256_slli_epi32::<{ FRACTION as i32 }>(value);
    let low = _mm256_add_epi32(widened(_mm256_unpacklo_epi16(plain, zero)), round(low));
    let high = _mm256_add_epi32(widened(_mm256_unpackhi_epi16(plain, zero)), round(high));
    store_predictions(low, high, out);

    // The scale.
    let likely = |p| _mm256_max_epi32(_mm256_srai_epi32::<{ FRACTION as i32 }>(p), zero);
    let limit = _mm256_set1_epi16(32767);
    let likely = _mm256_min_epu16(_mm256_packus_epi32(likely(low), likely(high)), limit);
    let limited = |row, place| _mm256_min_epu16(load(row, place), limit);
    let difference = if inputs.count > 1 {
        let other = load(inputs.rows[1], 2);
        _mm256_srli_epi16::<1>(_mm256_or_si256(
            _mm256_subs_epu16(plain, other),
            _mm256_subs_epu16(other, plain),
        ))
    } else {
        zero
    };
    let mean = |k: usize| _mm256_set1_epi16(inputs.means[k].min(32767) as i16);
    let [first, second] = inputs.residuals;
    let pairs = [
        (limited(first, 2), limited(first, 3)),
        (limited(second, 2), difference),
        (
            _mm256_min_epu16(likely, _mm256_set1_epi16(16)),
            _mm256_min_epu16(likely, _mm256_set1_epi16(256)),
        ),
        (_mm256_srli_epi16::<4>(likely), mean(0)),
        (mean(1), _mm256_set1_epi16(16)),
    ];
    let (mut low, mut high) = (zero, zero);
    for ((a, b), weights) in pairs.into_iter().zip(cell.scales.chunks_exact(2)) {
        let both = i32::from(weights[0]) & 0xffff | i32::from(weights[1]) << 16;
        let weights = _mm256_set1_epi32(both);
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), weights));
        high = _mm256_add_epi32(
            high,
            _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), weights),
        );
    }
    let class = |sum| {
        let scale = _mm256_max_epi32(_mm256_srai_epi32::<4>(sum), _mm256_set1_epi32(1));
        // At most 2^27, cut to its 24 highest bits before it becomes a float,
        // whose exponent and first fractional bit are then exact.
        let scale = _mm256_min_epi32(scale, _mm256_set1_epi32((1 << 24) - 1));
        let bits = _mm256_srli_epi32::<22>(_mm256_castps_si256(_mm256_cvtepi32_ps(scale)));
        _mm256_min_epi32(
            _mm256_sub_epi32(bits, _mm256_set1_epi32(254)),
            _mm256_set1_epi32(39),
        )
    };
    let mut classes = _mm256_packus_epi32(class(low), class(high));
    if inputs.spread {
        let ended = _mm256_cmpeq_epi16(load(base, 3), zero);
        let empty = _mm256_cmpeq_epi16(plain, zero);
        let zone = _mm256_and_si256(ended, _mm256_set1_epi16(40));
        let zone = _mm256_blendv_epi8(zone, _mm256_set1_epi16(80), empty);
        classes = _mm256_add_epi16(classes, zone);
    }
    let bytes = _mm_packus_epi16(
        _mm256_castsi256_si128(classes),
        _mm256_extracti128_si256::<1>(classes),
    );
    // SAFETY: 16 bytes of 16.
    unsafe { _mm_storeu_si128(out.class.as_mut_ptr().cast(), bytes) }
}

/// Adds a feature to the one that waits for it, or has it wait for the next.
#[inline(always)]
fn add_to(pending: &mut Option<__m256i>, feature: __m256i, add: &mut impl FnMut(__m256i, __m256i)) {
    match pending.take() {
        Some(one) => add(one, feature),
        None => *pending = Some(feature),
    }
}

/// Undoes the interleaving of the halves and widens.
#[inline]
#[target_feature(enable = "avx2")]
fn store_predictions(low: __m256i, high: __m256i, out: &mut Lanes) {
    let quarters = [
        _mm256_castsi256_si128(low),
        _mm256_castsi256_si128(high),
        _mm256_extracti128_si256::<1>(low),
        _mm256_extracti128_si256::<1>(high),
    ];
    for (quarter, four) in quarters.into_iter().zip(out.prediction.chunks_exact_mut(4)) {
        // SAFETY: four numbers of eight bytes.
        unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), _mm256_cvtepi32_epi64(quarter)) }
    }
}

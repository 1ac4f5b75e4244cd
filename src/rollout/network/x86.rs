//! The forward pass with the vector instructions of x86: the same operations
//! in the same order as the portable one.

use std::arch::x86_64::*;

use super::forward::{Expanded, LANES, Lane, OUTPUTS, TILE, total};

/// The weighted sums of the outputs, with 512-bit vectors.
#[target_feature(enable = "avx512f")]
pub(super) fn avx512(net: &Expanded, rows: &[u16]) -> [f32; OUTPUTS] {
    let one = _mm512_set1_ps(1.0);
    let mut partial = [_mm512_setzero_ps(); OUTPUTS];
    for tile in (0..net.lanes).step_by(TILE) {
        let [mut a, mut b, mut c, mut d] = load512(&net.bias, tile);
        for &row in rows {
            let [w, x, y, z] = load512(&net.rows, usize::from(row) * net.lanes + tile);
            a = _mm512_add_ps(a, w);
            b = _mm512_add_ps(b, x);
            c = _mm512_add_ps(c, y);
            d = _mm512_add_ps(d, z);
        }
        let hidden = [a, b, c, d].map(|h| _mm512_div_ps(h, _mm512_add_ps(one, _mm512_abs_ps(h))));
        for (k, sum) in partial.iter_mut().enumerate() {
            for (h, w) in hidden
                .into_iter()
                .zip(load512(&net.output, k * net.lanes + tile))
            {
                *sum = _mm512_add_ps(*sum, _mm512_mul_ps(h, w));
            }
        }
    }
    partial.map(|sum| total(store512(sum)))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load512(lanes: &[Lane], at: usize) -> [__m512; TILE] {
    let tile: &[Lane] = &lanes[at..at + TILE];
    #[allow(unsafe_code, reason = "unaligned loads; a lane is exactly 16 floats")]
    // SAFETY: each pointer is that of a `Lane`, 64 readable bytes.
    unsafe {
        [0, 1, 2, 3].map(|i: usize| _mm512_loadu_ps(tile[i].as_ptr()))
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store512(value: __m512) -> Lane {
    let mut out = [0.0; LANES];
    #[allow(unsafe_code, reason = "an unaligned store into a lane")]
    // SAFETY: `out` is 64 writable bytes.
    unsafe {
        _mm512_storeu_ps(out.as_mut_ptr(), value);
    }
    out
}

/// The weighted sums of the outputs, with 256-bit vectors.
#[target_feature(enable = "avx2")]
pub(super) fn avx2(net: &Expanded, rows: &[u16]) -> [f32; OUTPUTS] {
    let (one, sign) = (_mm256_set1_ps(1.0), _mm256_set1_ps(-0.0));
    let mut partial = [[_mm256_setzero_ps(); 2]; OUTPUTS];
    for tile in (0..net.lanes).step_by(TILE) {
        let mut hidden = load256(&net.bias, tile);
        for &row in rows {
            let weights = load256(&net.rows, usize::from(row) * net.lanes + tile);
            for (h, w) in hidden.iter_mut().zip(weights) {
                *h = _mm256_add_ps(*h, w);
            }
        }
        let hidden =
            hidden.map(|h| _mm256_div_ps(h, _mm256_add_ps(one, _mm256_andnot_ps(sign, h))));
        for (k, sum) in partial.iter_mut().enumerate() {
            let weights = load256(&net.output, k * net.lanes + tile);
            for i in 0..2 * TILE {
                sum[i % 2] = _mm256_add_ps(sum[i % 2], _mm256_mul_ps(hidden[i], weights[i]));
            }
        }
    }
    partial.map(|halves| {
        let mut lane = [0.0; LANES];
        let (low, high) = lane.split_at_mut(LANES / 2);
        #[allow(unsafe_code, reason = "unaligned stores into the halves of a lane")]
        // SAFETY: each half is 32 writable bytes.
        unsafe {
            _mm256_storeu_ps(low.as_mut_ptr(), halves[0]);
            _mm256_storeu_ps(high.as_mut_ptr(), halves[1]);
        }
        total(lane)
    })
}

#[inline]
#[target_feature(enable = "avx2")]
fn load256(lanes: &[Lane], at: usize) -> [__m256; 2 * TILE] {
    let halves: &[f32] = lanes[at..at + TILE].as_flattened();
    #[allow(unsafe_code, reason = "unaligned loads; a lane is exactly 16 floats")]
    // SAFETY: `halves` is TILE · 16 floats long, so that 8 floats follow each offset.
    unsafe {
        [0, 1, 2, 3, 4, 5, 6, 7].map(|i: usize| _mm256_loadu_ps(halves[8 * i..].as_ptr()))
    }
}

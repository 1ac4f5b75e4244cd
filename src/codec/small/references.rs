//! Which of the references that a numbering knows exist in a block.

use super::layout::PREVIOUS;
use crate::codec::Slot;

/// The references of a record in `slot` that exist in its block.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn available(described: &Slot, slot: usize) -> u16 {
    portable_available(described, slot)
}

/// The references of a record in `slot` that exist in its block.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code)] // SSE2 is part of x86-64
pub(super) fn available(described: &Slot, slot: usize) -> u16 {
    use std::arch::x86_64::*;
    // SAFETY: `back` is 32 bytes.
    unsafe {
        let back: *const __m128i = described.back.as_ptr().cast();
        let (low, high) = (_mm_loadu_si128(back), _mm_loadu_si128(back.add(1)));
        let zero = _mm_setzero_si128();
        let slots = _mm_set1_epi16(slot as i16);
        // 0 < back <= slot: a saturating difference of 0, and back not 0.
        let inside = |b| {
            _mm_andnot_si128(
                _mm_cmpeq_epi16(b, zero),
                _mm_cmpeq_epi16(_mm_subs_epu16(b, slots), zero),
            )
        };
        let one = _mm_set1_epi16(1);
        let mask = |a, b| _mm_movemask_epi8(_mm_packs_epi16(a, b)) as u16 & (u16::MAX >> 1);
        let ones = mask(_mm_cmpeq_epi16(low, one), _mm_cmpeq_epi16(high, one));
        mask(inside(low), inside(high)) | u16::from(slot > 0 && ones == 0) << PREVIOUS
    }
}

/// [`available`] without vectors.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) fn portable_available(described: &Slot, slot: usize) -> u16 {
    let slot = slot as u16;
    let mut mask = 0;
    let mut previous = slot > 0;
    for (kind, &back) in described
        .back
        .iter()
        .take(crate::codec::MAX_KINDS)
        .enumerate()
    {
        mask |= u16::from(back.wrapping_sub(1) < slot) << kind;
        previous &= back != 1;
    }
    mask | u16::from(previous) << PREVIOUS
}

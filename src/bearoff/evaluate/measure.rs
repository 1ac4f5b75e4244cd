//! The measures of a side that an evaluation starts with, eight points at a time.

use crate::bearoff::board::{BAR, Points};

/// Highest point held (1 to 25, 0 for none), chequers, and pips of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Measure {
    pub(super) top: usize,
    pub(super) total: u8,
    pub(super) pips: u32,
}

const ONES: u64 = 0x0101_0101_0101_0101;

impl Measure {
    /// Measures a side of at most 15 chequers, which [`super::Board`] keeps.
    #[inline(always)]
    pub(super) fn of(side: &Points) -> Self {
        let bar = side[BAR];
        let mut seen = Measure {
            top: if bar > 0 { BAR + 1 } else { 0 },
            total: bar,
            pips: u32::from(bar) * (BAR as u32 + 1),
        };
        let (words, _) = side.as_chunks::<8>();
        for (word, &bytes) in words.iter().enumerate().rev() {
            let counts = u64::from_le_bytes(bytes);
            if seen.top == 0 && counts != 0 {
                seen.top = 8 * word + 8 - counts.leading_zeros() as usize / 8;
            }
            // Byte k of the product is the sum of bytes 0 to k; of its own
            // product, byte 7 is the sum of those sums: Σ (8 − k) counts[k].
            let sums = counts.wrapping_mul(ONES);
            let total = (sums >> 56) as u32;
            let weighted = (sums.wrapping_mul(ONES) >> 56) as u32;
            seen.total += total as u8;
            seen.pips += (8 * word as u32 + 9) * total - weighted;
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearoff::board::{highest, pips};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn measures_are_those_of_counting(chequers in prop::collection::vec(0usize..25, 0..=15)) {
            let mut side = [0; 25];
            chequers.iter().for_each(|&point| side[point] += 1);
            let seen = Measure::of(&side);
            prop_assert_eq!(seen.top, highest(&side));
            prop_assert_eq!(usize::from(seen.total), chequers.len());
            prop_assert_eq!(seen.pips, pips(&side));
        }
    }
}

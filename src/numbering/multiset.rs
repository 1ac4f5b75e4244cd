//! `multiset`: chequers of one colour on points; parameters `points`, `chequers`.

use std::sync::{Arc, OnceLock};

use super::multiset_plan::References;
use super::{Grouped, Numbering, Order, OrderLearner, blame_file, required};
use crate::{Error, Properties, Result};

/// The most points of a [`Multiset`]: the board's 24 and the bar.
pub const MAX_POINTS: usize = 25;

/// The most chequers of a [`Multiset`].
pub const MAX_CHEQUERS: u8 = 15;

/// `STEPS[j][s]` is C(s + j − 1, j): what `s` chequers on the highest `j` points add
/// to a number.
pub(super) const STEPS: [[u64; MAX_CHEQUERS as usize + 1]; MAX_POINTS + 1] = {
    let mut steps = [[1; MAX_CHEQUERS as usize + 1]; MAX_POINTS + 1];
    let mut j = 1;
    while j <= MAX_POINTS {
        steps[j][0] = 0;
        let mut s = 1;
        while s <= MAX_CHEQUERS as usize {
            steps[j][s] = steps[j][s - 1] + steps[j - 1][s];
            s += 1;
        }
        j += 1;
    }
    steps
};

/// All ways to have at most `chequers` chequers on `points` points.
///
/// With `S_k` the chequers on point `k + 1` and higher, the number is
/// `Σ C(S_k + points − 1 − k, points − k)` over `k` from 0 to `points − 1`.
/// Number 0 is "all off", totals ascend, and within a total the high points
/// vary fastest: positions are ordered as the sequences `S_0, S_1, …` are.
/// The number does not depend on the limit of chequers, so that a smaller
/// table is a prefix of a larger one. It is the order of gnubg's databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multiset {
    points: usize,
    chequers: u8,
    len: u64,
    /// `below[k][s]`: what `S_k = s` adds to the number.
    below: Vec<[u64; MAX_CHEQUERS as usize + 1]>,
    /// What the plan knows, once it was asked.
    references: OnceLock<Arc<References>>,
}

impl Multiset {
    /// The name in the file.
    pub const NAME: &'static str = "multiset";

    /// Positions of up to `chequers` (1 to 15) on `points` (1 to 25) points.
    ///
    /// Errors: [`Error::Invalid`] outside those ranges.
    pub fn new(points: usize, chequers: u8) -> Result<Self> {
        if !(1..=MAX_POINTS).contains(&points) {
            return Err(Error::invalid(format!(
                "{points} points: a multiset has 1 to {MAX_POINTS} points"
            )));
        }
        if !(1..=MAX_CHEQUERS).contains(&chequers) {
            return Err(Error::invalid(format!(
                "{chequers} chequers: a multiset has 1 to {MAX_CHEQUERS} chequers"
            )));
        }
        // The largest value is C(40, 15) < 2^36.
        let below = (0..points as u64)
            .map(|k| {
                std::array::from_fn(|s| {
                    binomial(s as u64 + points as u64 - 1 - k, points as u64 - k)
                })
            })
            .collect();
        let len = binomial(points as u64 + u64::from(chequers), u64::from(chequers));
        Ok(Multiset {
            points,
            chequers,
            len,
            below,
            references: OnceLock::new(),
        })
    }

    /// From the parameters in a file.
    pub fn from_params(params: &Properties) -> Result<Self> {
        let points = required(params, "points")?;
        let chequers = required(params, "chequers")?;
        blame_file(Multiset::new(
            usize::try_from(points).unwrap_or(usize::MAX),
            u8::try_from(chequers).unwrap_or(u8::MAX),
        ))
    }

    /// Distances to positions that resemble each other.
    pub(super) fn references(&self) -> &References {
        let make = || Arc::new(References::new(self.points, self.chequers));
        self.references.get_or_init(make)
    }

    /// Points, 1 to 25.
    pub fn points(&self) -> usize {
        self.points
    }

    /// The most chequers of a position, 1 to 15.
    pub fn chequers(&self) -> u8 {
        self.chequers
    }

    /// How many positions have fewer than `total` chequers, which is the
    /// number of the first one that has `total`. More than `chequers() + 1`
    /// counts as that.
    pub fn first_with(&self, total: u8) -> u64 {
        if total > self.chequers {
            return self.len;
        }
        self.below[0][usize::from(total)]
    }

    /// The number of the position with `counts[i]` chequers on point `i + 1`.
    ///
    /// Errors: [`Error::Invalid`] unless there are `points()` counts with a
    /// sum of at most `chequers()`.
    #[inline]
    pub fn rank(&self, counts: &[u8]) -> Result<u64> {
        let total: u64 = counts.iter().map(|&c| u64::from(c)).sum();
        if counts.len() != self.points || total > u64::from(self.chequers) {
            return Err(self.refuse(counts.len(), total));
        }
        let mut above = 0usize;
        let mut number = 0;
        for (&count, below) in counts.iter().zip(&self.below).rev() {
            above += usize::from(count);
            number += below[above];
        }
        Ok(number)
    }

    /// Splits a number below `len()` after the lowest `low` points: `S_0` to `S_low`,
    /// and the number of the arrangement of the points above those.
    #[inline]
    pub(super) fn split(&self, number: u64, low: usize) -> ([usize; MAX_POINTS + 1], u64) {
        let mut sums = [0; MAX_POINTS + 1];
        let mut rest = number;
        let mut above = usize::from(self.chequers);
        for (sum, below) in sums.iter_mut().zip(&self.below).take(low) {
            while below[above] > rest {
                above -= 1;
            }
            rest -= below[above];
            *sum = above;
        }
        // What is left is the number of an arrangement by the same formula.
        if let Some(below) = self.below.get(low) {
            while below[above] > rest {
                above -= 1;
            }
            sums[low] = above;
        }
        (sums, rest)
    }

    /// The number of `S_0` to `S_low` and the arrangement above.
    pub(super) fn join(&self, sums: &[usize], arrangement: u64) -> u64 {
        let steps = sums.iter().zip(&self.below).map(|(&s, below)| below[s]);
        steps.sum::<u64>() + arrangement
    }

    #[cold]
    fn refuse(&self, points: usize, total: u64) -> Error {
        if points == self.points {
            Error::invalid(format!(
                "{total} chequers where a position has at most {}",
                self.chequers
            ))
        } else {
            Error::invalid(format!(
                "{points} points where a position has {}",
                self.points
            ))
        }
    }

    /// Writes the chequers on each point of position `number` to `counts`.
    ///
    /// Errors: [`Error::Invalid`] when `number` is not below `len()` or
    /// `counts` does not have `points()` places.
    #[inline]
    pub fn unrank(&self, number: u64, counts: &mut [u8]) -> Result<()> {
        if number >= self.len || counts.len() != self.points {
            return Err(Error::invalid(format!(
                "position {number} on {} points asked of {} positions on {} points",
                counts.len(),
                self.len,
                self.points
            )));
        }
        let mut rest = number;
        let mut above = usize::from(self.chequers);
        let mut previous = 0;
        for (k, below) in self.below.iter().enumerate() {
            while below[above] > rest {
                above -= 1;
            }
            rest -= below[above];
            if k > 0 {
                counts[k - 1] = (previous - above) as u8;
            }
            previous = above;
        }
        counts[self.points - 1] = previous as u8;
        Ok(())
    }

    /// Turns `counts` into the position with the next number; after the last
    /// one it answers false and leaves `counts` alone.
    ///
    /// `counts` must be a position of this numbering, as from [`Self::unrank`].
    #[inline]
    pub fn advance(&self, counts: &mut [u8]) -> bool {
        let Some((&mut last, lower)) = counts.split_last_mut() else {
            return false;
        };
        // The next sequence S raises the last S_k that is below its
        // predecessor and clears those after it: one chequer of the highest
        // occupied point but the last moves up, and the last point's follow.
        match lower.iter().rposition(|&c| c > 0) {
            Some(k) => {
                counts[k] -= 1;
                counts[self.points - 1] = 0;
                counts[k + 1] = last + 1;
                true
            }
            None if last < self.chequers => {
                counts[self.points - 1] = 0;
                counts[0] = last + 1;
                true
            }
            None => false,
        }
    }
}

impl Numbering for Multiset {
    fn name(&self) -> &'static str {
        Multiset::NAME
    }

    fn version(&self) -> u16 {
        1
    }

    fn params(&self) -> Properties {
        Properties::new()
            .with("points", self.points as u64)
            .with("chequers", u64::from(self.chequers))
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn order(&self, name: &str, params: &Properties) -> Result<Arc<dyn Order>> {
        match name {
            Grouped::NAME => Ok(Arc::new(Grouped::from_params(self, params)?)),
            _ => Err(super::unknown_order(Multiset::NAME, name)),
        }
    }

    fn order_learner(&self, first: u64) -> Option<OrderLearner> {
        let all = self.first_with(self.chequers) == first;
        all.then(|| OrderLearner::new(self))
    }
}

/// Binomial coefficient `C(n, k)`; the ranges above keep it within `u64`.
pub(in crate::numbering) fn binomial(n: u64, k: u64) -> u64 {
    if k > n {
        return 0;
    }
    // After step i the value is C(n, i + 1), so that each division is exact.
    (0..k.min(n - k)).fold(1, |value, i| value * (n - i) / (i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The other form in which the number is known: the colex rank of the
    /// set of bits `points − 1 + total`, then each `counts[i] + 1` lower.
    fn rank_of_bits(counts: &[u8]) -> u64 {
        let points = counts.len() as u64;
        let total: u64 = counts.iter().map(|&c| u64::from(c)).sum();
        let mut bit = points - 1 + total;
        let mut number = 0;
        for (i, &count) in counts.iter().enumerate() {
            number += binomial(bit, points - i as u64);
            bit = bit.wrapping_sub(u64::from(count) + 1);
        }
        number
    }

    fn position(points: usize) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0..points, 0..=15).prop_map(move |chequers| {
            let mut counts = vec![0; points];
            chequers.into_iter().for_each(|point| counts[point] += 1);
            counts
        })
    }

    #[test]
    fn sizes_are_the_known_ones() {
        let len = |points| Multiset::new(points, 15).unwrap().len();
        assert_eq!(len(6), 54_264);
        assert_eq!(len(10), 3_268_760);
        assert_eq!(len(13), 37_442_160);
        assert_eq!(len(15), 155_117_520);
        assert_eq!(len(18), 1_037_158_320);
        // C(40, 15), by Pascal's triangle below.
        assert_eq!(len(25), pascal(40, 15));
        assert_eq!(Multiset::new(25, 2).unwrap().len(), 351);
    }

    fn pascal(n: usize, k: usize) -> u64 {
        let mut row = vec![1u64];
        for _ in 0..n {
            let mut next = vec![1; row.len() + 1];
            for i in 1..row.len() {
                next[i] = row[i - 1] + row[i];
            }
            row = next;
        }
        row[k]
    }

    #[test]
    fn every_position_of_small_tables_has_its_own_number_in_order() {
        for (points, chequers) in [(1, 15), (2, 15), (3, 4), (6, 6), (25, 3)] {
            let numbering = Multiset::new(points, chequers).unwrap();
            let mut counts = vec![0; points];
            let mut unranked = vec![0; points];
            for number in 0..numbering.len() {
                assert_eq!(numbering.rank(&counts).unwrap(), number);
                assert_eq!(rank_of_bits(&counts), number);
                numbering.unrank(number, &mut unranked).unwrap();
                assert_eq!(unranked, counts);
                assert_eq!(numbering.advance(&mut counts), number + 1 < numbering.len());
            }
        }
    }

    #[test]
    fn totals_begin_where_first_with_says() {
        let numbering = Multiset::new(6, 15).unwrap();
        let mut counts = [0; 6];
        for total in 0..=15 {
            let first = numbering.first_with(total);
            numbering.unrank(first, &mut counts).unwrap();
            assert_eq!(counts, [total, 0, 0, 0, 0, 0]);
        }
        assert_eq!(numbering.first_with(16), numbering.len());
    }

    #[test]
    fn what_is_no_position_is_refused() {
        assert!(Multiset::new(0, 15).is_err());
        assert!(Multiset::new(26, 15).is_err());
        assert!(Multiset::new(6, 0).is_err());
        assert!(Multiset::new(6, 16).is_err());
        let numbering = Multiset::new(6, 15).unwrap();
        assert!(numbering.rank(&[3; 6]).is_err());
        assert!(numbering.rank(&[255; 6]).is_err());
        assert!(numbering.rank(&[1; 5]).is_err());
        assert!(numbering.unrank(numbering.len(), &mut [0; 6]).is_err());
        assert!(numbering.unrank(0, &mut [0; 7]).is_err());
    }

    proptest! {
        #[test]
        fn rank_and_unrank_are_inverse(counts in (1usize..=25).prop_flat_map(position)) {
            let numbering = Multiset::new(counts.len(), 15).unwrap();
            let number = numbering.rank(&counts).unwrap();
            prop_assert_eq!(number, rank_of_bits(&counts));
            let mut unranked = vec![0; counts.len()];
            numbering.unrank(number, &mut unranked).unwrap();
            prop_assert_eq!(unranked, counts);
        }

        #[test]
        fn unrank_and_rank_are_inverse(points in 1usize..=25, chequers in 1u8..=15, share in 0.0..1.0f64) {
            let numbering = Multiset::new(points, chequers).unwrap();
            let number = ((numbering.len() as f64 * share) as u64).min(numbering.len() - 1);
            let mut counts = vec![0; points];
            numbering.unrank(number, &mut counts).unwrap();
            prop_assert_eq!(numbering.rank(&counts).unwrap(), number);
            if numbering.advance(&mut counts) {
                prop_assert_eq!(numbering.rank(&counts).unwrap(), number + 1);
            }
        }
    }
}

//! `pair`: two sides' chequers; parameters `points`, `chequers`.

use std::sync::Arc;

use super::{Multiset, Numbering, Order, Tiled, required};
use crate::{Error, Properties, Result};

/// A position of each side, both numbered by the same [`Multiset`] of `n`
/// positions: `us` on roll against `them` is number `us · n + them`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    side: Multiset,
    len: u64,
}

impl Pair {
    /// The name in the file.
    pub const NAME: &'static str = "pair";

    /// Two sides of up to `chequers` (1 to 15) on `points` (1 to 25) points.
    ///
    /// Errors: [`Error::Invalid`] outside those ranges and where the pairs
    /// need more than 64 bits.
    pub fn new(points: usize, chequers: u8) -> Result<Self> {
        let side = Multiset::new(points, chequers)?;
        let len = side.len().checked_mul(side.len()).ok_or_else(|| {
            Error::invalid(format!(
                "two sides of {chequers} chequers on {points} points have more than 2^64 positions"
            ))
        })?;
        Ok(Pair { side, len })
    }

    /// From the parameters in a file.
    pub fn from_params(params: &Properties) -> Result<Self> {
        let points = required(params, "points")?;
        let chequers = required(params, "chequers")?;
        super::blame_file(Pair::new(
            usize::try_from(points).unwrap_or(usize::MAX),
            u8::try_from(chequers).unwrap_or(u8::MAX),
        ))
    }

    /// The numbering of either side.
    pub fn side(&self) -> &Multiset {
        &self.side
    }

    /// The number of `us` on roll against `them`, each with the chequers on
    /// point `i + 1`, seen from its own side, in place `i`.
    ///
    /// Errors: as [`Multiset::rank`].
    #[inline]
    pub fn rank(&self, us: &[u8], them: &[u8]) -> Result<u64> {
        Ok(self.side.rank(us)? * self.side.len() + self.side.rank(them)?)
    }

    /// Writes both sides of position `number`.
    ///
    /// Errors: as [`Multiset::unrank`].
    #[inline]
    pub fn unrank(&self, number: u64, us: &mut [u8], them: &mut [u8]) -> Result<()> {
        self.side.unrank(number / self.side.len(), us)?;
        self.side.unrank(number % self.side.len(), them)
    }
}

impl Numbering for Pair {
    fn name(&self) -> &'static str {
        Pair::NAME
    }

    fn version(&self) -> u16 {
        1
    }

    fn params(&self) -> Properties {
        self.side.params()
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn order(&self, name: &str, params: &Properties) -> Result<Arc<dyn Order>> {
        match name {
            Tiled::NAME => Ok(Arc::new(Tiled::from_params(self, params)?)),
            _ => Err(super::unknown_order(Pair::NAME, name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_through_their_side_first() {
        let pair = Pair::new(3, 2).unwrap();
        let n = pair.side().len();
        assert_eq!(pair.len(), n * n);
        let (mut us, mut them) = ([0; 3], [0; 3]);
        for number in 0..pair.len() {
            pair.unrank(number, &mut us, &mut them).unwrap();
            assert_eq!(pair.side().rank(&us).unwrap(), number / n);
            assert_eq!(pair.side().rank(&them).unwrap(), number % n);
            assert_eq!(pair.rank(&us, &them).unwrap(), number);
        }
        assert!(pair.unrank(pair.len(), &mut us, &mut them).is_err());
    }

    #[test]
    fn pairs_that_need_more_than_64_bits_are_refused() {
        assert!(Pair::new(25, 12).is_ok());
        let error = Pair::new(25, 15).unwrap_err().to_string();
        assert!(error.contains("2^64"), "{error}");
    }
}

//! What is predicted of one value: before and after the errors of the values
//! before it are taken into account.

use super::layout::{FRACTION, LANES, WEIGHT_BITS, outside_class};
use super::model::Cell;
use super::predict::Sample;

/// What is predicted of one value before feedback.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) prediction: i64,
    pub(super) class: u8,
    /// Its lane, or [`LANES`] outside of the window.
    pub(super) lane: usize,
}

impl Expected {
    /// Of a value outside of the window, where the base has `base`.
    #[inline(always)]
    pub(super) fn outside<T: Sample>(base: T) -> Self {
        Self {
            prediction: base.wide() << FRACTION,
            class: outside_class(base.into()),
            lane: LANES,
        }
    }
}

/// Errors of the values of a record that came before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Feedback {
    pub(super) errors: [i64; 3],
    pub(super) sum: i64,
}

impl Feedback {
    /// What the errors so far add to a prediction.
    #[inline(always)]
    pub(super) fn correction(&self, cell: &Cell, lane: usize) -> i64 {
        cell.feedback
            .get(lane)
            .map_or(0, |&weights| self.weighted(weights))
    }

    /// The errors so far, weighted.
    #[inline(always)]
    pub(super) fn weighted(&self, [a, b, c, d]: [i16; 4]) -> i64 {
        let [x, y, z] = self.errors;
        // What is known first is added first: the last error is in `x` and the sum.
        let earlier = i64::from(c) * z + i64::from(b) * y;
        let latest = i64::from(d) * self.sum + i64::from(a) * x;
        (earlier + latest) >> WEIGHT_BITS
    }

    /// Takes note of a value.
    #[inline(always)]
    pub(super) fn note(&mut self, value: u32, prediction: i64, summed: bool) {
        let error = (i64::from(value) << FRACTION) - prediction;
        let [x, y, _] = self.errors;
        self.errors = [error, x, y];
        if summed {
            self.sum += error;
        }
    }
}

/// The final prediction of a value that is at most `largest`.
#[inline(always)]
pub(super) fn rounded(prediction: i64, correction: i64, largest: u32) -> i64 {
    ((prediction + correction + (1 << (FRACTION - 1))) >> FRACTION).clamp(0, i64::from(largest))
}

//! The best plays of each roll from the tabled best moves of single dice.
//!
//! For one die `d` let f1(p, d) be the best result of one move, f2 to f4 of
//! two to four moves, each the first with the smallest mean. A roll of `a`
//! and `b` then is the best f1(q, b) over the results `q` of moving one
//! chequer by `a`, or the other way round; a double is the best f3(q, d). The
//! first in this order is the first in the order in which plays are listed:
//! the larger die first, each die's sources from the highest down.

use super::arithmetic::{ROLLS, roll};

/// Where a row is: in the high bits which buffer, in the low ones the place.
pub(crate) type RowId = u32;

/// Lanes of the first table: dice 1 to 6, no move at all, and one to spare.
const LANES: usize = 8;

/// The lane of "no move": the position itself.
const STAY: usize = 6;

/// A mean that can be chosen without a branch.
///
/// Which of two plays is better is as good as random, so that a branch on it
/// is mispredicted half of the time, and holds up the loads behind it.
pub(crate) trait Mean: Copy + PartialOrd + Default + Send + Sync {
    /// `then` if `yes`, else `otherwise`.
    fn select(yes: bool, then: Self, otherwise: Self) -> Self;
}

impl Mean for i32 {
    #[inline(always)]
    fn select(yes: bool, then: i32, otherwise: i32) -> i32 {
        otherwise ^ ((then ^ otherwise) & -i32::from(yes))
    }
}

impl Mean for f32 {
    #[inline(always)]
    fn select(yes: bool, then: f32, otherwise: f32) -> f32 {
        f32::from_bits(select_row(yes, then.to_bits(), otherwise.to_bits()))
    }
}

impl Mean for f64 {
    #[inline(always)]
    fn select(yes: bool, then: f64, otherwise: f64) -> f64 {
        let (then, otherwise) = (then.to_bits(), otherwise.to_bits());
        f64::from_bits(otherwise ^ ((then ^ otherwise) & u64::from(yes).wrapping_neg()))
    }
}

#[inline(always)]
fn select_row(yes: bool, then: RowId, otherwise: RowId) -> RowId {
    otherwise ^ ((then ^ otherwise) & u32::from(yes).wrapping_neg())
}

/// What one position tells those that move into it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Moves<M> {
    /// Mean of f1 by die, then the position's own.
    mean: [M; LANES],
    /// Row of f1 by die, then the position's own.
    row: [RowId; LANES],
}

/// What it tells, for one die, those that throw a double.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Repeated<M> {
    /// f2 and its row.
    two: (M, RowId),
    /// f3 and its row.
    three: (M, RowId),
}

impl<M: Mean> Moves<M> {
    /// A position that stays what it is whatever is rolled.
    pub(crate) fn settled(mean: M, row: RowId) -> Self {
        Moves {
            mean: [mean; LANES],
            row: [row; LANES],
        }
    }

    /// Sets the position's own mean.
    #[inline(always)]
    pub(crate) fn stay(&mut self, mean: M) {
        self.mean[STAY] = mean;
    }
}

impl<M: Mean> Repeated<M> {
    /// A position that stays what it is whatever is rolled.
    pub(crate) fn settled(mean: M, row: RowId) -> Self {
        Repeated {
            two: (mean, row),
            three: (mean, row),
        }
    }
}

/// The best results found so far from one position.
pub(crate) struct Choice<M> {
    /// By the first die: the best after each second one.
    first: [Moves<M>; 6],
    /// f3 and f4 by die.
    repeated: [Repeated<M>; 6],
}

impl<M: Mean> Choice<M> {
    /// Nothing yet; `worst` is more than every mean.
    #[inline(always)]
    pub(crate) fn none(worst: M) -> Self {
        Choice {
            first: [Moves::settled(worst, 0); 6],
            repeated: [Repeated::settled(worst, 0); 6],
        }
    }

    /// Chooses for one die, less 1, among the positions after moving one
    /// chequer by it, sources from the highest down.
    #[inline(always)]
    pub(crate) fn among<'a>(
        &mut self,
        die: usize,
        after: impl Iterator<Item = (&'a Moves<M>, &'a Repeated<M>)>,
    ) where
        M: 'a,
    {
        let mut best = self.first[die];
        let mut best_repeated = self.repeated[die];
        for (moves, repeated) in after {
            for lane in 0..LANES {
                let better = moves.mean[lane] < best.mean[lane];
                best.mean[lane] = M::select(better, moves.mean[lane], best.mean[lane]);
                best.row[lane] = select_row(better, moves.row[lane], best.row[lane]);
            }
            better(&mut best_repeated.two, repeated.two);
            better(&mut best_repeated.three, repeated.three);
        }
        self.first[die] = best;
        self.repeated[die] = best_repeated;
    }

    /// The rows after the best play of each roll.
    #[inline(always)]
    pub(crate) fn rolls(&self) -> [RowId; ROLLS] {
        let mut rows = [0; ROLLS];
        for large in 0..6 {
            for small in 0..large {
                let large_first = &self.first[large];
                let small_first = &self.first[small];
                rows[roll(large, small)] = if small_first.mean[large] < large_first.mean[small] {
                    small_first.row[large]
                } else {
                    large_first.row[small]
                };
            }
            rows[roll(large, large)] = self.repeated[large].three.1;
        }
        rows
    }

    /// What the position itself tells, but for its own mean, with its row.
    #[inline(always)]
    pub(crate) fn moves(&self, row: RowId) -> Moves<M> {
        let mut moves = Moves::settled(M::default(), row);
        for die in 0..6 {
            moves.mean[die] = self.first[die].mean[STAY];
            moves.row[die] = self.first[die].row[STAY];
        }
        moves
    }

    /// What the position itself tells those that throw a double.
    #[inline(always)]
    pub(crate) fn repeated(&self, die: usize) -> Repeated<M> {
        let first = &self.first[die];
        Repeated {
            two: (first.mean[die], first.row[die]),
            three: self.repeated[die].two,
        }
    }
}

#[inline(always)]
fn better<M: Mean>(best: &mut (M, RowId), other: (M, RowId)) {
    let better = other.0 < best.0;
    *best = (
        M::select(better, other.0, best.0),
        select_row(better, other.1, best.1),
    );
}

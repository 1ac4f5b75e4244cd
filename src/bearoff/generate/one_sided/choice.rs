//! The best plays of each roll from the tabled best moves of single dice.
//!
//! For one die `d` let f1(p, d) be the best result of one move, f2 to f4 of
//! two to four moves, each the first with the smallest mean. A roll of `a`
//! and `b` then is the best f1(q, b) over the results `q` of moving one
//! chequer by `a`, or the other way round; a double is the best f3(q, d). The
//! first in this order is the first in the order in which plays are listed:
//! the larger die first, each die's sources from the highest down.

use super::arithmetic::{Arithmetic, ROLLS, roll};

/// Where a row is: in the high bits which buffer, in the low ones the place.
pub(crate) type RowId = u32;

/// Lanes of the first table: dice 1 to 6, no move at all, and one to spare.
const LANES: usize = 8;

/// The lane of "no move": the position itself.
const STAY: usize = 6;

/// What a position has to tell those that move into it.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(crate) struct Best<M> {
    /// Mean of f1 by die, then the position's own.
    mean: [M; LANES],
    /// Row of f1 by die, then the position's own.
    row: [RowId; LANES],
    /// f2 and f3 by die.
    repeated: [Repeated<M>; 6],
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Repeated<M> {
    two: M,
    two_row: RowId,
    three: M,
    three_row: RowId,
}

impl<M: Copy + Default> Best<M> {
    /// A position that stays what it is whatever is rolled.
    pub(crate) fn settled(mean: M, row: RowId) -> Self {
        let repeated = Repeated {
            two: mean,
            two_row: row,
            three: mean,
            three_row: row,
        };
        Best {
            mean: [mean; LANES],
            row: [row; LANES],
            repeated: [repeated; 6],
        }
    }

    /// A position of which only the row is known.
    pub(crate) fn known(&mut self, mean: M, row: RowId) {
        self.mean[STAY] = mean;
        self.row[STAY] = row;
    }
}

/// The best results found so far from one position.
pub(crate) struct Choice<A: Arithmetic> {
    /// By the first die: the best after each second one.
    first: [Lanes<A::Mean>; 6],
    three: [(A::Mean, RowId); 6],
    four: [(A::Mean, RowId); 6],
}

#[derive(Clone, Copy)]
struct Lanes<M> {
    mean: [M; LANES],
    row: [RowId; LANES],
}

impl<A: Arithmetic> Choice<A> {
    /// Chooses for every die among `results(die)`: what the positions after
    /// moving one chequer by `die + 1` have to tell, sources from the highest
    /// down.
    #[inline(always)]
    pub(crate) fn among<'a, I>(mut results: impl FnMut(usize) -> I) -> Self
    where
        I: Iterator<Item = &'a Best<A::Mean>>,
        A::Mean: 'a,
    {
        let nothing = (A::WORST, 0);
        let mut choice = Choice {
            first: [Lanes {
                mean: [A::WORST; LANES],
                row: [0; LANES],
            }; 6],
            three: [nothing; 6],
            four: [nothing; 6],
        };
        for die in 0..6 {
            let mut lanes = choice.first[die];
            let (mut three, mut four) = (nothing, nothing);
            for best in results(die) {
                for lane in 0..LANES {
                    let better = best.mean[lane] < lanes.mean[lane];
                    lanes.mean[lane] = if better {
                        best.mean[lane]
                    } else {
                        lanes.mean[lane]
                    };
                    lanes.row[lane] = if better {
                        best.row[lane]
                    } else {
                        lanes.row[lane]
                    };
                }
                let repeated = &best.repeated[die];
                if repeated.two < three.0 {
                    three = (repeated.two, repeated.two_row);
                }
                if repeated.three < four.0 {
                    four = (repeated.three, repeated.three_row);
                }
            }
            choice.first[die] = lanes;
            choice.three[die] = three;
            choice.four[die] = four;
        }
        choice
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
            rows[roll(large, large)] = self.four[large].1;
        }
        rows
    }

    /// What the position itself has to tell, now that its row is known.
    #[inline(always)]
    pub(crate) fn tell(&self, mean: A::Mean, row: RowId, best: &mut Best<A::Mean>) {
        for die in 0..6 {
            let lanes = &self.first[die];
            best.mean[die] = lanes.mean[STAY];
            best.row[die] = lanes.row[STAY];
            let (three, three_row) = self.three[die];
            best.repeated[die] = Repeated {
                two: lanes.mean[die],
                two_row: lanes.row[die],
                three,
                three_row,
            };
        }
        best.known(mean, row);
    }
}

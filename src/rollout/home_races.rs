//! Exact values of races in which both sides are home: the one-sided six-point
//! database in memory, computed plainly from the rules.

use super::race::{ROLL_LIMIT, Times, race};
use super::{Chances, EndTable};
use crate::Result;
use crate::bearoff::board::{BAR, Board, CHEQUERS, Points};
use crate::bearoff::plays::{Plays, ROLLS};

/// The distributions of all 54,264 positions of up to 15 chequers at home.
pub struct HomeRaces {
    times: Vec<Times>,
    /// `binomial[n][k]`.
    binomial: Vec<[usize; 7]>,
}

impl Default for HomeRaces {
    fn default() -> Self {
        HomeRaces::new()
    }
}

impl HomeRaces {
    /// Computes all of them; takes about a second.
    pub fn new() -> Self {
        let mut binomial = vec![[0usize; 7]; 22];
        for n in 0..22 {
            binomial[n][0] = 1;
            for k in 1..7.min(n + 1) {
                binomial[n][k] = binomial[n - 1][k - 1] + binomial[n - 1][k];
            }
        }
        let mut sides = all_sides();
        // Every play lowers the pip count, so that its results are known.
        sides.sort_by_key(|side| {
            (1..)
                .zip(side)
                .map(|(p, &n)| p * usize::from(n))
                .sum::<usize>()
        });
        let empty = Times {
            last: [0.0; ROLL_LIMIT],
            first: [0.0; ROLL_LIMIT],
        };
        let mut races = HomeRaces {
            times: vec![empty; sides.len()],
            binomial,
        };
        let mut plays = Plays::new();
        for side in sides {
            let number = races.number(&side);
            races.times[number] = races.solve(&side, &mut plays);
        }
        races
    }

    /// The rank among multisets: Σ over points of C(chequers on this point and
    /// above + points above, points from here).
    fn number(&self, side: &Points) -> usize {
        let mut above = 0;
        (0..6)
            .rev()
            .map(|k| {
                above += usize::from(side[k]);
                self.binomial[above + 5 - k][6 - k]
            })
            .sum()
    }

    fn solve(&self, side: &Points, plays: &mut Plays) -> Times {
        let mut out = Times {
            last: [0.0; ROLL_LIMIT],
            first: [0.0; ROLL_LIMIT],
        };
        let total: u8 = side.iter().sum();
        if total < CHEQUERS {
            out.first[0] = 1.0;
        }
        if total == 0 {
            out.last[0] = 1.0;
            return out;
        }
        let mut far = [0; 25];
        far[0] = 1;
        let board =
            Board::new(*side, far).expect("a side at home and a chequer that is out of its way");
        for (dice, weight) in ROLLS {
            let results: Vec<&Times> = plays
                .generate(&board, dice)
                .iter()
                .map(|play| &self.times[self.number(play.next().opponent())])
                .collect();
            let mean = |t: &[f32; ROLL_LIMIT]| (0..).zip(t).map(|(i, p)| i as f32 * p).sum::<f32>();
            let least = |of: fn(&Times) -> &[f32; ROLL_LIMIT]| {
                *results
                    .iter()
                    .map(|t| of(t))
                    .min_by(|a, b| mean(a).total_cmp(&mean(b)))
                    .expect("a race is never stuck")
            };
            let share = weight as f32 / 36.0;
            let last = least(|t| &t.last);
            let first = least(|t| &t.first);
            for i in 1..ROLL_LIMIT {
                out.last[i] += share * last[i - 1];
                if total == CHEQUERS {
                    out.first[i] += share * first[i - 1];
                }
            }
        }
        out
    }

    /// The exact chances, if both sides are home and past each other. Against
    /// a side that hurries for the win where it could save the gammon, and the
    /// other way round, they are as good as one-sided tables can be.
    pub fn chances(&self, board: &Board) -> Option<Chances> {
        let home = |side: &Points| side[6..=BAR].iter().all(|&n| n == 0);
        if !home(board.on_roll()) || !home(board.opponent()) {
            return None;
        }
        let mine = &self.times[self.number(board.on_roll())];
        let theirs = &self.times[self.number(board.opponent())];
        Some(race(mine, theirs))
    }
}

impl EndTable for HomeRaces {
    fn name(&self) -> String {
        "one-sided table of six points, computed in memory".to_owned()
    }

    fn chances(&self, board: &Board) -> Result<Option<Chances>> {
        Ok(HomeRaces::chances(self, board))
    }
}

fn all_sides() -> Vec<Points> {
    let mut out = Vec::new();
    let mut side = [0; 25];
    fn fill(side: &mut Points, point: usize, left: u8, out: &mut Vec<Points>) {
        if point == 6 {
            out.push(*side);
            return;
        }
        for n in 0..=left {
            side[point] = n;
            fill(side, point + 1, left - n, out);
        }
        side[point] = 0;
    }
    fill(&mut side, 0, CHEQUERS, &mut out);
    out
}

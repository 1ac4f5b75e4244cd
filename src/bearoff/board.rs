//! The board: two sides of up to fifteen chequers on 24 points and the bar.

use crate::{Error, Result};

/// Chequers of one side, counted from its own ace-point: index 0 is its
/// ace-point, 23 its 24-point, [`BAR`] its bar.
pub type Points = [u8; 25];

/// Index of the bar in [`Points`].
pub const BAR: usize = 24;

/// Chequers with which a side starts; what is missing has been borne off.
pub const CHEQUERS: u8 = 15;

/// A board as the side on roll sees it.
///
/// At most 15 chequers a side, no point held by both, not both sides empty:
/// [`Board::new`] checks this, and everything that makes boards keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Board {
    sides: [Points; 2],
}

impl Board {
    /// The starting position.
    pub const START: Board = {
        let mut side = [0; 25];
        side[5] = 5;
        side[7] = 3;
        side[12] = 5;
        side[23] = 2;
        Board {
            sides: [side, side],
        }
    };

    /// A board from the chequers of the side on roll and of its opponent,
    /// each counted from its own ace-point.
    ///
    /// # Errors
    /// [`Error::Invalid`] for more than 15 chequers on a side, a point held by
    /// both sides, chequers of both sides all gone, or both closed out on the
    /// bar at once (no such position can be played on).
    pub fn new(on_roll: Points, opponent: Points) -> Result<Self> {
        let totals = [total(&on_roll), total(&opponent)];
        for (name, total) in [("the side on roll", totals[0]), ("the opponent", totals[1])] {
            if total > u32::from(CHEQUERS) {
                return Err(Error::invalid(format!(
                    "{name} has {total} chequers on the board, at most {CHEQUERS} are possible"
                )));
            }
        }
        if totals == [0, 0] {
            return Err(Error::invalid(
                "no chequer on the board: both sides cannot be off",
            ));
        }
        if let Some(point) = (0..24).find(|&i| on_roll[i] > 0 && opponent[23 - i] > 0) {
            return Err(Error::invalid(format!(
                "both sides hold the {}-point of the side on roll ({}-point of its opponent)",
                point + 1,
                24 - point
            )));
        }
        let board = Board {
            sides: [on_roll, opponent],
        };
        if board.closed_out(0) && board.closed_out(1) {
            return Err(Error::invalid(
                "both sides are on the bar against a closed board",
            ));
        }
        Ok(board)
    }

    /// A board whose rules the caller has kept.
    pub(crate) const fn from_sides(sides: [Points; 2]) -> Self {
        Board { sides }
    }

    /// The side on roll, from its own ace-point.
    pub const fn on_roll(&self) -> &Points {
        &self.sides[0]
    }

    /// The other side, from *its* own ace-point.
    pub const fn opponent(&self) -> &Points {
        &self.sides[1]
    }

    /// The same board with the other side on roll.
    #[must_use]
    pub const fn swapped(&self) -> Self {
        Board {
            sides: [self.sides[1], self.sides[0]],
        }
    }

    /// Pip counts of the side on roll and of its opponent; the bar counts 25.
    pub fn pips(&self) -> [u32; 2] {
        self.sides.map(|side| pips(&side))
    }

    /// Chequers borne off by the side on roll and by its opponent.
    pub fn off(&self) -> [u8; 2] {
        self.sides
            .map(|side| CHEQUERS.saturating_sub(side.iter().sum()))
    }

    /// Whether the sides can still meet; never once a side is off.
    pub fn contact(&self) -> bool {
        let [mine, theirs] = self.sides.map(|side| highest(&side));
        mine > 0 && theirs > 0 && mine + theirs > 24
    }

    /// Whether side `side` (0 on roll) stands on the bar before six points.
    fn closed_out(&self, side: usize) -> bool {
        self.sides[side][BAR] > 0 && self.sides[1 - side][..6].iter().all(|&n| n >= 2)
    }
}

/// Pips that one side has to go.
pub fn pips(side: &Points) -> u32 {
    (1..)
        .zip(side)
        .map(|(point, &n)| point * u32::from(n))
        .sum()
}

/// Highest point that one side holds, 1 to 25 (the bar), or 0.
pub fn highest(side: &Points) -> usize {
    side.iter().rposition(|&n| n > 0).map_or(0, |i| i + 1)
}

fn total(side: &Points) -> u32 {
    side.iter().map(|&n| u32::from(n)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(points: &[(usize, u8)]) -> Points {
        let mut out = [0; 25];
        for &(point, n) in points {
            out[point - 1] = n;
        }
        out
    }

    #[test]
    fn the_start_is_167_pips_a_side() {
        assert_eq!(Board::START.pips(), [167, 167]);
        assert_eq!(Board::START.off(), [0, 0]);
        assert!(Board::START.contact());
        assert_eq!(Board::START.swapped(), Board::START);
    }

    #[test]
    fn contact_ends_when_the_last_chequers_have_passed() {
        let mine = side(&[(12, 1)]);
        assert!(Board::new(mine, side(&[(14, 1)])).unwrap().contact());
        assert!(!Board::new(mine, side(&[(12, 1)])).unwrap().contact());
    }

    #[test]
    fn impossible_boards_are_refused() {
        let refused = |a: Points, b: Points| Board::new(a, b).unwrap_err().to_string();
        assert!(refused(side(&[(1, 16)]), side(&[(1, 1)])).contains("16 chequers"));
        assert!(refused(side(&[(1, 1)]), side(&[(1, 255), (2, 255)])).contains("510 chequers"));
        assert!(refused([0; 25], [0; 25]).contains("no chequer"));
        assert!(refused(side(&[(20, 1)]), side(&[(5, 2)])).contains("20-point"));
        let home = [(1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (6, 2), (25, 1)];
        assert!(refused(side(&home), side(&home)).contains("closed board"));
    }
}

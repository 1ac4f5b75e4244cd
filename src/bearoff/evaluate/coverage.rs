//! What a position needs that the open tables do not have.

use std::fmt;

use super::measure::Measure;

/// Why no open table covers a position, and what would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotCovered {
    /// Whether the sides can still meet, which no bearoff table covers.
    pub contact: bool,
    /// Highest point of the side on roll and of its opponent, 0 to 25 (the
    /// bar): the points that tables must have.
    pub points: [usize; 2],
    /// Chequers of both on the board.
    pub chequers: [u8; 2],
    /// Which of both a one-sided table covers.
    pub covered: [bool; 2],
}

impl NotCovered {
    #[cold]
    pub(super) fn contact(sides: [Measure; 2]) -> Self {
        NotCovered {
            contact: true,
            ..Self::sides(sides, [false; 2])
        }
    }

    #[cold]
    pub(super) fn sides(sides: [Measure; 2], covered: [bool; 2]) -> Self {
        NotCovered {
            contact: false,
            points: sides.map(|side| side.top),
            chequers: sides.map(|side| side.total),
            covered,
        }
    }
}

impl fmt::Display for NotCovered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.contact {
            return write!(
                f,
                "the sides can still meet (highest points {} and {}), which no bearoff table covers; roll it out",
                self.points[0], self.points[1]
            );
        }
        let missing = (0..2).filter(|&side| !self.covered[side]);
        let points = missing.map(|side| self.points[side]).max().unwrap_or(0);
        write!(
            f,
            "no open table has this position; a one-sided table of {points} points would (`endtable make bearoff {points}`)"
        )?;
        let (points, chequers) = (
            self.points[0].max(self.points[1]),
            self.chequers[0].max(self.chequers[1]),
        );
        if chequers < super::ALL_CHEQUERS {
            write!(
                f,
                ", or a two-sided one of {points}x{chequers} (`endtable make two-sided {points}x{chequers}`)"
            )?;
        }
        Ok(())
    }
}

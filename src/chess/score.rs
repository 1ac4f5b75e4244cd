//! The value of a position for the player to move, ordered from worst to best.

/// Exact distance to mate under perfect play, or a draw; one sixteen-bit
/// number whose order is the order of preference: the sooner a win and the
/// later a loss, the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Score(i16);

/// Score of an immediate win, were there one; wins in n plies are n below.
const SURE: i16 = 0x4000;

impl Score {
    /// Neither side can force mate.
    pub const DRAW: Score = Score(0);
    /// There is no such position.
    pub const ILLEGAL: Score = Score(i16::MIN);
    /// No move considered yet: worse than every score.
    pub const NONE: Score = Score(i16::MIN + 1);

    /// The side to move mates in `plies` (an odd number).
    #[inline(always)]
    pub const fn win(plies: u16) -> Score {
        Score(SURE - plies as i16)
    }

    /// The side to move is mated in `plies` (an even number; 0: is mated).
    #[inline(always)]
    pub const fn loss(plies: u16) -> Score {
        Score(plies as i16 - SURE)
    }

    /// Whether the score is one of a legal position.
    #[inline(always)]
    pub const fn is_legal(self) -> bool {
        self.0 > Self::NONE.0
    }

    /// Whether the side to move wins.
    #[inline(always)]
    pub const fn is_win(self) -> bool {
        self.0 > 0
    }

    /// Whether the side to move loses.
    #[inline(always)]
    pub const fn is_loss(self) -> bool {
        self.0 < 0 && self.is_legal()
    }

    /// Plies to mate; none for a draw or what is no position.
    #[inline(always)]
    pub const fn plies(self) -> Option<u16> {
        if self.0 == 0 || !self.is_legal() {
            None
        } else {
            Some((SURE - self.0.abs()) as u16)
        }
    }

    /// The score for the player whose move leads to a position with this one.
    #[inline(always)]
    #[must_use]
    pub const fn before(self) -> Score {
        Score(self.0.signum() - self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preference_runs_from_quick_mates_to_late_ones() {
        let order = [
            Score::ILLEGAL,
            Score::NONE,
            Score::loss(0),
            Score::loss(2),
            Score::loss(998),
            Score::DRAW,
            Score::win(999),
            Score::win(3),
            Score::win(1),
        ];
        assert!(order.is_sorted());
        assert_eq!(Score::loss(0).before(), Score::win(1));
        assert_eq!(Score::win(7).before(), Score::loss(8));
        assert_eq!(Score::DRAW.before(), Score::DRAW);
        assert_eq!(
            (Score::win(7).plies(), Score::loss(8).plies()),
            (Some(7), Some(8))
        );
        assert_eq!((Score::DRAW.plies(), Score::ILLEGAL.plies()), (None, None));
    }
}

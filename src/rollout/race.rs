//! A race of two sides that each bear off in the fewest rolls, from when their
//! first and their last chequer leave.

use super::Chances;

/// Rolls after which every side is off.
pub(super) const ROLL_LIMIT: usize = 48;

/// Chances that the last and that the first chequer leaves on roll i.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    pub(super) last: [f32; ROLL_LIMIT],
    /// For a side that has borne off already, all at roll 0.
    pub(super) first: [f32; ROLL_LIMIT],
}

/// The chances of the side that rolls next.
pub(super) fn race(mine: &Times, theirs: &Times) -> Chances {
    let mut out = Chances::default();
    // What is left of the other side's distributions at each roll: I bear off
    // on roll i before it has had its own roll i.
    let (mut last_left, mut first_left, mut mine_left) = (1.0f32, 1.0f32, 1.0 - mine.first[0]);
    for i in 1..ROLL_LIMIT {
        last_left -= theirs.last[i - 1];
        first_left -= theirs.first[i - 1];
        mine_left -= mine.first[i];
        out.win += mine.last[i] * last_left;
        out.win_gammon += mine.last[i] * first_left;
        out.lose_gammon += theirs.last[i] * mine_left;
    }
    out.win = out.win.clamp(0.0, 1.0);
    out.win_gammon = out.win_gammon.clamp(0.0, out.win);
    out.lose_gammon = out.lose_gammon.clamp(0.0, 1.0 - out.win);
    out
}

//! One game of a rollout, from a board to its end or to where it is cut off.

use super::Chances;
use super::dice::GameDice;
use super::evaluate::{End, Player, Scratch};
use super::stakes::Stakes;
use crate::Result;
use crate::bearoff::Board;
use crate::bearoff::plays::{Plays, ROLLS};

/// How games are played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// What results are worth, for the side that the rollout is about.
    pub stakes: Stakes,
    /// Whether the luck of each roll (the value after its best play less the
    /// mean over all 21 rolls) is taken out of the result.
    pub luck_adjusted: bool,
    /// Whether games end where the tables are exact.
    pub stop_at_tables: bool,
    /// Rolls after which a game is cut off and evaluated.
    pub truncate: Option<u32>,
}

/// Buffers of one thread.
#[derive(Default)]
pub struct Table {
    plays: Plays,
    boards: Vec<Board>,
    scratch: Scratch,
}

/// Chances as they come out of one game; luck adjustment leads outside 0 to 1.
pub type Result5 = [f32; 5];

/// Plays a game from `board`. The answer is for the side that is on roll if
/// `own_roll`, else for its opponent, and tells what ended the game.
///
/// # Errors
/// From the player's tables or evaluator.
pub fn play(
    board: &Board,
    own_roll: bool,
    rules: &Rules,
    player: &Player,
    mut dice: GameDice,
    table: &mut Table,
) -> Result<(Result5, End)> {
    let stakes = [rules.stakes.flipped(), rules.stakes];
    let mut board = *board;
    let mut own = own_roll;
    let mut luck = [0f32; 5];
    let mut rolls = 0;
    let (chances, end) = loop {
        let exact = if rules.stop_at_tables {
            player.exact(&board)?
        } else {
            super::network::finished(&board).map(|over| (over, End::Played))
        };
        if let Some(exact) = exact {
            break exact;
        }
        if rules.truncate.is_some_and(|limit| rolls >= limit) {
            player.evaluate(&[board], &mut table.scratch)?;
            break (table.scratch.out[0], End::CutOff);
        }
        let [a, b] = dice.roll();
        let thrown = [a.max(b), a.min(b)];
        let stakes = &stakes[usize::from(own)];
        let next = if rules.luck_adjusted {
            let mut mean = [0f32; 5];
            let mut happened = None;
            for (roll, weight) in ROLLS {
                let (next, chances) = best(&board, roll, stakes, player, table)?;
                let seen = chances.to_array();
                for (m, s) in mean.iter_mut().zip(seen) {
                    *m += weight as f32 / 36.0 * s;
                }
                if roll == thrown {
                    happened = Some((next, seen));
                }
            }
            let (next, seen) = happened.unwrap_or((board, mean));
            let gain: Result5 = std::array::from_fn(|k| seen[k] - mean[k]);
            // The luck of the other side, turned round like its chances.
            let gain = if own {
                gain
            } else {
                [-gain[0], gain[3], gain[4], gain[1], gain[2]]
            };
            for (l, g) in luck.iter_mut().zip(gain) {
                *l += g;
            }
            next
        } else {
            best(&board, thrown, stakes, player, table)?.0
        };
        board = next;
        own = !own;
        rolls += 1;
    };
    let chances = if own { chances } else { chances.flipped() }.to_array();
    Ok((std::array::from_fn(|k| chances[k] - luck[k]), end))
}

/// The board after the best play of `roll` and the chances of the side that
/// made it.
pub(super) fn best(
    board: &Board,
    roll: [u8; 2],
    stakes: &Stakes,
    player: &Player,
    table: &mut Table,
) -> Result<(Board, Chances)> {
    table.boards.clear();
    table.boards.extend(
        table
            .plays
            .generate(board, roll)
            .iter()
            .map(|play| *play.next()),
    );
    if table.boards.is_empty() {
        table.boards.push(board.swapped());
    }
    player.evaluate(&table.boards, &mut table.scratch)?;
    let mut best = (f32::NEG_INFINITY, 0);
    for (i, chances) in table.scratch.out.iter().enumerate() {
        let equity = stakes.equity(&chances.flipped());
        if equity > best.0 {
            best = (equity, i);
        }
    }
    Ok((table.boards[best.1], table.scratch.out[best.1].flipped()))
}

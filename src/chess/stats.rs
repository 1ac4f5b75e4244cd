//! What a table holds: wins, draws and losses, longest mates, zugzwangs.

use super::generate::Raw;
use super::position::Position;
use super::{Score, Side, Table};
use crate::Result;
use crate::numbering::kings::Placement;

/// Statistics of one side to move. Positions are counted once under symmetry
/// and exchange of like men, without en-passant rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SideStats {
    /// Positions that the side to move wins, draws, and loses.
    pub counts: [u64; 3],
    /// The longest win, in plies, with a position.
    pub longest_win: Option<(u16, Position)>,
    /// The longest loss, in plies, with a position.
    pub longest_loss: Option<(u16, Position)>,
}

/// Statistics of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// White to move, then Black to move; none for a side that is not stored.
    pub sides: [Option<SideStats>; 2],
    /// Placements where having to move costs half a point (a draw instead of a
    /// win, then a loss instead of a draw) or a full point, for White or Black to
    /// move; none when one side is stored.
    pub zugzwangs: Option<[u64; 3]>,
    /// Numbers in the table.
    pub numbers: u64,
    /// Values of legal positions that the table stores.
    pub entries: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
}

impl Stats {
    /// Bits of the file for each stored value of a legal position.
    pub fn bits_per_entry(&self) -> f64 {
        self.file_bytes as f64 * 8.0 / self.entries.max(1) as f64
    }
}

impl Table {
    /// Reads the whole table and counts.
    ///
    /// # Errors
    /// As [`crate::table::Reader::get`].
    pub fn stats(&self) -> Result<Stats> {
        let raw = Raw::read(self)?;
        let symmetric = self.material()?.is_symmetric();
        let known = |side| self.coding(side).is_some() || symmetric;
        let mut sides = Side::BOTH.map(|side| known(side).then(SideStats::default));
        let mut zugzwangs = Side::BOTH.iter().all(|&s| known(s)).then_some([0; 3]);
        let mut entries = 0;
        for number in 0..self.reader().len() {
            let Some(placement) = self.placement(number) else {
                continue;
            };
            // Where nobody can be to move there is no position.
            let stored = |value: usize| raw.value(number, value) != 0;
            let present = (0..self.sides().len()).filter(|&v| stored(v)).count();
            entries += present as u64;
            if present == 0 && !symmetric {
                continue;
            }
            let scores = Side::BOTH.map(|side| raw.score(self, side, placement));
            let canonical = self.number(&placement) == Some(number);
            for (side, (stats, &score)) in Side::BOTH.iter().zip(sides.iter_mut().zip(&scores)) {
                if let Some(stats) = stats.as_mut().filter(|_| canonical && score.is_legal()) {
                    self.count(stats, &placement, *side, score);
                }
            }
            if let Some(zugzwangs) = zugzwangs.as_mut().filter(|_| canonical)
                && let Some(kind) = zugzwang(scores)
            {
                zugzwangs[kind] += 1;
            }
        }
        Ok(Stats {
            sides,
            zugzwangs,
            numbers: self.reader().len(),
            entries,
            file_bytes: self.reader().file_bytes(),
        })
    }

    fn count(&self, stats: &mut SideStats, placement: &Placement, side: Side, score: Score) {
        stats.counts[if score.is_win() {
            0
        } else if score.is_loss() {
            2
        } else {
            1
        }] += 1;
        let Some(plies) = score.plies() else { return };
        let longest = if score.is_win() {
            &mut stats.longest_win
        } else {
            &mut stats.longest_loss
        };
        if longest.is_none_or(|(most, _)| plies > most)
            && let Some(position) = Position::from_placement(self.men(), placement, side)
        {
            *longest = Some((plies, position));
        }
    }
}

/// Which kind of mutual zugzwang the two scores of a placement make.
fn zugzwang(scores: [Score; 2]) -> Option<usize> {
    if !scores.iter().all(|s| s.is_legal()) {
        return None;
    }
    let result = |s: Score| i32::from(s.is_win()) - i32::from(s.is_loss());
    // White's result with White to move and with Black to move.
    match (result(scores[0]), -result(scores[1])) {
        (0, 1) => Some(0),
        (-1, 0) => Some(1),
        (-1, 1) => Some(2),
        _ => None,
    }
}

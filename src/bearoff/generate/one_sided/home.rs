//! The home board: the positions from which chequers are borne off, whole in
//! memory and in number order, since every play leads to a lower number.

use super::arithmetic::Arithmetic;
use super::choice::{Best, Choice, RowId};
use crate::Result;
use crate::numbering::{Multiset, Numbering};

/// Points from which a chequer may leave.
pub(crate) const HOME_POINTS: usize = 6;

/// Rows and best moves of every position of the home board.
pub(crate) struct Home<A: Arithmetic> {
    pub(crate) numbering: Multiset,
    pub(crate) rows: Vec<A::Row>,
    pub(crate) best: Vec<Best<A::Mean>>,
}

impl<A: Arithmetic> Home<A> {
    /// All positions of up to `chequers` on `points`, which are at most 6.
    /// Those with fewer than `from` count as off: 1 asks for the rolls until
    /// the last chequer leaves, `chequers` until the first one does.
    ///
    /// A row's id is its number plus `base`.
    pub(crate) fn new(points: usize, chequers: u8, from: u8, base: RowId) -> Result<Self> {
        let numbering = Multiset::new(points.min(HOME_POINTS), chequers)?;
        let off = Best::settled(A::mean(&A::off()), base);
        let settled = numbering.first_with(from) as usize;
        let mut home = Home {
            rows: vec![A::off(); settled],
            best: vec![off; settled],
            numbering,
        };
        home.rows
            .reserve_exact(home.numbering.len() as usize - settled);
        home.best
            .reserve_exact(home.numbering.len() as usize - settled);
        let mut counts = [0; HOME_POINTS];
        let counts = &mut counts[..home.numbering.points()];
        home.numbering.unrank(settled as u64, counts)?;
        for number in settled..home.numbering.len() as usize {
            home.push(counts, number as RowId + base, base)?;
            home.numbering.advance(counts);
        }
        Ok(home)
    }

    /// Computes the next position.
    fn push(&mut self, counts: &[u8], id: RowId, base: RowId) -> Result<()> {
        let highest = counts.iter().rposition(|&c| c > 0).unwrap_or(0);
        // `after[die][..found[die]]`: the numbers of the positions after a move.
        let mut after = [[0u32; HOME_POINTS]; 6];
        let mut found = [0; 6];
        let mut moved = [0; HOME_POINTS];
        let moved = &mut moved[..counts.len()];
        for source in (0..=highest).rev().filter(|&s| counts[s] > 0) {
            for die in 0..6 {
                moved.copy_from_slice(counts);
                moved[source] -= 1;
                // The die is `die + 1`, the point `source + 1`.
                if source > die {
                    moved[source - die - 1] += 1;
                } else if source < die && source < highest {
                    continue;
                }
                after[die][found[die]] = self.numbering.rank(moved)? as u32;
                found[die] += 1;
            }
        }
        let best = &self.best;
        let choice =
            Choice::<A>::among(|die| after[die][..found[die]].iter().map(|&n| &best[n as usize]));
        let rows = choice.rolls().map(|id| &self.rows[(id - base) as usize]);
        let row = A::average(&rows);
        let mean = A::mean(&row);
        let mut told = Best::settled(mean, id);
        choice.tell(mean, id, &mut told);
        self.rows.push(row);
        self.best.push(told);
        Ok(())
    }
}

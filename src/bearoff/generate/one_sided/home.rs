//! The home board: the positions from which chequers are borne off, whole in
//! memory and in number order, since every play leads to a lower number.

use super::arithmetic::Arithmetic;
use super::choice::{Choice, Moves, Repeated, RowId};
use crate::Result;
use crate::numbering::{Multiset, Numbering};

/// Points from which a chequer may leave.
pub(crate) const HOME_POINTS: usize = 6;

/// Rows and best moves of every position of the home board.
pub(crate) struct Home<A: Arithmetic> {
    pub(crate) numbering: Multiset,
    pub(crate) rows: Vec<A::Row>,
    pub(crate) moves: Vec<Moves<A::Mean>>,
    pub(crate) repeated: Vec<[Repeated<A::Mean>; 6]>,
}

impl<A: Arithmetic> Home<A> {
    /// Bytes of memory for a table of up to `chequers`.
    pub(crate) fn bytes(points: usize, chequers: u8) -> Result<u64> {
        let numbering = Multiset::new(points.min(HOME_POINTS), chequers)?;
        let best = size_of::<Moves<A::Mean>>() + 6 * size_of::<Repeated<A::Mean>>();
        Ok(numbering.len() * (size_of::<A::Row>() + best) as u64)
    }

    /// All positions of up to `chequers` on `points`, which are at most 6.
    /// Those with fewer than `from` count as off: 1 asks for the rolls until
    /// the last chequer leaves, `chequers` until the first one does.
    ///
    /// A row's id is its number plus `base`.
    pub(crate) fn new(points: usize, chequers: u8, from: u8, base: RowId) -> Result<Self> {
        let numbering = Multiset::new(points.min(HOME_POINTS), chequers)?;
        let off = A::off();
        let mean = A::mean(&off);
        let settled = numbering.first_with(from) as usize;
        let mut home = Home {
            rows: vec![off; settled],
            moves: vec![Moves::settled(mean, base); settled],
            repeated: vec![[Repeated::settled(mean, base); 6]; settled],
            numbering,
        };
        let more = home.numbering.len() as usize - settled;
        home.rows.reserve_exact(more);
        home.moves.reserve_exact(more);
        home.repeated.reserve_exact(more);
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
        let mut choice = Choice::none(A::WORST);
        for die in 0..6 {
            let after = after[die][..found[die]].iter().map(|&n| n as usize);
            choice.among(die, after.map(|n| (&self.moves[n], &self.repeated[n][die])));
        }
        let rows = choice.rolls().map(|id| &self.rows[(id - base) as usize]);
        let row = A::average(&rows);
        let mut moves = choice.moves(id);
        moves.stay(A::mean(&row));
        self.moves.push(moves);
        self.repeated
            .push(std::array::from_fn(|die| choice.repeated(die)));
        self.rows.push(row);
        Ok(())
    }
}

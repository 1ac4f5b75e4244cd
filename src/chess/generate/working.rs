//! A finished ending in the generator's own form: both sides to move, one
//! score a placement, in memory.

use rayon::prelude::*;

use super::layout::Layout;
use crate::Result;
use crate::chess::{Coding, Score, Table};
use crate::numbering::kings::board::bit;
use crate::numbering::kings::men::{Man, Material, Side};
use crate::numbering::kings::{MAX_OTHERS, Placement};

/// All scores of one ending, by side to move.
#[derive(Debug)]
pub struct Working {
    pub(crate) material: Material,
    pub(crate) layout: Layout,
    /// For each side to move 64 scores a word.
    pub(crate) scores: [Vec<Score>; 2],
}

impl Working {
    /// The material, in canonical form.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// The score for `mover` to move with the kings and the men (in the order of
    /// [`Material::numbered_men`]) on these squares, without en-passant rights;
    /// [`Score::ILLEGAL`] where there is no such position.
    #[inline]
    pub fn score(&self, mover: Side, kings: [u8; 2], men: &[u8]) -> Score {
        match self.layout.locate(kings, men) {
            Some((word, last)) => self.scores[mover.index()][word * 64 + usize::from(last)],
            None => Score::ILLEGAL,
        }
    }

    /// Calls `visit` with the kings' squares, the men's squares and both sides'
    /// scores of every placement, each only once under symmetry and exchange of
    /// like men; placements with men on the same square are left out.
    pub fn for_each(&self, mut visit: impl FnMut([u8; 2], &[u8], [Score; 2])) {
        let layout = &self.layout;
        let n = layout.men.len();
        for segment in 0..layout.segments.len() {
            for local in 0..layout.words_per_segment {
                let Some(word) = layout.word(segment, local) else {
                    continue;
                };
                let mut at = word.squares;
                for last in 0..64u8 {
                    at[n - 1] = last;
                    if word.fixed & bit(last) == 0 && layout.is_canonical(&word, &at[..n]) {
                        let index = word.index * 64 + usize::from(last);
                        visit(word.kings, &at[..n], [0, 1].map(|s| self.scores[s][index]));
                    }
                }
            }
        }
    }
}

impl Working {
    /// How many distances occur with each side to move.
    pub fn codings(&self) -> [Coding; 2] {
        [0, 1].map(|side| {
            let longest = |wins: bool| {
                let scores = self.scores[side].par_iter();
                let plies = scores
                    .filter(|s| s.is_win() == wins)
                    .filter_map(|s| s.plies());
                plies.max().map_or(0, |n| n / 2 + 1)
            };
            Coding {
                losses: longest(false),
                wins: longest(true),
            }
        })
    }
}

impl Working {
    /// Reads a finished ending back from its table, which holds both sides to
    /// move, or one where the two have the same men.
    pub(crate) fn from_table(table: &Table) -> Result<Self> {
        let material = table.material()?;
        let layout = Layout::new(&material);
        let raw = Raw::read(table)?;
        let n = layout.men.len();
        let scores = Side::BOTH.map(|side| {
            let mut scores = vec![Score::ILLEGAL; layout.words() * 64];
            let size = layout.words_per_segment * 64;
            scores
                .par_chunks_mut(size)
                .enumerate()
                .for_each(|(segment, part)| {
                    for local in 0..layout.words_per_segment {
                        let Some(word) = layout.word(segment, local) else {
                            continue;
                        };
                        for (slot, score) in (0..64u8).zip(&mut part[local * 64..][..64]) {
                            let mut men = word.squares;
                            men[n - 1] = slot;
                            if word.fixed & bit(slot) == 0 {
                                *score = raw.score(
                                    table,
                                    side,
                                    Placement {
                                        kings: word.kings,
                                        men,
                                    },
                                );
                            }
                        }
                    }
                });
            scores
        });
        Ok(Self {
            material,
            layout,
            scores,
        })
    }
}

/// All raw values of a table.
pub(crate) struct Raw {
    values: Vec<u16>,
    width: usize,
}

impl Raw {
    pub(crate) fn read(table: &Table) -> Result<Self> {
        let reader = table.reader();
        let width = reader.width();
        let mut values = Vec::with_capacity(reader.len() as usize * width);
        for chunk in reader.chunks() {
            values.extend(chunk?.values.iter().map(|&v| v as u16));
        }
        Ok(Self { values, width })
    }

    /// One raw value of a number.
    pub(crate) fn value(&self, number: u64, value: usize) -> u16 {
        self.values
            .get(number as usize * self.width + value)
            .copied()
            .unwrap_or(0)
    }

    /// The score of a placement; with one side stored of two that have the same
    /// men the other is seen from its own end of the board.
    pub(crate) fn score(&self, table: &Table, side: Side, placement: Placement) -> Score {
        let (side, placement) = match table.coding(side) {
            Some(_) => (side, placement),
            None => (side.other(), swapped(table.men(), &placement)),
        };
        let value = table.sides().iter().position(|&s| s == side);
        let (Some(value), Some(coding)) = (value, table.coding(side)) else {
            return Score::ILLEGAL;
        };
        let raw = table
            .number(&placement)
            .and_then(|n| self.values.get(n as usize * self.width + value));
        raw.map_or(Score::ILLEGAL, |&raw| coding.score(u32::from(raw)))
    }
}

/// The placement with the colours exchanged, for men of which each side has the
/// same.
fn swapped(men: &[Man], placement: &Placement) -> Placement {
    let [white, black] = placement.kings;
    let mut out = Placement {
        kings: [black ^ 56, white ^ 56],
        men: [0; MAX_OTHERS],
    };
    let mut used = [false; MAX_OTHERS];
    for (man, square) in men.iter().zip(&mut out.men) {
        let own = (0..men.len()).find(|&j| !used[j] && men[j] == man.recoloured());
        if let Some(j) = own {
            used[j] = true;
            *square = placement.men[j] ^ 56;
        }
    }
    out
}

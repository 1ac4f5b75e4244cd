//! A finished ending in the generator's own form: both sides to move, one
//! score a placement, in memory.

use rayon::prelude::*;

use super::layout::Layout;
use crate::chess::{Coding, Score};
use crate::numbering::kings::board::bit;
use crate::numbering::kings::men::{Material, Side};

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

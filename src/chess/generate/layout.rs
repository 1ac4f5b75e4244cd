//! The working layout: all placements of one man are the 64 bits of a word.
//!
//! A word fixes the two kings and every other man but the last; its bit `s`
//! is the position with the last man on square `s`. Move generation forward
//! and backward then works on 64 positions at a time.

use crate::numbering::kings::board::{Reflection, bit};
use crate::numbering::kings::men::{Man, Material, Side};
use crate::numbering::kings::segments::{Segments, Symmetry};

/// Most men beside the kings.
pub(crate) const MAX_OTHERS: usize = Material::MAX_MEN - 2;

/// Where the words of an ending lie.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The men beside the kings; the last one is the word's.
    pub(crate) men: Vec<Man>,
    pub(crate) segments: &'static Segments,
    /// Words between neighbouring squares of each man but the last.
    pub(crate) strides: Vec<usize>,
    pub(crate) words_per_segment: usize,
}

/// One word's fixed men.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    /// Index of the word in the whole table.
    pub(crate) index: usize,
    pub(crate) kings: [u8; 2],
    /// Squares of all men but the last.
    pub(crate) squares: [u8; MAX_OTHERS],
    /// Squares taken by the kings and these men.
    pub(crate) fixed: u64,
}

fn factor(man: Man) -> usize {
    man.squares() as usize
}

/// The first square a man may stand on.
fn base(man: Man) -> u8 {
    if man.squares() == 48 { 8 } else { 0 }
}

impl Layout {
    pub(crate) fn new(material: &Material) -> Self {
        let men = material.numbered_men();
        let symmetry = if material.has_pawns() {
            Symmetry::Half
        } else {
            Symmetry::TriangleTight
        };
        let fixed = &men[..men.len() - 1];
        let mut strides = vec![1; fixed.len()];
        for i in (1..fixed.len()).rev() {
            strides[i - 1] = strides[i] * factor(fixed[i]);
        }
        let words_per_segment = fixed.iter().map(|&m| factor(m)).product();
        Self {
            men,
            segments: Segments::of(symmetry),
            strides,
            words_per_segment,
        }
    }

    /// The last man, whose squares are the bits.
    pub(crate) fn last(&self) -> Man {
        self.men[self.men.len() - 1]
    }

    /// The men that a word fixes.
    pub(crate) fn fixed_men(&self) -> &[Man] {
        &self.men[..self.men.len() - 1]
    }

    pub(crate) fn words(&self) -> usize {
        self.segments.len() * self.words_per_segment
    }

    /// The word `local` of `segment`; none when two of its men share a square.
    pub(crate) fn word(&self, segment: usize, local: usize) -> Option<Word> {
        let kings = self.segments.kings(segment);
        let mut fixed = bit(kings[0]) | bit(kings[1]);
        let mut squares = [0; MAX_OTHERS];
        let mut rest = local;
        for (i, &man) in self.fixed_men().iter().enumerate() {
            let square = (rest / self.strides[i]) as u8 + base(man);
            rest %= self.strides[i];
            if fixed & bit(square) != 0 {
                return None;
            }
            fixed |= bit(square);
            squares[i] = square;
        }
        Some(Word {
            index: segment * self.words_per_segment + local,
            kings,
            squares,
            fixed,
        })
    }

    /// Word and bit of a position with the men's squares in the layout's order;
    /// none when the kings touch.
    #[inline(always)]
    pub(crate) fn locate(&self, kings: [u8; 2], squares: &[u8]) -> Option<(usize, u8)> {
        let entry = self.segments.find(kings[0], kings[1])?;
        let mut word = usize::from(entry.segment) * self.words_per_segment;
        for ((&man, &square), &stride) in self.fixed_men().iter().zip(squares).zip(&self.strides) {
            word += usize::from(entry.reflection.square(square) - base(man)) * stride;
        }
        Some((word, entry.reflection.square(squares[self.men.len() - 1])))
    }

    /// The square of the king of `side` in a word.
    #[inline(always)]
    pub(crate) fn king(word: &Word, side: Side) -> u8 {
        word.kings[side.index()]
    }
}

impl Layout {
    /// Whether the placement is the one that stands for all its images under
    /// exchange of like men and, with both kings on the long diagonal, under
    /// reflection there.
    pub(crate) fn is_canonical(&self, word: &Word, at: &[u8]) -> bool {
        for i in 1..at.len() {
            if self.men[i] == self.men[i - 1] && at[i] < at[i - 1] {
                return false;
            }
        }
        let level = |s: u8| (s >> 3) == (s & 7);
        if self.segments.len() != Segments::of(Symmetry::TriangleTight).len()
            || !word.kings.iter().all(|&k| level(k))
        {
            return true;
        }
        let mut image: [u8; MAX_OTHERS] = [0; MAX_OTHERS];
        for (to, &from) in image.iter_mut().zip(at) {
            *to = Reflection(Reflection::DIAGONAL).square(from);
        }
        let image = &mut image[..at.len()];
        let mut start = 0;
        for i in 1..=at.len() {
            if i == at.len() || self.men[i] != self.men[start] {
                image[start..i].sort_unstable();
                start = i;
            }
        }
        at <= &*image
    }
}

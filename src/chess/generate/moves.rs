//! Quiet moves of one side on whole words, and attacks on a king.
//!
//! All moves here keep the material. They are reversible as sets: the answer
//! of [`Moves::into`] is "from which of these 64 positions does a move lead
//! into the set", which serves as move generation (with the set of escapes)
//! and as un-move generation (with the set of new losses).

use super::en_passant::{EnPassant, Which};
use super::layout::{Layout, Word};
use crate::numbering::kings::board::{KING, attackers, attacks, between, bit, spread, squares};
use crate::numbering::kings::men::{Kind, Side};

/// A set of positions with the opponent to move, as it is looked up.
#[derive(Clone, Copy)]
pub(crate) struct Goal<'a> {
    /// One bit a position, in the layout's words.
    pub(crate) set: &'a [u64],
    /// Its continuation for positions with an en-passant right.
    pub(crate) en_passant: &'a EnPassant,
    pub(crate) which: Which,
}

/// Single pawn steps: the squares in front of `pawns`.
#[inline(always)]
pub(crate) fn ahead(side: Side, pawns: u64) -> u64 {
    match side {
        Side::White => pawns << 8,
        Side::Black => pawns >> 8,
    }
}

/// Squares from which pawns may step twice.
pub(crate) const fn home(side: Side) -> u64 {
    match side {
        Side::White => 0xff00,
        Side::Black => 0x00ff_0000_0000_0000,
    }
}

/// The bits of a word for which `by` attacks `target`.
pub(crate) fn attacked(layout: &Layout, word: &Word, by: Side, target: u8) -> u64 {
    let mut bits = 0;
    for (man, &square) in layout.fixed_men().iter().zip(&word.squares) {
        if man.side == by && attacks(man.kind, by, square, word.fixed) & bit(target) != 0 {
            bits |= !between(square, target);
        }
    }
    let last = layout.last();
    if last.side == by {
        bits |= attackers(last.kind, by, target, word.fixed);
    }
    bits
}

/// The bits of a word from which a quiet move of `side` leads into the goal;
/// with all bits of `enough` found, the search stops early.
pub(crate) fn into(layout: &Layout, word: &Word, side: Side, goal: Goal<'_>, enough: u64) -> u64 {
    let mut found = last_man(layout, word, side, goal);
    if enough & !found == 0 {
        return found;
    }
    for (i, man) in layout.fixed_men().iter().enumerate() {
        if man.side != side {
            continue;
        }
        let from = word.squares[i];
        let stride = layout.strides[i];
        let reached = |to: u8| word.index + usize::from(to) * stride - usize::from(from) * stride;
        if man.kind == Kind::Pawn {
            let one = ahead(side, bit(from)) & !word.fixed & !0xff00_0000_0000_00ff;
            if one != 0 {
                found |= goal.set[reached(one.trailing_zeros() as u8)];
                if bit(from) & home(side) != 0 {
                    let two = ahead(side, one) & !word.fixed;
                    if two != 0 {
                        let index = reached(two.trailing_zeros() as u8);
                        found |=
                            goal.en_passant.after(i, index, goal.set[index], goal.which) & !one;
                    }
                }
            }
        } else {
            for to in squares(attacks(man.kind, side, from, word.fixed) & !word.fixed) {
                found |= goal.set[reached(to)] & !between(from, to);
            }
        }
        if enough & !found == 0 {
            return found;
        }
    }
    found | king(layout, word, side, goal)
}

fn last_man(layout: &Layout, word: &Word, side: Side, goal: Goal<'_>) -> u64 {
    let last = layout.last();
    if last.side != side {
        return 0;
    }
    let goals = goal.set[word.index];
    if last.kind != Kind::Pawn {
        return if goals == 0 {
            0
        } else {
            spread(last.kind, goals, !word.fixed)
        };
    }
    let empty = !word.fixed;
    let twice = goal
        .en_passant
        .after(layout.men.len() - 1, word.index, goals, goal.which);
    let back = side.other();
    ahead(back, goals) & empty | ahead(back, ahead(back, twice) & empty) & home(side) & empty
}

fn king(layout: &Layout, word: &Word, side: Side, goal: Goal<'_>) -> u64 {
    let mut found = 0;
    let own = word.kings[side.index()];
    for to in squares(KING[usize::from(own)] & !word.fixed) {
        let mut kings = word.kings;
        kings[side.index()] = to;
        let Some(entry) = layout.segments.find(kings[0], kings[1]) else {
            continue;
        };
        let mut index = usize::from(entry.segment) * layout.words_per_segment;
        if entry.reflection.0 == 0 {
            index += word.index % layout.words_per_segment;
            found |= goal.set[index];
            continue;
        }
        for ((man, &square), &stride) in layout
            .fixed_men()
            .iter()
            .zip(&word.squares)
            .zip(&layout.strides)
        {
            let first = if man.kind == Kind::Pawn { 8 } else { 0 };
            index += usize::from(entry.reflection.square(square) - first) * stride;
        }
        let set = goal.set[index];
        if set != 0 {
            found |= entry.reflection.preimage(set);
        }
    }
    found
}

//! Positions with an en-passant right while a table is made.
//!
//! Such a position has the moves of the same placement without the right and
//! the en-passant captures besides, so it needs no number in the table: its
//! value follows from the placement's and the captures'. The generator keeps
//! it as a node of its own, since a double step leads to it and not to the
//! placement without the right.

use super::convert::Conversions;
use super::layout::{Layout, Word};
use super::moves::{ahead, home};
use crate::chess::Score;
use crate::numbering::kings::board::{FILE_A, FILE_H, bit, squares};
use crate::numbering::kings::men::{Kind, Side};

/// Which of a node's sets continues a set of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// All legal positions.
    Legal,
    /// Not known to be won for the player to move.
    NotWon,
    /// Found lost in the last wave.
    Lost,
}

/// The positions of one word after the double step of one pawn.
#[derive(Debug)]
struct Node {
    word: usize,
    /// Positions with at least one legal en-passant capture.
    mask: u64,
    not_won: u64,
    undecided: u64,
    lost: u64,
    /// Best en-passant capture.
    captures: [Score; 64],
}

/// All nodes, by the pawn that has just moved.
#[derive(Debug, Default)]
pub(crate) struct EnPassant {
    /// For each man, empty or an index into its nodes for each word.
    index: Vec<Vec<u32>>,
    nodes: Vec<Vec<Node>>,
}

const NO_NODE: u32 = u32::MAX;

/// Squares beside `set` on the same rank.
fn beside(set: u64) -> u64 {
    (set & !FILE_A) >> 1 | (set & !FILE_H) << 1
}

impl EnPassant {
    /// Finds all nodes; `legal[s]` are the legal positions with s to move.
    pub(crate) fn new(layout: &Layout, conversions: &Conversions, legal: [&[u64]; 2]) -> Self {
        let mut all = Self {
            index: vec![Vec::new(); layout.men.len()],
            nodes: layout.men.iter().map(|_| Vec::new()).collect(),
        };
        for (pushed, man) in layout.men.iter().enumerate() {
            let capturer = man.side.other();
            let pawns = |side| {
                layout
                    .men
                    .iter()
                    .any(|m| m.side == side && m.kind == Kind::Pawn)
            };
            if man.kind != Kind::Pawn || !pawns(capturer) {
                continue;
            }
            let mut index = vec![NO_NODE; layout.words()];
            for segment in 0..layout.segments.len() {
                for local in 0..layout.words_per_segment {
                    let Some(word) = layout.word(segment, local) else {
                        continue;
                    };
                    let bits = legal[capturer.index()][word.index];
                    if let Some(node) = node(layout, conversions, &word, pushed, bits) {
                        index[word.index] = all.nodes[pushed].len() as u32;
                        all.nodes[pushed].push(node);
                    }
                }
            }
            all.index[pushed] = index;
        }
        all
    }

    /// The set of a word as seen by a pawn that reaches it by a double step.
    #[inline(always)]
    pub(crate) fn after(&self, pawn: usize, word: usize, set: u64, which: Which) -> u64 {
        let Some(&slot) = self.index.get(pawn).and_then(|index| index.get(word)) else {
            return set;
        };
        let Some(node) = self.nodes[pawn].get(slot as usize) else {
            return set;
        };
        let own = match which {
            Which::Legal => node.mask,
            Which::NotWon => node.not_won,
            Which::Lost => node.lost,
        };
        set & !node.mask | own
    }

    /// The most plies of any decided capture.
    pub(crate) fn longest(&self) -> u16 {
        let scores = self.nodes.iter().flatten().flat_map(|n| n.captures.iter());
        scores.filter_map(|s| s.plies()).max().unwrap_or(0)
    }

    /// After the wave of wins in `plies`: the nodes that are won by it.
    /// `not_won[s]` are the table's sets.
    pub(crate) fn win(&mut self, layout: &Layout, plies: u16, not_won: [&[u64]; 2]) -> bool {
        let mut any = false;
        for (man, nodes) in layout.men.iter().zip(&mut self.nodes) {
            let mover = man.side.other();
            for node in nodes {
                let mut won = !not_won[mover.index()][node.word];
                for s in squares(node.undecided) {
                    if node.captures[usize::from(s)] == Score::win(plies) {
                        won |= bit(s);
                    }
                }
                won &= node.undecided;
                node.undecided &= !won;
                node.not_won &= !won;
                any |= won != 0;
            }
        }
        any
    }

    /// After the wave of losses in `plies`: the nodes that are lost by it.
    /// `no_way_out[s]` are the table's positions that are lost by then, or where
    /// only the capture can be played.
    pub(crate) fn lose(
        &mut self,
        layout: &Layout,
        plies: u16,
        no_way_out: impl Fn(Side, usize) -> u64,
    ) -> bool {
        let mut any = false;
        for (man, nodes) in layout.men.iter().zip(&mut self.nodes) {
            for node in nodes {
                node.lost = 0;
                let candidates = node.undecided & no_way_out(man.side.other(), node.word);
                for s in squares(candidates) {
                    let capture = node.captures[usize::from(s)];
                    if capture.is_loss() && capture <= Score::loss(plies) {
                        node.lost |= bit(s);
                    }
                }
                node.undecided &= !node.lost;
                any |= node.lost != 0;
            }
        }
        any
    }
}

/// The node of a word after the double step of man `pushed`, if there is one.
fn node(
    layout: &Layout,
    conversions: &Conversions,
    word: &Word,
    pushed: usize,
    legal: u64,
) -> Option<Node> {
    let side = layout.men[pushed].side;
    let last = layout.men.len() - 1;
    let back = side.other();
    // The squares where the pawn may be now, and the word's bits that go with it.
    let landing = ahead(side, ahead(side, home(side)));
    let mut node = Node {
        word: word.index,
        mask: 0,
        not_won: 0,
        undecided: 0,
        lost: 0,
        captures: [Score::NONE; 64],
    };
    for b in squares(legal) {
        let square = if pushed == last {
            b
        } else {
            word.squares[pushed]
        };
        if bit(square) & landing == 0 {
            continue;
        }
        let occupied = word.fixed | bit(b);
        let passed = ahead(back, bit(square));
        if (passed | ahead(back, passed)) & occupied != 0 {
            continue;
        }
        let mut at = word.squares;
        at[last] = b;
        for (i, man) in layout.men.iter().enumerate() {
            if man.side == side || man.kind != Kind::Pawn || beside(bit(square)) & bit(at[i]) == 0 {
                continue;
            }
            let mut then = at;
            then[i] = passed.trailing_zeros() as u8;
            let score = conversions.capture(pushed).score(side, word.kings, &then);
            if score.is_legal() {
                node.mask |= bit(b);
                let best = &mut node.captures[usize::from(b)];
                *best = (*best).max(score.before());
            }
        }
    }
    node.not_won = node.mask;
    node.undecided = node.mask;
    (node.mask != 0).then_some(node)
}

//! Captures and promotions: the moves that lead into another ending.

use std::sync::Arc;

use super::layout::{Layout, MAX_OTHERS, Word};
use super::moves::ahead;
use super::working::Working;
use crate::chess::Score;
use crate::numbering::kings::board::{
    KING, PAWN_SQUARES, attackers, attacks, between, bit, pawn_attacks, squares,
};
use crate::numbering::kings::men::{Kind, Man, Material, Side};
use crate::numbering::kings::segments::{Segments, Symmetry};
use crate::{Error, Result};

/// The way from an ending's men to those of the ending that a move leads to.
#[derive(Debug)]
pub(crate) struct Conversion {
    /// None when only the kings are left.
    table: Option<Arc<Working>>,
    /// Which of our men is each man of the other table.
    source: [u8; MAX_OTHERS],
    /// Whether the other table has the colours the other way round.
    swap: bool,
}

impl Conversion {
    /// Score of the position after the move, for `mover` to move there; our
    /// men's squares are given, the missing man's is not looked at.
    #[inline]
    pub(crate) fn score(&self, mover: Side, kings: [u8; 2], at: &[u8; MAX_OTHERS]) -> Score {
        let Some(table) = &self.table else {
            let apart = Segments::of(Symmetry::Half)
                .find(kings[0], kings[1])
                .is_some();
            return if apart { Score::DRAW } else { Score::ILLEGAL };
        };
        let mut to = [0; MAX_OTHERS];
        let n = table.layout.men.len();
        if self.swap {
            for k in 0..n {
                to[k] = at[usize::from(self.source[k])] ^ 56;
            }
            table.score(mover.other(), [kings[1] ^ 56, kings[0] ^ 56], &to[..n])
        } else {
            for k in 0..n {
                to[k] = at[usize::from(self.source[k])];
            }
            table.score(mover, kings, &to[..n])
        }
    }
}

/// The material after man `captured` has gone and man `promoted` has become
/// another kind.
pub(crate) fn after(
    men: &[Man],
    captured: Option<usize>,
    promoted: Option<(usize, Kind)>,
) -> Vec<(usize, Man)> {
    men.iter()
        .enumerate()
        .filter(|&(i, _)| Some(i) != captured)
        .map(|(i, &man)| match promoted {
            Some((p, kind)) if p == i => (i, Man { kind, ..man }),
            _ => (i, man),
        })
        .collect()
}

/// The material of a list of men.
pub(crate) fn material(men: &[(usize, Man)]) -> Result<Material> {
    let of = |side| -> Vec<Kind> {
        men.iter()
            .filter(|(_, m)| m.side == side)
            .map(|(_, m)| m.kind)
            .collect()
    };
    Material::new(&of(Side::White), &of(Side::Black))
}

/// All conversions of an ending.
#[derive(Debug)]
pub(crate) struct Conversions {
    /// By captured man (the last row: none), then by 5 × promoted man + kind,
    /// or 0 for none.
    table: Vec<Vec<Option<Conversion>>>,
}

fn promotion_slot(promotion: Option<(usize, Kind)>) -> usize {
    promotion.map_or(0, |(man, kind)| {
        1 + man * 4 + (kind as usize - Kind::Queen as usize)
    })
}

impl Conversions {
    /// Finds the tables that captures and promotions lead to with `find`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when one is missing.
    pub(crate) fn new(
        layout: &Layout,
        find: &dyn Fn(&Material) -> Option<Arc<Working>>,
    ) -> Result<Self> {
        let men = &layout.men;
        let mut table = Vec::new();
        for captured in (0..men.len()).map(Some).chain([None]) {
            let mut row: Vec<Option<Conversion>> = Vec::new();
            row.resize_with(1 + 4 * men.len(), || None);
            for promotion in promotions(men, captured) {
                if captured.is_none() && promotion.is_none() {
                    continue;
                }
                let left = after(men, captured, promotion);
                row[promotion_slot(promotion)] = Some(conversion(&left, find)?);
            }
            table.push(row);
        }
        Ok(Self { table })
    }

    fn get(&self, captured: Option<usize>, promotion: Option<(usize, Kind)>) -> &Conversion {
        let row = captured.unwrap_or(self.table.len() - 1);
        self.table[row][promotion_slot(promotion)]
            .as_ref()
            .expect("every conversion was found")
    }

    /// The conversion by a capture of man `captured`.
    pub(crate) fn capture(&self, captured: usize) -> &Conversion {
        self.get(Some(captured), None)
    }
}

/// The promotions that may go with the capture of `captured`.
pub(crate) fn promotions(men: &[Man], captured: Option<usize>) -> Vec<Option<(usize, Kind)>> {
    let mut all = vec![None];
    for (i, man) in men.iter().enumerate() {
        let takes = captured.is_none_or(|c| men[c].side != man.side && men[c].kind != Kind::Pawn);
        if man.kind == Kind::Pawn && takes {
            all.extend(Kind::PROMOTIONS.map(|kind| Some((i, kind))));
        }
    }
    all
}

fn conversion(
    left: &[(usize, Man)],
    find: &dyn Fn(&Material) -> Option<Arc<Working>>,
) -> Result<Conversion> {
    let (canonical, swap) = material(left)?.canonical();
    let mut source = [0; MAX_OTHERS];
    if left.is_empty() {
        return Ok(Conversion {
            table: None,
            source,
            swap,
        });
    }
    let table = find(&canonical)
        .ok_or_else(|| Error::invalid(format!("{canonical} is needed and has not been made")))?;
    let mut used = vec![false; left.len()];
    for (k, &man) in table.layout.men.iter().enumerate() {
        let wanted = if swap { man.recoloured() } else { man };
        let found = (0..left.len()).find(|&j| !used[j] && left[j].1 == wanted);
        let j = found.expect("the material is the same");
        used[j] = true;
        source[k] = left[j].0 as u8;
    }
    Ok(Conversion {
        table: Some(table),
        source,
        swap,
    })
}

/// For each of a word's positions in `legal`, the best capture or promotion of
/// `side`; [`Score::NONE`] where there is none.
pub(crate) fn best(
    layout: &Layout,
    conversions: &Conversions,
    word: &Word,
    side: Side,
    legal: u64,
) -> [Score; 64] {
    let mut search = Search {
        layout,
        conversions,
        word,
        side,
        legal,
        best: [Score::NONE; 64],
    };
    search.captures(None, Kind::King, word.kings[side.index()]);
    for (i, man) in layout.fixed_men().iter().enumerate() {
        if man.side == side {
            search.captures(Some(i), man.kind, word.squares[i]);
        }
    }
    search.last_man();
    search.best
}

struct Search<'a> {
    layout: &'a Layout,
    conversions: &'a Conversions,
    word: &'a Word,
    side: Side,
    legal: u64,
    best: [Score; 64],
}

impl Search<'_> {
    /// The man on `from` (none: the king) goes to `to`, for all of `bits`.
    fn play(&mut self, mover: Option<usize>, to: u8, captured: Option<usize>, bits: u64) {
        let last = self.layout.men.len() - 1;
        let (mut kings, mut at) = (self.word.kings, self.word.squares);
        match mover {
            None => kings[self.side.index()] = to,
            Some(man) => at[man] = to,
        }
        let promotes = mover
            .filter(|&man| self.layout.men[man].kind == Kind::Pawn && bit(to) & PAWN_SQUARES == 0);
        let kinds: &[Kind] = if promotes.is_some() {
            &Kind::PROMOTIONS
        } else {
            &[Kind::King]
        };
        for &kind in kinds {
            let conversion = self
                .conversions
                .get(captured, promotes.map(|man| (man, kind)));
            let then = self.side.other();
            let constant = mover == Some(last) || captured == Some(last);
            let mut score = if constant {
                conversion.score(then, kings, &at)
            } else {
                Score::NONE
            };
            for b in squares(bits) {
                if !constant {
                    at[last] = b;
                    score = conversion.score(then, kings, &at);
                }
                if score.is_legal() {
                    let best = &mut self.best[usize::from(b)];
                    *best = (*best).max(score.before());
                }
            }
        }
    }

    /// Captures (and promotions) of a man that the word fixes.
    fn captures(&mut self, mover: Option<usize>, kind: Kind, from: u8) {
        let reach = match kind {
            Kind::King => KING[usize::from(from)],
            _ => attacks(kind, self.side, from, self.word.fixed),
        };
        for (j, man) in self.layout.fixed_men().iter().enumerate() {
            let to = self.word.squares[j];
            if man.side != self.side && reach & bit(to) != 0 {
                self.play(mover, to, Some(j), self.legal & !between(from, to));
            }
        }
        let last = self.layout.men.len() - 1;
        if self.layout.last().side != self.side {
            for to in squares(reach & self.legal) {
                self.play(mover, to, Some(last), bit(to));
            }
        }
        if kind == Kind::Pawn {
            let to = ahead(self.side, bit(from)) & !self.word.fixed & !PAWN_SQUARES;
            if to != 0 {
                self.play(mover, to.trailing_zeros() as u8, None, self.legal & !to);
            }
        }
    }

    /// Captures and promotions of the last man.
    fn last_man(&mut self) {
        let last = self.layout.men.len() - 1;
        let man = self.layout.last();
        if man.side != self.side {
            return;
        }
        for (j, other) in self.layout.fixed_men().iter().enumerate() {
            if other.side != self.side {
                let to = self.word.squares[j];
                let from = attackers(man.kind, man.side, to, self.word.fixed) & self.legal;
                debug_assert!(
                    man.kind != Kind::Pawn || from & !pawn_attacks(man.side.other(), bit(to)) == 0
                );
                if from != 0 {
                    self.play(Some(last), to, Some(j), from);
                }
            }
        }
        if man.kind == Kind::Pawn {
            let goals = ahead(self.side, self.legal) & !self.word.fixed & !PAWN_SQUARES;
            for to in squares(goals) {
                self.play(Some(last), to, None, ahead(self.side.other(), bit(to)));
            }
        }
    }
}

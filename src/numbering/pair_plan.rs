//! Which positions resemble each other under `pair`: those in which one side,
//! or both, have their highest chequers a pip further down.

use super::Pair;
use super::multiset_plan::{BOTH, FIRST, SECOND, THIRD, TWICE};
use crate::codec::{Plan, Slot};
use crate::numbering::Numbering;

/// For each kind of reference, the moves of us and of them.
const KINDS: [(Option<usize>, Option<usize>); 15] = [
    (None, Some(FIRST)),
    (Some(FIRST), None),
    (Some(FIRST), Some(FIRST)),
    (None, Some(SECOND)),
    (None, Some(BOTH)),
    (Some(SECOND), None),
    (Some(BOTH), None),
    (Some(FIRST), Some(SECOND)),
    (Some(SECOND), Some(FIRST)),
    (None, Some(TWICE)),
    (Some(TWICE), None),
    (Some(SECOND), Some(SECOND)),
    (None, Some(THIRD)),
    (Some(THIRD), None),
    (Some(FIRST), Some(BOTH)),
];

impl Plan for Pair {
    fn kinds(&self) -> usize {
        KINDS.len()
    }

    /// Pips of both.
    fn anchors(&self) -> [usize; 2] {
        let [pips, _] = self.side().anchors();
        [
            if pips * pips <= 65_536 {
                pips * pips
            } else {
                1
            },
            1,
        ]
    }

    fn describe(&self, first: u64, out: &mut [Slot]) {
        let side = self.side();
        let row = side.len();
        let mut us = first / row;
        let mut them = first % row;
        let mut rest = out;
        while !rest.is_empty() {
            let count = rest.len().min((row - them) as usize);
            let (these, others) = rest.split_at_mut(count);
            let mut ours = [Slot::default()];
            side.describe(us, &mut ours);
            side.describe(them, these);
            for slot in these {
                let anchor = self.anchor(ours[0].anchors[0], slot.anchors[0]);
                *slot = combined(&ours[0], slot, row);
                slot.anchors[0] = anchor;
            }
            rest = others;
            us += 1;
            them = 0;
        }
    }
}

impl Pair {
    /// The anchor of both sides' pips.
    pub(super) fn anchor(&self, us: u16, them: u16) -> u16 {
        let [pips, _] = self.side().anchors();
        match pips * pips <= 65_536 {
            true => (usize::from(us) * pips + usize::from(them)) as u16,
            false => 0,
        }
    }
}

/// The distances of both sides' moves, where they are distances at all; `row` is what
/// a number of us counts.
pub(super) fn combined(us: &Slot, them: &Slot, row: u64) -> Slot {
    let mut out = Slot::default();
    for (back, (ours, theirs)) in out.back.iter_mut().zip(KINDS) {
        let part = |slot: &Slot, kind: Option<usize>| match kind {
            Some(kind) => slot
                .back
                .get(kind)
                .copied()
                .filter(|&b| b > 0)
                .map(u64::from),
            None => Some(0),
        };
        let distance = part(us, ours)
            .zip(part(them, theirs))
            .map(|(us, them)| us * row + them);
        *back = distance.and_then(|d| u16::try_from(d).ok()).unwrap_or(0);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::Multiset;

    #[test]
    fn references_are_those_of_the_sides() {
        let pair = Pair::new(4, 3).unwrap();
        let side = Multiset::new(4, 3).unwrap();
        let row = side.len();
        let mut sides = vec![Slot::default(); row as usize];
        side.describe(0, &mut sides);
        let mut all = vec![Slot::default(); (row * row) as usize];
        pair.describe(0, &mut all);
        let mut part = vec![Slot::default(); 100];
        pair.describe(row * 2 + 7, &mut part);
        assert_eq!(part, all[(row * 2 + 7) as usize..][..100]);
        for (number, slot) in (0u64..).zip(&all) {
            let (us, them) = (
                &sides[(number / row) as usize],
                &sides[(number % row) as usize],
            );
            for (back, (ours, theirs)) in slot.back.iter().zip(KINDS) {
                let distance =
                    |slot: &Slot, kind: Option<usize>| kind.map_or(0, |k| u64::from(slot.back[k]));
                let missing =
                    |slot: &Slot, kind: Option<usize>| kind.is_some_and(|k| slot.back[k] == 0);
                if missing(us, ours) || missing(them, theirs) {
                    assert_eq!(*back, 0);
                } else {
                    assert_eq!(
                        u64::from(*back),
                        distance(us, ours) * row + distance(them, theirs)
                    );
                    assert!(u64::from(*back) <= number);
                }
            }
        }
    }
}

//! Which positions resemble each other under `multiset`: those with the highest
//! chequers some pips further down, which have lower numbers close by.

use super::Multiset;
use super::multiset::binomial;
use crate::codec::{Plan, Slot};

/// For each kind of reference, which chequers move a pip down: 0 is the
/// highest, 1 the second highest, 2 the third. Equal chequers are told apart
/// by that rank only.
const MOVES: [&[usize]; 12] = [
    &[0],
    &[0, 0],
    &[1],
    &[0, 1],
    &[2],
    &[0, 2],
    &[1, 2],
    &[0, 1, 2],
    &[0, 0, 0],
    &[0, 0, 1],
    &[1, 1],
    &[0, 0, 1, 1],
];

/// The kind in [`MOVES`] of the highest chequer's move.
pub(super) const FIRST: usize = 0;
/// Of two moves of it.
pub(super) const TWICE: usize = 1;
/// Of the second highest chequer's move.
pub(super) const SECOND: usize = 2;
/// Of both.
pub(super) const BOTH: usize = 3;
/// Of the third highest chequer's move.
pub(super) const THIRD: usize = 4;

/// Points of the home board.
const HOME: usize = 6;

/// Distances back for each arrangement of the three highest chequers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct References {
    /// By [`References::place`].
    back: Vec<[u16; 16]>,
    /// Arrangements differ in how many more chequers are where the third is.
    more: usize,
}

impl References {
    pub(super) fn new(points: usize, chequers: u8) -> Self {
        let more = usize::from(chequers).saturating_sub(3) + 1;
        let mut back = Vec::new();
        for highest in 0..=points {
            for second in 0..=highest {
                for third in 0..=second {
                    for more in 0..more {
                        back.push(distances(points, [highest, second, third], more));
                    }
                }
            }
        }
        Self { back, more }
    }

    /// The place of an arrangement: points of the three highest chequers (0 is
    /// off), descending, and how many more are on the third one's point.
    #[inline(always)]
    fn place(&self, [highest, second, third]: [usize; 3], more: usize) -> usize {
        let triangle =
            highest * (highest + 1) * (highest + 2) / 6 + second * (second + 1) / 2 + third;
        triangle * self.more + more.min(self.more - 1)
    }
}

/// How many numbers lower the positions after each of [`MOVES`] are; 0 where
/// there is no such move, and where an earlier kind leads to the same position.
fn distances(points: usize, highest: [usize; 3], more: usize) -> [u16; 16] {
    let mut out = [0u16; 16];
    for (kind, moves) in MOVES.iter().enumerate() {
        let mut chequers = highest;
        let mut distance = Some(0u64);
        for &rank in *moves {
            let from = chequers[rank];
            // How many are below the third is not known here.
            if from == 0 || from < highest[2] {
                distance = None;
                break;
            }
            let above = chequers.iter().filter(|&&c| c >= from).count()
                + if highest[2] >= from { more } else { 0 };
            // The formula of the number: only S of point `from` falls, by one.
            let step = binomial((above + points - 1 - from) as u64, (points - from) as u64);
            distance = distance.map(|d| d + step);
            chequers[rank] -= 1;
        }
        let distance = distance.and_then(|d| u16::try_from(d).ok()).unwrap_or(0);
        if !out[..kind].contains(&distance) {
            out[kind] = distance;
        }
    }
    out
}

impl Plan for Multiset {
    fn kinds(&self) -> usize {
        MOVES.len()
    }

    /// Whether the highest chequer is outside of the home board.
    fn classes(&self) -> usize {
        2
    }

    /// Pips; and the arrangement outside of the home board, with all chequers
    /// that are not there at home or off.
    fn anchors(&self) -> [usize; 2] {
        let pips = self.points() * usize::from(self.chequers()) + 1;
        let outside = self.points().saturating_sub(HOME) as u64;
        let arrangements = binomial(outside + u64::from(self.chequers()), outside);
        [
            pips,
            if arrangements <= 65_536 {
                arrangements as usize
            } else {
                1
            },
        ]
    }

    fn describe(&self, first: u64, out: &mut [Slot]) {
        let mut counts = [0u8; super::MAX_POINTS];
        let Some(counts) = counts.get_mut(..self.points()) else {
            return;
        };
        if self.unrank(first, counts).is_err() {
            out.fill(Slot::default());
            return;
        }
        let mut walk = Walk::new(counts);
        let references = self.references();
        let [_, outside] = self.anchors();
        for slot in out {
            let top = [walk.chequers[0], walk.chequers[1], walk.chequers[2]].map(usize::from);
            let others = u8::from(top[0] == top[2]) + u8::from(top[1] == top[2]);
            let more = walk.counts[top[2]].saturating_sub(1 + others);
            let place = references.place(top, usize::from(more));
            slot.back = references.back.get(place).copied().unwrap_or_default();
            slot.anchors = [walk.pips, if outside > 1 { walk.outside } else { 0 }];
            slot.class = u8::from(top[0] > HOME);
            walk.advance();
        }
    }
}

/// A position as a list of chequers, and the way to the next one.
struct Walk {
    /// Points of the chequers, descending, zeros behind.
    chequers: [u8; 32],
    /// Chequers on each point; point 0 is off and not counted right.
    counts: [u8; 32],
    pips: u16,
    /// Number of the arrangement on the points outside of the home board.
    outside: u16,
    points: u8,
    /// Chequers on the last point.
    last: usize,
}

impl Walk {
    fn new(counts: &[u8]) -> Self {
        let mut walk = Self {
            chequers: [0; 32],
            counts: [0; 32],
            pips: 0,
            outside: 0,
            points: counts.len() as u8,
            last: counts.last().map_or(0, |&c| usize::from(c)),
        };
        let mut places = walk.chequers.iter_mut();
        for (below, &count) in counts.iter().enumerate().rev() {
            let point = below as u8 + 1;
            walk.counts[below + 1] = count;
            walk.pips += u16::from(count) * u16::from(point);
            places
                .by_ref()
                .take(usize::from(count))
                .for_each(|c| *c = point);
        }
        let mut above = 0;
        for below in (HOME..counts.len()).rev() {
            above += u64::from(counts[below]);
            let (p, k) = ((counts.len() - HOME) as u64, (below - HOME) as u64);
            walk.outside = walk
                .outside
                .wrapping_add(binomial(above + p - 1 - k, p - k) as u16);
        }
        walk
    }

    /// As [`Multiset::advance`]; behind the last position it goes on to those
    /// with more chequers.
    fn advance(&mut self) {
        let moved = self.last & 15;
        let from = self.chequers[moved];
        let to = from + 1;
        self.chequers[..=moved].fill(to);
        self.counts[usize::from(from)] = self.counts[usize::from(from)].wrapping_sub(1);
        self.counts[usize::from(self.points)] = 0;
        self.counts[usize::from(to & 31)] = moved as u8 + 1;
        // The number is a sum over points; those of the home board are the
        // slowest, so that a change there is one to the first arrangement outside.
        self.outside = if usize::from(to) > HOME {
            self.outside.wrapping_add(1)
        } else {
            0
        };
        let together = (moved as u16 + 1) * u16::from(to);
        self.pips = (self.pips + together)
            .wrapping_sub(moved as u16 * u16::from(self.points) + u16::from(from));
        self.last = if to == self.points { moved + 1 } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every distance of every position against ranks of moved chequers.
    #[test]
    fn references_are_the_positions_that_they_say() {
        for (points, chequers) in [(1, 3), (6, 5), (10, 6), (4, 15), (25, 3)] {
            let numbering = Multiset::new(points, chequers).unwrap();
            let len = crate::numbering::Numbering::len(&numbering);
            let mut described = vec![Slot::default(); len as usize];
            numbering.describe(0, &mut described);
            let mut counts = vec![0; points];
            let mut found = [0usize; MOVES.len()];
            for (number, slot) in described.iter().enumerate() {
                numbering.unrank(number as u64, &mut counts).unwrap();
                let mut list: Vec<usize> = Vec::new();
                for point in (1..=points).rev() {
                    list.extend(vec![point; usize::from(counts[point - 1])]);
                }
                assert_eq!(
                    usize::from(slot.anchors[0]),
                    list.iter().sum::<usize>(),
                    "{number}"
                );
                let outside = counts
                    .get(6..)
                    .filter(|o| !o.is_empty())
                    .map_or(0, |outside| {
                        Multiset::new(outside.len(), chequers)
                            .unwrap()
                            .rank(outside)
                            .unwrap()
                    });
                assert_eq!(u64::from(slot.anchors[1]), outside, "{number}");
                assert_eq!(slot.class == 1, list.first().is_some_and(|&p| p > 6));
                for (kind, moves) in MOVES.iter().enumerate() {
                    let back = slot.back[kind];
                    if back == 0 {
                        continue;
                    }
                    found[kind] += 1;
                    let mut moved = list.clone();
                    moves.iter().for_each(|&rank| moved[rank] -= 1);
                    let mut counts = vec![0; points];
                    moved
                        .iter()
                        .filter(|&&p| p > 0)
                        .for_each(|&p| counts[p - 1] += 1);
                    let rank = numbering.rank(&counts).unwrap();
                    assert_eq!(rank, number as u64 - u64::from(back), "{number} {moves:?}");
                }
                // The highest chequer can always move.
                assert_eq!(slot.back[0] == 0, list.is_empty(), "{number}");
            }
            if points > 3 && chequers > 3 {
                assert!(found.iter().all(|&n| n > 0), "{found:?}");
            }
        }
    }

    #[test]
    fn a_description_does_not_depend_on_where_it_begins() {
        let numbering = Multiset::new(8, 15).unwrap();
        let mut whole = vec![Slot::default(); 4000];
        numbering.describe(480_000, &mut whole);
        for from in [1, 17, 999, 3999] {
            let mut part = vec![Slot::default(); 1];
            numbering.describe(480_000 + from as u64, &mut part);
            assert_eq!(part[0], whole[from]);
        }
        // The last positions, and beyond them: no panic.
        let len = crate::numbering::Numbering::len(&numbering);
        numbering.describe(len - 3, &mut whole);
        numbering.describe(len, &mut whole);
    }
}

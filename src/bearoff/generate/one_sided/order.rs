//! Positions of equal total and pip count: their order and places.
//!
//! With `S_k` the chequers on point `k + 1` and higher, `S_0` is the total and
//! the sum of all `S_k` the pip count. The positions of a *layer*, those of
//! one total and one pip count, are ordered as the sequences `S_1, S_2, …`
//! are, which is the order of their numbers too. A position's place in its
//! layer is the sum over `k` of the sequences that are equal before `k` and
//! lower there, each of which is one look-up. Moving a chequer changes a
//! stretch of the sequence only, so that the places after all moves by 1 to 6
//! come from prefix sums and one look-up each.

use crate::numbering::MAX_CHEQUERS;

/// The most points of a one-sided table.
pub(crate) const MAX_POINTS: usize = 24;

/// Moves of 0 to 7 pips, of which 0 to 6 are used.
const LANES: usize = 8;

/// Counts of sequences, for all totals and pip counts of up to `points`.
pub(crate) struct Order {
    points: usize,
    /// `counts[(k, s + 1, r)]`: the sequences `S_k ≥ S_(k+1) ≥ …` with
    /// `S_k ≤ s` and sum `r`; zero for `s = −1` and for `r < 0`.
    counts: Vec<u32>,
    /// Places for one `k` and `s`: `LANES` for `r < 0`, then `r` from 0 on.
    stride: usize,
}

/// Rows of `s` for one `k`: −1 to 15.
const SUMS: usize = MAX_CHEQUERS as usize + 2;

impl Order {
    /// For tables of up to `chequers` on `points` (at most 24).
    pub(crate) fn new(points: usize, chequers: u8) -> Self {
        let pips = points * usize::from(chequers);
        let stride = pips + 1 + LANES;
        let mut order = Order {
            points,
            counts: vec![0; (points + 1) * SUMS * stride],
            stride,
        };
        // After the last point only the empty sequence is left.
        for s in 1..SUMS {
            let at = order.at(points, s) + LANES;
            order.counts[at] = 1;
        }
        for k in (0..points).rev() {
            for s in 1..SUMS {
                for r in 0..=pips {
                    // Either S_k is below s − 1, or it is s − 1 and the rest
                    // of the sum belongs to a sequence that is no higher.
                    let lower = order.counts[order.at(k, s - 1) + LANES + r];
                    let equal = match r.checked_sub(s - 1) {
                        Some(rest) => order.counts[order.at(k + 1, s) + LANES + rest],
                        None => 0,
                    };
                    let at = order.at(k, s) + LANES + r;
                    // Entries for more chequers than the table has may be
                    // too large, and are never looked at.
                    order.counts[at] = lower.saturating_add(equal);
                }
            }
        }
        order
    }

    /// Where the row of `k` and `s − 1` begins.
    #[inline(always)]
    fn at(&self, k: usize, s: usize) -> usize {
        (k * SUMS + s) * self.stride
    }

    /// Points of the table.
    #[inline(always)]
    pub(crate) fn points(&self) -> usize {
        self.points
    }

    /// Positions with `total` chequers and `pips` pips.
    pub(crate) fn len(&self, total: u8, pips: usize) -> usize {
        let total = usize::from(total);
        match pips.checked_sub(total) {
            Some(rest) if rest + LANES < self.stride => {
                self.counts[self.at(1, total + 1) + LANES + rest] as usize
            }
            _ => 0,
        }
    }

    /// How many positions of the layer of `pips` pips come before the
    /// position `counts`, which has the layer's total but may have any pips.
    pub(crate) fn before(&self, counts: &[u8], pips: usize) -> usize {
        let mut above: usize = counts.iter().map(|&c| usize::from(c)).sum();
        let Some(mut rest) = pips.checked_sub(above) else {
            return 0;
        };
        let mut place = 0;
        for k in 1..self.points {
            above -= usize::from(counts[k - 1]);
            place += self.counts[self.at(k, above) + LANES + rest] as usize;
            match rest.checked_sub(above) {
                Some(less) => rest = less,
                None => return place,
            }
        }
        place
    }
}

/// A position of a layer, with the prefix sums from which the places of its
/// neighbours follow; walks through the layer in order.
pub(crate) struct Walk<'a> {
    order: &'a Order,
    /// `S_0, S_1, …`, and a zero behind them.
    above: [u8; MAX_POINTS + 1],
    /// The sum of `S_k` and those behind.
    rest: [u16; MAX_POINTS + 1],
    /// `prefix[k][7 − d]`: what the `S_j` with `1 ≤ j < k` add to the place
    /// when `d` pips are missing behind.
    prefix: [[u32; LANES]; MAX_POINTS + 1],
}

impl<'a> Walk<'a> {
    /// The position in `place` of its layer, which has one.
    pub(crate) fn new(order: &'a Order, total: u8, pips: usize, place: usize) -> Self {
        let mut walk = Walk {
            order,
            above: [0; MAX_POINTS + 1],
            rest: [0; MAX_POINTS + 1],
            prefix: [[0; LANES]; MAX_POINTS + 1],
        };
        walk.above[0] = total;
        walk.rest[0] = pips as u16;
        if order.points > 1 {
            walk.rest[1] = (pips - usize::from(total)) as u16;
        }
        let mut place = place as u32;
        for k in 1..order.points {
            let rest = usize::from(walk.rest[k]);
            let mut s = usize::from(walk.above[k - 1]);
            while order.counts[order.at(k, s) + LANES + rest] > place {
                s -= 1;
            }
            place -= order.counts[order.at(k, s) + LANES + rest];
            walk.above[k] = s as u8;
            walk.step(k);
        }
        walk
    }

    /// Brings what follows from `S_k` up to date.
    #[inline(always)]
    fn step(&mut self, k: usize) {
        let rest = usize::from(self.rest[k]);
        let s = usize::from(self.above[k]);
        // Lane j is r = rest − 7 + j: moves of 7 − j pips.
        let at = self.order.at(k, s) + LANES + rest + 1 - LANES;
        let lanes = &self.order.counts[at..at + LANES];
        for (lane, count) in lanes.iter().enumerate() {
            self.prefix[k + 1][lane] = self.prefix[k][lane] + count;
        }
        self.rest[k + 1] = (rest - s) as u16;
    }

    /// Goes to the next position; there must be one.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        let points = self.order.points;
        // Raise the last S_k that may be raised and for which a later one can
        // give; the rest is as even as can be, which is the lowest.
        let mut k = points - 1;
        while k > 1 && (self.above[k] == self.above[k - 1] || self.rest[k + 1] == 0) {
            k -= 1;
        }
        self.above[k] += 1;
        self.step(k);
        for j in k + 1..points {
            self.above[j] = self.rest[j].div_ceil((points - j) as u16) as u8;
            self.step(j);
        }
    }

    /// Chequers on the point in place `i`, which is point `i + 1`.
    #[inline(always)]
    pub(crate) fn chequers(&self, i: usize) -> u8 {
        self.above[i] - self.above[i + 1]
    }

    /// Chequers on point `i + 1` and higher.
    #[inline(always)]
    pub(crate) fn above(&self, i: usize) -> u8 {
        self.above[i]
    }

    /// Fills `places[d]` with the place, in the layer of `d + 1` pips less,
    /// after moving a chequer from point `source + 1` by `d + 1` points; only
    /// for moves that stay on the board. The source must be occupied.
    #[inline(always)]
    pub(crate) fn places(&self, source: usize, places: &mut [u32; 6]) {
        let order = self.order;
        let s = source + 1;
        let suffix = self.prefix[order.points][LANES - 1].wrapping_sub(self.prefix[s][LANES - 1]);
        let mut moved = suffix;
        for d in 1..=source.min(6) {
            let k = s - d;
            let at =
                order.at(k, usize::from(self.above[k]) - 1) + LANES + usize::from(self.rest[k]) - d;
            moved = moved.wrapping_add(order.counts[at]);
            places[d - 1] = moved.wrapping_add(self.prefix[k][LANES - 1 - d]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::{Multiset, Numbering};

    fn pips_of(counts: &[u8]) -> usize {
        let points = (1..).zip(counts);
        points.map(|(point, &c)| point * usize::from(c)).sum()
    }

    /// Walks all layers beside a plain count of positions in number order.
    #[test]
    fn places_count_the_positions_before_in_the_layer() {
        for (points, chequers) in [(7, 4), (9, 3), (3, 6), (24, 2)] {
            let numbering = Multiset::new(points, chequers).unwrap();
            let order = Order::new(points, chequers);
            let mut counts = vec![0; points];
            let mut seen = std::collections::HashMap::new();
            for _ in 1..numbering.len() {
                numbering.advance(&mut counts);
                let (total, pips) = (counts.iter().sum::<u8>(), pips_of(&counts));
                let place: &mut usize = seen.entry((total, pips)).or_insert(0);
                assert_eq!(order.before(&counts, pips), *place);
                let mut walk = Walk::new(&order, total, pips, *place);
                if *place > 0 {
                    // The same by walking on from the position before.
                    walk = Walk::new(&order, total, pips, *place - 1);
                    walk.advance();
                }
                let walked: Vec<u8> = (0..points).map(|i| walk.chequers(i)).collect();
                assert_eq!(walked, counts);
                moves_lead_where_they_should(&order, &walk, &counts);
                *place += 1;
            }
            for ((total, pips), count) in seen {
                assert_eq!(order.len(total, pips), count);
            }
        }
    }

    fn moves_lead_where_they_should(order: &Order, walk: &Walk<'_>, counts: &[u8]) {
        for source in (0..counts.len()).filter(|&s| counts[s] > 0) {
            let mut places = [0; 6];
            walk.places(source, &mut places);
            for die in 1..=source.min(6) {
                let mut moved = counts.to_vec();
                moved[source] -= 1;
                moved[source - die] += 1;
                assert_eq!(
                    places[die - 1] as usize,
                    order.before(&moved, pips_of(&moved))
                );
            }
        }
    }

    #[test]
    fn positions_of_other_pips_are_placed_between() {
        let order = Order::new(7, 4);
        // Of the layer of 9 pips and 2 chequers (2+7, 3+6, 4+5) none comes
        // before the lowest position, all before the highest.
        assert_eq!(order.before(&[2, 0, 0, 0, 0, 0, 0], 9), 0);
        assert_eq!(order.before(&[0, 0, 0, 0, 0, 0, 2], 9), 3);
        assert_eq!(order.len(2, 9), 3);
        assert_eq!(order.len(2, 1), 0);
        assert_eq!(order.len(2, 15), 0);
    }
}

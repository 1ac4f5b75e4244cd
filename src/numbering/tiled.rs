//! `tiled`: an order of pairs in which a block has some positions of one side against
//! some of the other, so that references of both sides lie in it.

use std::ops::Range;

use super::pair_plan::combined;
use super::{Numbering, Order, Pair, blame_file, required};
use crate::codec::{Plan, Slot};
use crate::{Error, Properties, Result};

/// The most positions of a side in a tile.
const MOST_SIDE: u64 = 128;

/// All numbers of a [`Pair`], tile after tile. A tile has `side` consecutive
/// positions of us and of them; within it, and from tile to tile, them vary fastest.
#[derive(Debug, Clone)]
pub struct Tiled {
    pair: Pair,
    side: u64,
}

impl Tiled {
    /// The name in the file.
    pub const NAME: &'static str = "tiled";

    /// Tiles of `side` times `side` positions.
    ///
    /// Errors: [`Error::Invalid`] unless `side` divides the positions of a side, and is
    /// 1 to 128.
    pub fn new(pair: &Pair, side: u64) -> Result<Self> {
        let positions = pair.side().len();
        if !(1..=MOST_SIDE).contains(&side) || !positions.is_multiple_of(side) {
            return Err(Error::invalid(format!(
                "tiles of {side} positions a side: a divisor of {positions} up to {MOST_SIDE} expected"
            )));
        }
        Ok(Self {
            pair: pair.clone(),
            side,
        })
    }

    /// The largest tiles whose sides are at most `most`.
    pub fn largest(pair: &Pair, most: u64) -> Option<Self> {
        let sides = (2..=most.min(MOST_SIDE)).rev();
        sides.filter_map(|side| Self::new(pair, side).ok()).next()
    }

    /// From the parameters in a file.
    pub(super) fn from_params(pair: &Pair, params: &Properties) -> Result<Self> {
        blame_file(Self::new(pair, required(params, "side")?))
    }

    /// Positions of a side in a tile.
    pub fn side(&self) -> u64 {
        self.side
    }

    fn tiles(&self) -> u64 {
        self.pair.side().len() / self.side
    }
}

impl Order for Tiled {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn params(&self) -> Properties {
        Properties::new().with("side", self.side)
    }

    fn range(&self) -> Range<u64> {
        0..self.pair.len()
    }

    #[inline]
    fn row_of(&self, number: u64) -> u64 {
        let positions = self.pair.side().len();
        if number >= self.pair.len() {
            return number;
        }
        let (us, them) = (number / positions, number % positions);
        let (side, tiles) = (self.side, self.tiles());
        let tile = us / side * tiles + them / side;
        (tile * side + us % side) * side + them % side
    }

    fn number_of(&self, row: u64) -> u64 {
        if row >= self.pair.len() {
            return row;
        }
        let (us, them) = self.sides(row);
        us * self.pair.side().len() + them
    }
}

impl Tiled {
    /// The positions of us and them in a row.
    fn sides(&self, row: u64) -> (u64, u64) {
        let (side, tiles) = (self.side, self.tiles());
        let (tile, within) = (row / (side * side), row % (side * side));
        (
            tile / tiles * side + within / side,
            tile % tiles * side + within % side,
        )
    }
}

impl Plan for Tiled {
    fn kinds(&self) -> usize {
        self.pair.kinds()
    }

    fn anchors(&self) -> [usize; 2] {
        self.pair.anchors()
    }

    fn describe(&self, first: u64, out: &mut [Slot]) {
        let numbering = self.pair.side();
        let mut all = [Slot::default(); MOST_SIDE as usize];
        let all = &mut all[..self.side as usize];
        let mut known = None;
        let mut row = first;
        let mut rest = out;
        while !rest.is_empty() {
            let (us, them) = self.sides(row.min(self.pair.len() - 1));
            let within = (them % self.side) as usize;
            let tile = them - within as u64;
            if known != Some(tile) {
                numbering.describe(tile, all);
                known = Some(tile);
            }
            let mut ours = [Slot::default()];
            numbering.describe(us, &mut ours);
            // Moves to another tile are none.
            let [mut ours] = ours;
            inside(&mut ours, us % self.side);
            let count = rest.len().min(all.len() - within);
            let (these, others) = rest.split_at_mut(count);
            for (at, (slot, theirs)) in (within..).zip(these.iter_mut().zip(&all[within..])) {
                let mut theirs = *theirs;
                inside(&mut theirs, at as u64);
                *slot = combined(&ours, &theirs, self.side);
                slot.anchors[0] = self.pair.anchor(ours.anchors[0], theirs.anchors[0]);
            }
            row += count as u64;
            rest = others;
        }
    }
}

/// Leaves out distances of more than `before`.
fn inside(slot: &mut Slot, before: u64) {
    for back in &mut slot.back {
        if u64::from(*back) > before {
            *back = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_a_bijection_of_tiles() {
        let pair = Pair::new(3, 3).unwrap(); // 20 positions a side
        for side in [1, 2, 5, 10, 20] {
            let order = Tiled::new(&pair, side).unwrap();
            let read = pair.order(Tiled::NAME, &order.params()).unwrap();
            let mut keys = Vec::new();
            for row in order.range() {
                let number = order.number_of(row);
                assert_eq!(order.row_of(number), row);
                assert_eq!(read.row_of(number), row);
                let (us, them) = (number / 20, number % 20);
                keys.push((us / side, them / side, us, them));
            }
            assert!(keys.is_sorted());
            keys.dedup();
            assert_eq!(keys.len(), 400);
            assert_eq!((order.row_of(400), order.number_of(400)), (400, 400));
        }
        assert_eq!(Tiled::largest(&pair, 14).unwrap().side(), 10);
        for side in [0, 3, 40, 129] {
            let params = Properties::new().with("side", side);
            let refused = pair.order(Tiled::NAME, &params).err();
            assert!(matches!(refused, Some(Error::Corrupt { rule: "N-2", .. })));
        }
        let missing = pair.order(Tiled::NAME, &Properties::new()).err();
        assert!(matches!(missing, Some(Error::Corrupt { rule: "N-1", .. })));
    }

    #[test]
    fn references_are_those_of_the_pair_within_the_tile() {
        let pair = Pair::new(4, 3).unwrap(); // 35 positions a side
        let order = Tiled::new(&pair, 7).unwrap();
        let mut described = vec![Slot::default(); pair.len() as usize];
        order.describe(0, &mut described);
        let mut found = 0;
        for (row, slot) in (0..).zip(&described) {
            let number = order.number_of(row);
            let mut plain = [Slot::default()];
            pair.describe(number, &mut plain);
            assert_eq!(plain[0].anchors, slot.anchors);
            for (&back, &distance) in slot.back.iter().zip(&plain[0].back) {
                let other = number - u64::from(distance);
                let same = order.row_of(other) / 49 == row / 49;
                if distance > 0 && same && back > 0 {
                    assert_eq!(order.row_of(other), row - u64::from(back));
                    found += 1;
                } else if back > 0 {
                    panic!("{number}: a reference to another tile");
                }
                // Distances between numbers may be too great where those of rows are not.
                assert!(
                    back > 0 || distance == 0 || !same,
                    "{number}: a missing reference"
                );
            }
        }
        assert!(found > 1000, "{found}");
        // From anywhere on.
        for from in [1, 50, 777, 1224] {
            let mut part = vec![Slot::default(); 3];
            order.describe(from as u64, &mut part);
            let rest = &described[from..];
            assert_eq!(part[..rest.len().min(3)], rest[..rest.len().min(3)]);
        }
    }
}

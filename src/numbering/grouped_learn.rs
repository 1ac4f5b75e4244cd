//! Learning the order `grouped` from records: which arrangements of the low points
//! have equal ones whatever is on the high points, and which are close.

use super::grouped::{MOST_LOW, arrangements_of};
use super::{Grouped, Multiset, Order};
use crate::Result;

/// Arrangements of the high points for each number of chequers by which classes are
/// compared.
const COMPARED: u64 = 12;
/// A difference between two values counts no more than this.
const MOST_DIFFERENCE: u32 = 255;
/// What two records that are not equal are apart at least.
const UNEQUAL: u32 = 300;

/// Finds the classes of an order `grouped`. It sees all records of the range once,
/// in any order and in parts, and then some of them again.
#[derive(Debug, Clone)]
pub struct OrderLearner {
    numbering: Multiset,
    low: usize,
    /// Every arrangement a class of its own, to number them.
    plain: Grouped,
    /// Where the arrangements of each number of low chequers begin.
    begins: Vec<usize>,
    /// For each arrangement of the low points a sum over its records.
    sums: Vec<u64>,
}

impl OrderLearner {
    pub(super) fn new(numbering: &Multiset) -> Self {
        let low = numbering.points().min(MOST_LOW);
        let mut begins = vec![0];
        for home in 0..=usize::from(numbering.chequers()) {
            begins.push(begins[home] + arrangements_of(low, home) as usize);
        }
        let all = begins.last().copied().unwrap_or(0);
        let plain = Grouped::new(numbering, low, &vec![0; all]);
        Self {
            numbering: numbering.clone(),
            low,
            plain: plain.unwrap_or_else(|_| unreachable!("a class for each arrangement")),
            begins,
            sums: vec![0; all],
        }
    }

    /// The numbers whose records it wants to see.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.plain.range()
    }

    /// Sees the records from number `first` on, one after the other.
    pub fn see<'a>(&mut self, first: u64, records: impl Iterator<Item = &'a [u32]>) {
        for (number, record) in (first..self.range().end).zip(records) {
            let (home, low, arrangement) = self.plain.split(number);
            // Odd, and different for each arrangement.
            let place = mixed(arrangement.wrapping_mul(2) + 1) | 1;
            let sum = &mut self.sums[self.begins[home] + low];
            *sum = sum.wrapping_add(hashed(record).wrapping_mul(place));
        }
    }

    /// Adds what another learner has seen.
    pub fn merge(&mut self, other: &OrderLearner) {
        for (sum, &others) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.wrapping_add(others);
        }
    }

    /// Learns the order. `read` gives the record of a number.
    ///
    /// Errors: those of `read`.
    pub fn learn(&self, read: &mut dyn FnMut(u64, &mut Vec<u32>) -> Result<()>) -> Result<Grouped> {
        let chequers = usize::from(self.numbering.chequers());
        let mut classes = Vec::with_capacity(self.sums.len());
        let mut fewer = self.plain.arrangements();
        for home in 0..=chequers {
            let sums = &self.sums[self.begins[home]..self.begins[home + 1]];
            // Arrangements of the high points with the other chequers.
            let outside = arrangements_of(self.numbering.points() - self.low, chequers - home);
            fewer -= outside;
            let mut order: Vec<usize> = (0..sums.len()).collect();
            order.sort_by_key(|&low| (sums[low], low));
            let alike: Vec<&[usize]> = order.chunk_by(|&a, &b| sums[a] == sums[b]).collect();
            let compared = outside.min(COMPARED);
            let mut rows = Vec::with_capacity(alike.len());
            for class in &alike {
                let mut row = Vec::new();
                for i in 0..compared {
                    let arrangement = fewer + (2 * i + 1) * outside / (2 * compared);
                    read(self.plain.join(home, class[0], arrangement), &mut row)?;
                }
                rows.push(row);
            }
            let width = rows.first().map_or(1, Vec::len) / (compared.max(1) as usize);
            let mut own = vec![0; sums.len()];
            for (class, &found) in chain(&rows, width.max(1)).iter().enumerate() {
                for &low in alike[found] {
                    own[low] = class as u16;
                }
            }
            classes.extend(own);
        }
        Grouped::new(&self.numbering, self.low, &classes)
    }
}

/// An order in which neighbours are close: from the one with the least values on,
/// always the closest of those that are left.
fn chain(rows: &[Vec<u32>], width: usize) -> Vec<usize> {
    let early = |row: &Vec<u32>| -> u64 {
        row.iter()
            .enumerate()
            .map(|(i, &v)| (i % width) as u64 * u64::from(v))
            .sum()
    };
    let mut left: Vec<usize> = (0..rows.len()).collect();
    let mut order = Vec::with_capacity(rows.len());
    let mut next = (0..left.len()).min_by_key(|&i| early(&rows[left[i]]));
    while let Some(found) = next {
        let last = left.swap_remove(found);
        order.push(last);
        let distances = left
            .iter()
            .map(|&other| distance(&rows[last], &rows[other], width));
        next = distances
            .zip(&left)
            .enumerate()
            .min_by_key(|&(_, (distance, &other))| (distance, other))
            .map(|(i, _)| i);
    }
    order
}

fn distance(a: &[u32], b: &[u32], width: usize) -> u32 {
    let parts = a.chunks_exact(width).zip(b.chunks_exact(width));
    parts
        .map(|(a, b)| {
            let apart = a
                .iter()
                .zip(b)
                .map(|(&a, &b)| a.abs_diff(b).min(MOST_DIFFERENCE));
            let apart: u32 = apart.sum();
            apart + if apart > 0 { UNEQUAL } else { 0 }
        })
        .fold(0, u32::saturating_add)
}

fn mixed(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn hashed(record: &[u32]) -> u64 {
    record
        .iter()
        .fold(0x9e37_79b9_7f4a_7c15, |hash: u64, &value| {
            let x = (hash ^ u64::from(value)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x ^ x >> 29
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::Numbering;

    /// A record that depends on the high points and, up to two, on each low one.
    fn record(counts: &[u8]) -> Vec<u32> {
        let (low, high) = counts.split_at(MOST_LOW);
        let low = low.iter().fold(0, |key, &c| key * 3 + u64::from(c.min(2)));
        let key = high.iter().fold(low, |key, &c| key * 16 + u64::from(c));
        vec![key as u32, mixed(key) as u32 >> 20]
    }

    #[test]
    fn arrangements_with_equal_records_become_neighbours() {
        let numbering = Multiset::new(8, 9).unwrap();
        let range = numbering.first_with(9)..numbering.len();
        let records: Vec<Vec<u32>> = range
            .clone()
            .map(|number| {
                let mut counts = vec![0; 8];
                numbering.unrank(number, &mut counts).unwrap();
                record(&counts)
            })
            .collect();
        let learner = OrderLearner::new(&numbering);
        assert_eq!(learner.range(), range);
        let mut read = |number: u64, out: &mut Vec<u32>| {
            out.extend(&records[(number - range.start) as usize]);
            Ok(())
        };
        let mut whole = learner.clone();
        whole.see(range.start, records.iter().map(Vec::as_slice));
        let order = whole.learn(&mut read).unwrap();
        let rows = range
            .clone()
            .map(|row| &records[(order.number_of(row) - range.start) as usize]);
        let rows: Vec<_> = rows.collect();
        let runs = rows.chunk_by(|a, b| a == b).count();
        let mut different = rows.clone();
        different.sort();
        different.dedup();
        // A record is that of one pattern under one arrangement of the high points.
        assert_eq!(runs, different.len());
        assert!(runs * 10 < records.len() * 9, "{runs} of {}", records.len());
        // In two parts, the later one first.
        let half = records.len() / 2;
        let mut parts = learner.clone();
        parts.see(
            range.start + half as u64,
            records[half..].iter().map(Vec::as_slice),
        );
        let mut other = learner.clone();
        other.see(range.start, records[..half].iter().map(Vec::as_slice));
        parts.merge(&other);
        let again = parts.learn(&mut read).unwrap();
        assert_eq!(again.params(), order.params());
    }
}

//! `grouped`: an order of the positions with all chequers on the board, in which
//! those are side by side that have the same chequers on the high points and, on the
//! low ones, arrangements that were found to be alike.

use std::ops::Range;

use super::multiset::{STEPS, binomial};
use super::{Multiset, Numbering, Order, blame_file, required};
use crate::{Error, Properties, Result};

/// Totals of chequers, 0 to 15.
const TOTALS: usize = super::MAX_CHEQUERS as usize + 1;
/// The most low points, of which 15 chequers have 15,504 arrangements.
pub(super) const MOST_LOW: usize = 6;

/// The last numbers of a [`Multiset`], those with all its chequers, in another order.
///
/// Positions are ordered by the arrangement of the points above `low` (by its number
/// as a multiset of them), then by the class of the arrangement of the low points,
/// then by the number of the latter. Which arrangements of as many chequers form a
/// class, and in which order classes are, is learnt from the records and kept as the
/// parameter `classes`.
#[derive(Debug, Clone)]
pub struct Grouped {
    numbering: Multiset,
    low: usize,
    /// The first number.
    first: u64,
    /// By how many chequers are high: rows before, and arrangements of the high
    /// points with fewer chequers.
    high: [(u64, u64); TOTALS + 1],
    /// By how many chequers are low.
    low_points: Vec<Low>,
}

/// The arrangements of some chequers on the low points.
#[derive(Debug, Clone, Default)]
struct Low {
    /// The class of each arrangement, by its number among those of as many chequers.
    classes: Vec<u16>,
    /// The place of each arrangement in the order of classes.
    places: Vec<u16>,
    /// The inverse of `places`.
    arrangements: Vec<u16>,
    /// The first place of each class, and behind them the number of places.
    starts: Vec<u16>,
}

impl Low {
    fn new(classes: Vec<u16>) -> Self {
        let mut arrangements: Vec<u16> = (0..classes.len()).map(|a| a as u16).collect();
        arrangements.sort_by_key(|&a| classes[usize::from(a)]);
        let mut places = vec![0; classes.len()];
        let mut starts = vec![0];
        for (place, &arrangement) in arrangements.iter().enumerate() {
            places[usize::from(arrangement)] = place as u16;
            let class = classes[usize::from(arrangement)];
            if place > 0 && class != classes[usize::from(arrangements[place - 1])] {
                starts.push(place as u16);
            }
        }
        starts.push(classes.len() as u16);
        Self {
            classes,
            places,
            arrangements,
            starts,
        }
    }
}

/// Where a row is in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Chequers on the low points.
    pub(super) home: usize,
    /// Number of the arrangement of the high points.
    pub(super) arrangement: u64,
    /// Place of the arrangement of the low ones.
    pub(super) place: usize,
}

impl Grouped {
    /// The name in the file.
    pub const NAME: &'static str = "grouped";

    /// The positions of `numbering` with all chequers, the low points being those from
    /// 1 to `low`. `classes` has the class of each arrangement of them: of those
    /// without chequers, with one, and so on, each in the order of their numbers.
    ///
    /// Errors: [`Error::Invalid`] unless `low` is 1 to 6 and at most the number of
    /// points, and there is a class for each arrangement.
    pub fn new(numbering: &Multiset, low: usize, classes: &[u16]) -> Result<Self> {
        let chequers = usize::from(numbering.chequers());
        let most = MOST_LOW.min(numbering.points());
        if !(1..=most).contains(&low) {
            return Err(Error::invalid(format!(
                "an order by {low} low points, 1 to {most} expected"
            )));
        }
        let counts = (0..=chequers).map(|home| arrangements_of(low, home) as usize);
        let expected: usize = counts.clone().sum();
        if classes.len() != expected {
            return Err(Error::invalid(format!(
                "classes of {} arrangements of the low points, {expected} expected",
                classes.len()
            )));
        }
        let mut rest = classes;
        let low_points = counts.map(|count| {
            let (these, others) = rest.split_at(count);
            rest = others;
            Low::new(these.to_vec())
        });
        let low_points = low_points.collect();
        let points = numbering.points() - low;
        let mut high = [(0, 0); TOTALS + 1];
        for k in 0..=chequers {
            let arrangements = arrangements_of(points, k);
            let rows = arrangements * arrangements_of(low, chequers - k);
            high[k + 1] = (high[k].0 + rows, high[k].1 + arrangements);
        }
        Ok(Self {
            first: numbering.first_with(numbering.chequers()),
            numbering: numbering.clone(),
            low,
            high,
            low_points,
        })
    }

    /// From the parameters in a file.
    pub(super) fn from_params(numbering: &Multiset, params: &Properties) -> Result<Self> {
        let low = usize::try_from(required(params, "low")?).unwrap_or(usize::MAX);
        let packed = params
            .bytes("classes")
            .ok_or_else(|| Error::corrupt("N-1", "the order `grouped` has no bytes `classes`"))?;
        let classes = unpack(packed, low.min(MOST_LOW), usize::from(numbering.chequers()))
            .ok_or_else(|| {
                Error::corrupt(
                    "N-2",
                    "the classes of the order `grouped` do not fill its bytes",
                )
            })?;
        blame_file(Self::new(numbering, low, &classes))
    }

    fn chequers(&self) -> usize {
        usize::from(self.numbering.chequers())
    }

    /// How many arrangements of the high points there are.
    pub(super) fn arrangements(&self) -> u64 {
        self.high[self.chequers() + 1].1
    }

    /// How many arrangements `home` chequers on the low points have.
    pub(super) fn places(&self, home: usize) -> usize {
        self.low_points.get(home).map_or(0, |low| low.places.len())
    }

    /// The first places of the classes of `home` chequers, and the number of places.
    pub(super) fn starts(&self, home: usize) -> &[u16] {
        self.low_points.get(home).map_or(&[], |low| &low.starts)
    }

    /// Where a row of the range is.
    pub(super) fn place(&self, row: u64) -> Place {
        let row = row - self.first;
        let high = self.high[1..=self.chequers()].partition_point(|&(before, _)| before <= row);
        let home = self.chequers() - high;
        let (before, fewer) = self.high[high];
        let places = self.places(home) as u64;
        Place {
            home,
            arrangement: fewer + (row - before) / places,
            place: ((row - before) % places) as usize,
        }
    }

    /// Splits a number of the range: the chequers on the low points and the number
    /// of their arrangement among those of as many, and that of the high points.
    #[inline]
    pub(super) fn split(&self, number: u64) -> (usize, usize, u64) {
        let (sums, arrangement) = self.numbering.split(number, self.low);
        let high = sums[self.low];
        let inner = sums
            .iter()
            .take(self.low)
            .skip(1)
            .zip(STEPS[1..self.low].iter().rev());
        let low: u64 = inner.map(|(sum, steps)| steps[(sum - high) & 15]).sum();
        (self.chequers() - high, low as usize, arrangement)
    }

    /// The inverse of [`Grouped::split`].
    pub(super) fn join(&self, home: usize, low: usize, arrangement: u64) -> u64 {
        let mut counts = [0; MOST_LOW];
        unrank_alike(low as u64, home, &mut counts[..self.low]);
        let mut sums = [0; MOST_LOW + 1];
        sums[self.low] = self.chequers() - home;
        for k in (0..self.low).rev() {
            sums[k] = sums[k + 1] + counts[k];
        }
        self.numbering.join(&sums[..self.low], arrangement)
    }
}

/// How many arrangements `chequers` have on `points`.
pub(super) fn arrangements_of(points: usize, chequers: usize) -> u64 {
    match points {
        0 => u64::from(chequers == 0),
        _ => binomial((chequers + points - 1) as u64, points as u64 - 1),
    }
}

/// The arrangement of `total` chequers with this number among those of as many.
fn unrank_alike(mut number: u64, total: usize, counts: &mut [usize]) {
    let mut above = total;
    let points = counts.len();
    for (k, count) in counts.iter_mut().enumerate() {
        let steps = &STEPS[points - k - 1];
        let mut next = if k + 1 < points { above } else { 0 };
        while next > 0 && steps[next] > number {
            next -= 1;
        }
        if next > 0 {
            number -= steps[next];
        }
        *count = above - next;
        above = next;
    }
}

/// Bits of a class of `count` ones.
fn class_bits(count: u16) -> u32 {
    u16::BITS - count.saturating_sub(1).leading_zeros()
}

/// Classes from their bytes: for each number of chequers how many classes there are
/// (u16), then the class of each arrangement in as many bits as the greatest needs.
fn unpack(bytes: &[u8], low: usize, chequers: usize) -> Option<Vec<u16>> {
    let mut rest = bytes;
    let mut classes = Vec::new();
    for home in 0..=chequers {
        let (head, tail) = rest.split_first_chunk::<2>()?;
        let count = u16::from_le_bytes(*head);
        let bits = class_bits(count);
        let arrangements = arrangements_of(low, home) as usize;
        let (packed, tail) = tail.split_at_checked((arrangements * bits as usize).div_ceil(8))?;
        let mut at = 0;
        for _ in 0..arrangements {
            let mut class = 0u16;
            for bit in 0..bits {
                class |= u16::from(packed[at / 8] >> (at % 8) & 1) << bit;
                at += 1;
            }
            if class >= count {
                return None;
            }
            classes.push(class);
        }
        rest = tail;
    }
    rest.is_empty().then_some(classes)
}

/// The inverse of [`unpack`].
fn pack(low_points: &[Low]) -> Vec<u8> {
    let mut out = Vec::new();
    for low in low_points {
        let count = low.classes.iter().max().map_or(0, |&most| most + 1);
        out.extend(count.to_le_bytes());
        let bits = class_bits(count);
        let (mut pending, mut filled) = (0u32, 0);
        for &class in &low.classes {
            pending |= u32::from(class) << filled;
            filled += bits;
            while filled >= 8 {
                out.push(pending as u8);
                pending >>= 8;
                filled -= 8;
            }
        }
        if filled > 0 {
            out.push(pending as u8);
        }
    }
    out
}

impl Order for Grouped {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn params(&self) -> Properties {
        Properties::new()
            .with("low", self.low as u64)
            .with_bytes("classes", pack(&self.low_points))
    }

    fn range(&self) -> Range<u64> {
        self.first..self.numbering.len()
    }

    #[inline]
    fn row_of(&self, number: u64) -> u64 {
        if !self.range().contains(&number) {
            return number;
        }
        let (home, low, arrangement) = self.split(number);
        let places = &self.low_points[home].places;
        let (before, fewer) = self.high[self.chequers() - home];
        self.first + before + (arrangement - fewer) * places.len() as u64 + u64::from(places[low])
    }

    fn number_of(&self, row: u64) -> u64 {
        if !self.range().contains(&row) {
            return row;
        }
        let place = self.place(row);
        let low = self.low_points[place.home].arrangements[place.place];
        self.join(place.home, usize::from(low), place.arrangement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Classes that are somehow spread.
    fn classes(low: usize, chequers: usize) -> Vec<u16> {
        (0..=chequers)
            .flat_map(|home| (0..arrangements_of(low, home)).map(|a| (a * 7 % 5) as u16))
            .collect()
    }

    #[test]
    fn the_order_is_a_bijection_in_the_order_that_it_says() {
        for (points, chequers, low) in [
            (10, 5, 6),
            (6, 7, 6),
            (3, 15, 3),
            (5, 6, 2),
            (1, 4, 1),
            (8, 3, 1),
            (25, 2, 6),
        ] {
            let numbering = Multiset::new(points, chequers).unwrap();
            let classes = classes(low, usize::from(chequers));
            let order = Grouped::new(&numbering, low, &classes).unwrap();
            let read = numbering.order(Grouped::NAME, &order.params()).unwrap();
            let mut keys = Vec::new();
            for row in order.range() {
                let number = order.number_of(row);
                assert!(order.range().contains(&number));
                assert_eq!(order.row_of(number), row);
                assert_eq!(read.row_of(number), row);
                let mut counts = vec![0; points];
                numbering.unrank(number, &mut counts).unwrap();
                let (home, outside) = counts.split_at(low);
                // Arrangements in the order of multisets: by sums from above.
                let sums = |counts: &[u8]| -> Vec<u32> {
                    (0..counts.len())
                        .map(|k| counts[k..].iter().map(|&c| u32::from(c)).sum())
                        .collect()
                };
                let inner = Multiset::new(low, chequers).unwrap();
                let all: usize = inner.rank(home).unwrap() as usize;
                keys.push((sums(outside), classes[all], sums(home)));
            }
            assert!(keys.is_sorted(), "{points} {chequers}");
            keys.dedup();
            assert_eq!(keys.len() as u64, order.range().end - order.range().start);
            assert_eq!(order.row_of(order.range().end), order.range().end);
            if order.range().start > 0 {
                assert_eq!(order.number_of(0), 0);
            }
        }
    }

    #[test]
    fn what_is_no_order_is_refused() {
        let numbering = Multiset::new(10, 4).unwrap();
        let right = classes(6, 4);
        for low in [0, 5, 7, 11] {
            assert!(Grouped::new(&numbering, low, &right).is_err(), "{low}");
        }
        assert!(Grouped::new(&numbering, 6, &right[1..]).is_err());
        let params = Grouped::new(&numbering, 6, &right).unwrap().params();
        let bytes = params.bytes("classes").unwrap();
        let order = |params: &Properties| numbering.order(Grouped::NAME, params).err();
        assert!(order(&params).is_none());
        let with = |low: u64, bytes: &[u8]| {
            Properties::new()
                .with("low", low)
                .with_bytes("classes", bytes.to_vec())
        };
        for missing in [
            Properties::new().with("low", 6),
            Properties::new().with_bytes("classes", bytes.to_vec()),
        ] {
            let found = order(&missing);
            assert!(matches!(found, Some(Error::Corrupt { rule: "N-1", .. })));
        }
        let mut more = bytes.to_vec();
        more.push(0);
        // The second number of classes is 5, of arrangements with one chequer.
        let mut beyond = bytes.to_vec();
        beyond[2] = 1;
        for wrong in [
            with(6, &bytes[..bytes.len() - 1]),
            with(6, &more),
            with(6, &beyond),
            with(6, &[]),
            with(0, bytes),
            with(11, bytes),
            with(u64::MAX, bytes),
        ] {
            let found = order(&wrong);
            assert!(
                matches!(found, Some(Error::Corrupt { rule: "N-2", .. })),
                "{found:?}"
            );
        }
        let unknown = numbering.order("sorted", &params).err();
        assert!(matches!(unknown, Some(Error::Unsupported { .. })));
    }
}

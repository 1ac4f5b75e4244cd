//! Which positions resemble each other in the order `grouped`: those of a class, and
//! those of the classes before.

use super::grouped::Place;
use super::{Grouped, Order};
use crate::codec::{Plan, Slot};

/// Classes before the previous one in which a record has references.
const KINDS: usize = 2;

impl Plan for Grouped {
    fn kinds(&self) -> usize {
        KINDS
    }

    /// Arrangements of the high points.
    fn anchors(&self) -> [usize; 2] {
        [self.arrangement_anchors().unwrap_or(1), 1]
    }

    fn describe(&self, first: u64, out: &mut [Slot]) {
        out.fill(Slot::default());
        let mut row = first;
        let mut rest = out;
        while !rest.is_empty() && self.range().contains(&row) {
            let place = self.place(row);
            let count = (self.places(place.home) - place.place).min(rest.len());
            let (these, others) = rest.split_at_mut(count);
            self.describe_arrangement(place, these);
            row += count as u64;
            rest = others;
        }
    }
}

impl Grouped {
    /// How many anchors arrangements are, if not too many.
    fn arrangement_anchors(&self) -> Option<usize> {
        usize::try_from(self.arrangements())
            .ok()
            .filter(|&a| a <= 65_536)
    }

    /// Describes places of one arrangement of the high points.
    fn describe_arrangement(&self, place: Place, out: &mut [Slot]) {
        let anchor = match self.arrangement_anchors() {
            Some(_) => place.arrangement as u16,
            None => 0,
        };
        let starts = self.starts(place.home);
        let mut class = starts.partition_point(|&s| usize::from(s) <= place.place);
        for (at, slot) in (place.place..).zip(out) {
            slot.anchors = [anchor, 0];
            slot.tied = true;
            if starts.get(class).is_some_and(|&s| usize::from(s) == at) {
                class += 1;
            }
            let own = usize::from(starts[class - 1]);
            if at == own {
                slot.tied = false;
                // The last rows of the classes before the previous one.
                for (kind, back) in slot.back.iter_mut().take(KINDS).enumerate() {
                    let behind = class.checked_sub(kind + 2).and_then(|c| starts.get(c));
                    if let Some(&behind) = behind.filter(|&&b| b > 0) {
                        *back = (own - usize::from(behind) + 1) as u16;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::{Multiset, Numbering};

    fn order() -> Grouped {
        let numbering = Multiset::new(8, 5).unwrap();
        // Of the arrangements of as many chequers, every fifth is of the same class.
        let count = |home: u64| super::super::multiset::binomial(home + 5, 5);
        let classes = (0..=5).flat_map(|home| (0..count(home)).map(|a| (a % 5) as u16));
        Grouped::new(&numbering, 6, &classes.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn ties_and_references_are_those_of_classes() {
        let order = order();
        let rows: Vec<u64> = order.range().collect();
        let mut described = vec![Slot::default(); rows.len()];
        order.describe(rows[0], &mut described);
        // The class of each row, by the arrangement above and the number within.
        let numbering = Multiset::new(8, 5).unwrap();
        let (inner, outer) = (Multiset::new(6, 5).unwrap(), Multiset::new(2, 5).unwrap());
        let mut counts = [0; 8];
        let mut starts: Vec<(usize, (u64, u64))> = Vec::new();
        for (at, (&row, slot)) in rows.iter().zip(&described).enumerate() {
            numbering.unrank(order.number_of(row), &mut counts).unwrap();
            let home = &counts[..6];
            let among = inner.rank(home).unwrap() - inner.first_with(home.iter().sum());
            let class = (outer.rank(&counts[6..]).unwrap(), among % 5);
            let tied = starts.last().is_some_and(|&(_, before)| before == class);
            assert_eq!(slot.tied, tied, "{row}");
            assert_eq!(u64::from(slot.anchors[0]), class.0);
            if tied {
                assert_eq!(slot.back, [0; 16]);
                continue;
            }
            for (kind, &back) in slot.back.iter().enumerate() {
                // The class before the class that many before ends where that begins.
                let next = starts.len().checked_sub(kind + 1).map(|i| starts[i]);
                let last = next.filter(|(start, key)| {
                    kind < 2
                        && *start > 0
                        && key.0 == class.0
                        && starts.iter().any(|s| s.0 < *start && s.1.0 == class.0)
                });
                assert_eq!(
                    last.map_or(0, |(start, _)| at - start + 1),
                    usize::from(back),
                    "{row}"
                );
            }
            starts.push((at, class));
        }
        assert!(described.iter().filter(|s| s.tied).count() > rows.len() / 3);
    }

    #[test]
    fn a_description_does_not_depend_on_where_it_begins() {
        let order = order();
        let first = order.range().start;
        let count = (order.range().end - first) as usize;
        let mut whole = vec![Slot::default(); count];
        order.describe(first, &mut whole);
        for from in [1, 7, 99, count - 1] {
            let mut part = vec![Slot::default(); 9];
            order.describe(first + from as u64, &mut part);
            let expected = whole[from..]
                .iter()
                .copied()
                .chain(std::iter::repeat(Slot::default()));
            assert!(part.iter().copied().eq(expected.take(9)), "{from}");
        }
        let numbering = Multiset::new(8, 5).unwrap();
        order.describe(numbering.len(), &mut whole);
        assert!(whole.iter().all(|slot| *slot == Slot::default()));
    }
}

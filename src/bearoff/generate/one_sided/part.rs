//! One half of the records, win or gammon: computed layer by layer, read in
//! number order.

use super::arithmetic::Arithmetic;
use super::home::{HOME_POINTS, Home};
use super::layers::{HOME_BASE, Layers};
use super::order::Order;
use super::store::{GROUP, Key, Store};
use crate::Result;
use crate::numbering::{Multiset, Numbering};

/// Told positions that were computed since the last time; its error stops.
pub(crate) type Tell<'a> = &'a dyn Fn(u64) -> Result<()>;

/// Finished rows of all positions.
pub(crate) struct Part<A: Arithmetic> {
    numbering: Multiset,
    order: Order,
    /// Those with fewer chequers are off.
    from: u8,
    home: Home<A>,
    store: Store,
}

impl<A: Arithmetic> Part<A> {
    /// Computes all rows.
    pub(crate) fn new(numbering: &Multiset, from: u8, tell: Tell<'_>) -> Result<Self> {
        let (points, chequers) = (numbering.points(), numbering.chequers());
        let home = Home::new(points, chequers, from, HOME_BASE)?;
        let order = Order::new(points, chequers);
        let mut store = Store::new(chequers, points * usize::from(chequers));
        if points <= HOME_POINTS {
            tell(numbering.len() - numbering.first_with(from))?;
        } else {
            for total in from.max(1)..=chequers {
                let mut layers = Layers::new(&order, &home, total);
                for pips in usize::from(total)..=usize::from(total) * points {
                    let packed = layers.compute(pips);
                    store.put(
                        Key {
                            total,
                            pips: pips as u16,
                        },
                        &packed,
                    )?;
                    tell(order.len(total, pips) as u64)?;
                }
            }
        }
        Ok(Part {
            numbering: numbering.clone(),
            order,
            from,
            home,
            store,
        })
    }

    /// Writes the rows of the positions from number `first` on, one to the
    /// front of each record of `width` values in `out`.
    pub(crate) fn read(&self, first: u64, out: &mut [u32], width: usize) -> Result<()> {
        if self.numbering.points() <= HOME_POINTS {
            for (record, row) in out.chunks_mut(width).zip(&self.home.rows[first as usize..]) {
                A::values(row, record);
            }
            return Ok(());
        }
        let count = out.len().div_ceil(width) as u64;
        let end = first + count;
        let mut counts = vec![0; self.numbering.points()];
        let mut last = vec![0; self.numbering.points()];
        self.numbering.unrank(first, &mut counts)?;
        let mut cursors: Vec<Option<Cursor<'_>>> = Vec::new();
        let (mut total, mut total_end) = (0, first);
        for (record, number) in out.chunks_mut(width).zip(first..) {
            if number == total_end {
                total = counts.iter().sum();
                total_end = self.numbering.first_with(total + 1).min(end);
                self.numbering.unrank(total_end - 1, &mut last)?;
                cursors.clear();
                cursors.resize_with(usize::from(total) * counts.len() + 1, || None);
            }
            if total < self.from || total == 0 {
                A::values(&A::off(), record);
            } else {
                let pips = (1..)
                    .zip(&counts)
                    .map(|(point, &c)| point * usize::from(c))
                    .sum::<usize>();
                let cursor = match &mut cursors[pips] {
                    Some(cursor) => cursor,
                    empty => empty.insert(self.cursor(total, pips, &counts, &last)?),
                };
                A::values(&A::take(&mut cursor.rest)?, record);
            }
            self.numbering.advance(&mut counts);
        }
        Ok(())
    }

    /// Stands before the row of `counts` in its layer; the rows up to that of
    /// `last`, if it is in the layer, can be read.
    fn cursor(&self, total: u8, pips: usize, counts: &[u8], last: &[u8]) -> Result<Cursor<'_>> {
        let place = self.order.before(counts, pips);
        let end = (self.order.before(last, pips) + 1).min(self.order.len(total, pips));
        let key = Key {
            total,
            pips: pips as u16,
        };
        let mut rest = self.store.groups(key, place / GROUP, end.div_ceil(GROUP))?;
        for _ in 0..place % GROUP {
            A::skip(&mut rest)?;
        }
        Ok(Cursor { rest })
    }
}

/// A place in a layer's rows.
struct Cursor<'a> {
    rest: &'a [u8],
}

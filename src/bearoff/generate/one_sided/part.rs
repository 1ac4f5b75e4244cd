//! One half of the records, win or gammon: computed layer by layer, read in
//! number order.

use std::borrow::Cow;

use rayon::prelude::*;

use super::super::Needs;
use super::super::working::Working;
use super::arithmetic::Arithmetic;
use super::home::{HOME_POINTS, Home};
use super::layers::{HOME_BASE, Layers, ROW_LAYERS};
use super::order::Order;
use super::store::{GROUP, Key, Packed, Store};
use crate::Result;
use crate::numbering::{Multiset, Numbering};

/// Told how many positions were computed since the last time; its error
/// stops the work.
pub(crate) type Tell<'a> = &'a dyn Fn(u64) -> Result<()>;

/// A layer and its rows.
pub(crate) type Layer = (Key, Vec<Packed>);

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
    /// What computing takes.
    pub(crate) fn needs(numbering: &Multiset, from: u8) -> Result<Needs> {
        let (points, chequers) = (numbering.points(), numbering.chequers());
        let home = Home::<A>::bytes(points, chequers)?;
        if points <= HOME_POINTS {
            return Ok(Needs {
                memory_bytes: home,
                layer_bytes: 0,
            });
        }
        let layers = Layers::<A>::bytes(&Order::new(points, chequers), chequers);
        let positions = numbering.len() - numbering.first_with(from);
        Ok(Needs {
            memory_bytes: home + layers + positions / GROUP as u64 * 4,
            layer_bytes: positions * A::typical_bytes() as u64,
        })
    }

    /// Nothing is computed yet but the home board. Positions with fewer than
    /// `from` chequers count as off; segments are those from `base` on.
    fn empty(numbering: &Multiset, from: u8, base: usize) -> Result<Self> {
        let (points, chequers) = (numbering.points(), numbering.chequers());
        Ok(Part {
            numbering: numbering.clone(),
            order: Order::new(points, chequers),
            from,
            home: Home::new(points, chequers, from, HOME_BASE)?,
            store: Store::new(chequers, points * usize::from(chequers), base),
        })
    }

    /// Computes all rows that `working` does not have yet; `from` and `base` as
    /// in [`Self::empty`].
    pub(crate) fn new(
        numbering: &Multiset,
        from: u8,
        working: &mut Working,
        base: usize,
        tell: Tell<'_>,
    ) -> Result<Self> {
        let mut part = Self::empty(numbering, from, base)?;
        if numbering.points() <= HOME_POINTS {
            tell(numbering.len() - numbering.first_with(from))?;
        } else {
            for total in part.totals() {
                part.compute(total, working, tell)?;
            }
        }
        Ok(part)
    }

    /// Computes all rows of a small table, whose layers are too short to be
    /// shared by threads: they take totals instead. [`Self::keep`] takes the layers.
    pub(crate) fn at_once(
        numbering: &Multiset,
        from: u8,
        base: usize,
    ) -> Result<(Self, Vec<Layer>)> {
        let part = Self::empty(numbering, from, base)?;
        let totals: Vec<u8> = part.totals().collect();
        let layers = totals
            .into_par_iter()
            .with_max_len(1)
            .flat_map_iter(|total| {
                let mut layers = Layers::new(&part.order, &part.home, total);
                part.layers(total)
                    .map(move |pips| (Key { total, pips }, layers.compute(pips)))
            })
            .collect();
        Ok((part, layers))
    }

    /// Keeps what [`Self::at_once`] has computed.
    pub(crate) fn keep(
        &mut self,
        layers: Vec<Layer>,
        working: &mut Working,
        tell: Tell<'_>,
    ) -> Result<()> {
        for (key, packed) in layers {
            self.store.put(working, key, &packed)?;
            tell(self.order.len(key.total, key.pips) as u64)?;
        }
        Ok(())
    }

    /// The totals to compute.
    fn totals(&self) -> std::ops::RangeInclusive<u8> {
        self.from.max(1)..=self.numbering.chequers()
    }

    /// Pip counts of the layers of a total.
    fn layers(&self, total: u8) -> std::ops::RangeInclusive<usize> {
        usize::from(total)..=usize::from(total) * self.numbering.points()
    }

    /// Computes the positions with `total` chequers.
    fn compute(&mut self, total: u8, working: &mut Working, tell: Tell<'_>) -> Result<()> {
        let mut layers = Layers::new(&self.order, &self.home, total);
        let all = self.layers(total);
        let missing = all
            .clone()
            .find(|&pips| !self.store.has(working, Key { total, pips }));
        let first = missing.unwrap_or(all.end() + 1);
        for pips in *all.start()..first {
            let rows = self.order.len(total, pips);
            self.store.take_over(working, Key { total, pips }, rows)?;
            tell(rows as u64)?;
        }
        if missing.is_some() && first > *all.start() {
            let lowest = first.saturating_sub(ROW_LAYERS - 1).max(*all.start());
            layers.forget_below(lowest);
            for pips in lowest..first {
                layers.restore(pips, self.rows(working, Key { total, pips })?);
            }
        }
        for pips in first..=*all.end() {
            let packed = layers.compute(pips);
            self.store.put(working, Key { total, pips }, &packed)?;
            tell(self.order.len(total, pips) as u64)?;
        }
        Ok(())
    }

    /// All rows of a layer.
    fn rows(&self, working: &Working, key: Key) -> Result<Vec<A::Row>> {
        let bytes = self.store.rows(working, key, 0, usize::MAX)?;
        let mut rest = &*bytes;
        (0..self.order.len(key.total, key.pips))
            .map(|_| A::take(&mut rest))
            .collect()
    }

    /// Writes the rows of the positions from number `first` on, one to the
    /// front of each record of `width` values in `out`.
    pub(crate) fn read(
        &self,
        working: &Working,
        first: u64,
        out: &mut [u32],
        width: usize,
    ) -> Result<()> {
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
                    empty => {
                        empty.insert(self.cursor(working, Key { total, pips }, &counts, &last)?)
                    }
                };
                A::values(&cursor.next::<A>()?, record);
            }
            self.numbering.advance(&mut counts);
        }
        Ok(())
    }

    /// Stands before the row of `counts` in its layer; the rows up to that of
    /// `last`, if it is in the layer, can be read.
    fn cursor<'a>(
        &self,
        working: &'a Working,
        key: Key,
        counts: &[u8],
        last: &[u8],
    ) -> Result<Cursor<'a>> {
        let place = self.order.before(counts, key.pips);
        let end = (self.order.before(last, key.pips) + 1).min(self.order.len(key.total, key.pips));
        let rows = self
            .store
            .rows(working, key, place / GROUP, end.div_ceil(GROUP))?;
        let mut cursor = Cursor { rows, at: 0 };
        for _ in 0..place % GROUP {
            cursor.skip::<A>()?;
        }
        Ok(cursor)
    }
}

/// A place in a layer's rows.
struct Cursor<'a> {
    rows: Cow<'a, [u8]>,
    at: usize,
}

impl Cursor<'_> {
    #[inline]
    fn next<A: Arithmetic>(&mut self) -> Result<A::Row> {
        let mut rest = &self.rows[self.at..];
        let row = A::take(&mut rest)?;
        self.at = self.rows.len() - rest.len();
        Ok(row)
    }

    fn skip<A: Arithmetic>(&mut self) -> Result<()> {
        let mut rest = &self.rows[self.at..];
        A::skip(&mut rest)?;
        self.at = self.rows.len() - rest.len();
        Ok(())
    }
}

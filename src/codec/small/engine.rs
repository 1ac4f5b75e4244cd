//! Walks a block's records: finds what each is predicted from, and predicts it.
//! Encoder, decoder and trainer differ only in what they do with the values.

use std::sync::Arc;

use super::feedback::Expected;
use super::layout::{
    DYNAMIC_CLASSES, LANES, LEFT, MAX_REFERENCES, PREVIOUS, STATIC_CLASSES, stride,
};
use super::model::{Cell, Model, Set};
use super::predict::{self, Inputs, Lanes, Sample, Window};
use super::references::available;
use crate::codec::rans::{SIDE_BY_SIDE, Tables};
use crate::codec::{Plan, Shape, Slot};

/// A model made ready for values of one type.
#[derive(Debug)]
pub(super) struct Engine<T> {
    pub(super) model: Arc<Model>,
    pub(super) width: usize,
    /// The greatest value of each place in a record.
    pub(super) largest: Vec<u32>,
    stride: usize,
    /// The width in whole windows.
    padded: usize,
    /// Rows of the anchors, padded; one of zeros if the model has none.
    anchors: Vec<T>,
    anchor_facts: Vec<Facts>,
    /// Zeros, for residuals of what has none.
    zeros: Vec<u16>,
    /// The clusters' tables and shifts, and the clusters of contexts, for decoding.
    pub(super) tables: Tables,
    pub(super) shifts: [u8; SIDE_BY_SIDE],
    pub(super) contexts: Box<[[u8; DYNAMIC_CLASSES]; STATIC_CLASSES]>,
    /// See [`level`].
    level: Option<u32>,
    pub(super) vector: bool,
}

/// What is remembered of a record beside its values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Place of the first value that isn't 0.
    pub(super) first: u16,
    /// Mean place, rounded down, the values being weights.
    pub(super) mean: u8,
    /// Mean magnitude of the residuals of a record of average length.
    pub(super) residual: u16,
}

/// The records of a block, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Records<T> {
    rows: Vec<T>,
    residuals: Vec<u16>,
    facts: Vec<Facts>,
    slots: Vec<Slot>,
    lanes: Vec<Lanes>,
    /// For each slot the one whose row it has: its own unless it is a copy.
    places: Vec<u16>,
    /// Elements of a row; rows have been used for nothing else.
    stride: usize,
}

/// A record's own values, and what is predicted of them.
pub(super) struct Parts<'a, T> {
    pub(super) values: &'a mut [T],
    pub(super) residuals: &'a mut [u16],
    pub(super) lanes: &'a [Lanes],
}

/// How one record is predicted; its lanes are in [`Records`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Prepared {
    pub(super) set: usize,
    pub(super) cell: usize,
    /// Place of the first value that is coded.
    pub(super) start: usize,
    /// Place of lane 0 of the first window.
    pub(super) window: usize,
    /// Slots whose rows are the references, the base first.
    references: [u16; MAX_REFERENCES],
    count: usize,
    anchor: usize,
}

impl Prepared {
    /// Slot of the row of the k-th reference, the base being 0.
    pub(super) fn reference(&self, k: usize) -> Option<usize> {
        let found = self.references.get(k).filter(|_| k < self.count);
        found.map(|&slot| usize::from(slot))
    }
}

impl<T: Sample> Engine<T> {
    pub(super) fn new(model: Arc<Model>, shape: &Shape) -> Self {
        let width = shape.width();
        let stride = stride(width);
        let level = level(model.spread, shape);
        let mut anchors = Vec::new();
        let mut anchor_facts = Vec::new();
        let none = vec![0; width];
        let rows = model.anchors.chunks_exact(width.max(1));
        for row in rows.chain(model.anchors.is_empty().then_some(none.as_slice())) {
            let from = anchors.len();
            anchors.resize(from + stride, T::default());
            let place = anchors.iter_mut().skip(from + LEFT);
            place.zip(row).for_each(|(to, &value)| *to = T::of(value));
            anchor_facts.push(facts(row.iter().copied(), level));
        }
        #[cfg(target_arch = "x86_64")]
        let vector = super::predict_avx2::available();
        #[cfg(not(target_arch = "x86_64"))]
        let vector = false;
        let mut shifts = [0; SIDE_BY_SIDE];
        let places = shifts.iter_mut().zip(&model.clusters);
        places.for_each(|(to, cluster)| *to = cluster.shift as u8);
        let mut contexts = Box::new([[0; DYNAMIC_CLASSES]; STATIC_CLASSES]);
        let places = contexts.iter_mut().zip(&model.contexts);
        places.for_each(|(to, clusters)| *to = *clusters);
        Self {
            width,
            largest: shape
                .bits
                .iter()
                .map(|&bits| Shape::largest(bits))
                .collect(),
            stride,
            padded: width.next_multiple_of(LANES),
            anchors,
            anchor_facts,
            zeros: vec![0; stride],
            level,
            vector,
            // There are not too many clusters, which was checked, nor other symbols.
            tables: Tables::new(model.clusters.iter().map(|c| &c.table)).unwrap_or_default(),
            shifts,
            contexts,
            model,
        }
    }

    /// Turns the vector arithmetic off, to compare with it.
    #[cfg(test)]
    pub(super) fn without_vectors(mut self) -> Self {
        self.vector = false;
        self
    }

    /// Makes room for the first `count` records of the block at `first`.
    #[inline]
    pub(super) fn begin(
        &self,
        plan: &dyn Plan,
        first: u64,
        count: usize,
        records: &mut Records<T>,
    ) {
        // A row is cleared when it is begun, but for its padding, which has to
        // be zero and in which nothing is ever written.
        if records.stride != self.stride {
            records.rows.clear();
            records.residuals.clear();
            records.stride = self.stride;
        }
        if records.rows.len() < count * self.stride {
            records.rows.resize(count * self.stride, T::default());
            records.residuals.resize(count * self.stride, 0);
        }
        if records.facts.len() < count {
            records.facts.resize(count, Facts::default());
            records.slots.resize(count, Slot::default());
            records.places.resize(count, 0);
        }
        let windows = if self.model.spread {
            1
        } else {
            self.width.div_ceil(LANES)
        };
        records.lanes.resize(
            windows,
            Lanes {
                prediction: [0; LANES],
                class: [0; LANES],
            },
        );
        plan.describe(first, records.slots.get_mut(..count).unwrap_or_default());
    }

    /// Begins the row of the record in `slot`, which is no copy.
    #[inline(always)]
    pub(super) fn open(&self, records: &mut Records<T>, slot: usize) {
        let from = slot * self.stride + LEFT;
        let row = from..from + self.padded;
        let values = records.rows.get_mut(row.clone()).unwrap_or_default();
        let residuals = records.residuals.get_mut(row).unwrap_or_default();
        for values in values.as_chunks_mut::<LANES>().0 {
            *values = [T::default(); LANES];
        }
        for residuals in residuals.as_chunks_mut::<LANES>().0 {
            *residuals = [0; LANES];
        }
        if let Some(place) = records.places.get_mut(slot) {
            *place = slot as u16;
        }
    }

    /// Whether the record in `slot` probably equals the one before.
    #[inline(always)]
    pub(super) fn tied(&self, records: &Records<T>, slot: usize) -> bool {
        self.model.ties && slot > 0 && records.slots.get(slot).is_some_and(|s| s.tied)
    }

    /// Predicts the record in `slot`, which is no copy.
    #[inline]
    pub(super) fn prepare(&self, records: &mut Records<T>, slot: usize) -> Prepared {
        let prepared = self.locate(records, slot);
        self.open(records, slot);
        self.predict(records, &prepared);
        prepared
    }

    /// Finds what the record in `slot` is predicted from.
    #[inline(always)]
    pub(super) fn locate(&self, records: &Records<T>, slot: usize) -> Prepared {
        let model = &*self.model;
        let none = Slot::default();
        let described = records.slots.get(slot).unwrap_or(&none);
        let mask = available(described, slot);
        let key = model.key(described.class, mask);
        let set_index = usize::from(model.set_of.get(key).copied().unwrap_or(0));
        let anchor = self.anchor_of(described);
        let anchor_facts = self.anchor_facts.get(anchor).copied().unwrap_or_default();
        let mut prepared = Prepared {
            set: set_index,
            cell: 0,
            start: 0,
            window: 0,
            references: [0; MAX_REFERENCES],
            count: 0,
            anchor,
        };
        let set = model.sets.get(set_index);
        let (kinds, margin) = set.map_or((&[][..], 0), |set: &Set| {
            (set.kinds.get(..set.count).unwrap_or_default(), set.margin)
        });
        for (&kind, reference) in kinds.iter().zip(&mut prepared.references) {
            let back = if usize::from(kind) == PREVIOUS {
                1
            } else {
                described.back.get(usize::from(kind)).copied().unwrap_or(0)
            };
            // The set's kinds are among those that exist, so this is in the block.
            let at = usize::from((slot as u16).wrapping_sub(back));
            *reference = records.places.get(at).copied().unwrap_or(0);
        }
        prepared.count = kinds.len();
        let base_facts = match prepared.reference(0) {
            Some(base) => records.facts.get(base).copied().unwrap_or_default(),
            None => anchor_facts,
        };
        if model.spread {
            prepared.start = usize::from(base_facts.first.saturating_sub(u16::from(margin)));
            let last = self.width.saturating_sub(LANES);
            prepared.window = usize::from(base_facts.mean.saturating_sub(7)).min(last);
        }
        prepared.cell = set_index * model.groups() + model.group(base_facts.mean);
        prepared
    }

    #[inline(always)]
    fn anchor_of(&self, described: &Slot) -> usize {
        let anchor = described
            .anchors
            .get(self.model.anchoring)
            .copied()
            .unwrap_or(0);
        usize::from(anchor).min(self.anchor_facts.len() - 1)
    }

    /// Predicts a record's lanes.
    #[inline(always)]
    pub(super) fn predict(&self, records: &mut Records<T>, prepared: &Prepared) {
        self.each_window(records, prepared, |engine, inputs, cell, lanes| {
            engine.window(inputs, cell, lanes)
        });
    }

    /// Calls `each` with what every window of a record is predicted from.
    #[inline(always)]
    pub(super) fn each_window(
        &self,
        records: &mut Records<T>,
        prepared: &Prepared,
        mut each: impl FnMut(&Self, &Inputs<'_, T>, &Cell, &mut Lanes),
    ) {
        let model = &*self.model;
        let anchor_row = self
            .anchors
            .get(prepared.anchor * self.stride..)
            .unwrap_or_default();
        let base_anchor = match prepared
            .reference(0)
            .and_then(|base| records.slots.get(base))
        {
            Some(described) => self.anchor_of(described),
            None => prepared.anchor,
        };
        let base_anchor = self
            .anchors
            .get(base_anchor * self.stride..)
            .unwrap_or_default();
        let Some(cell) = model.cells.get(prepared.cell) else {
            return;
        };
        for (at, lanes) in records.lanes.iter_mut().enumerate() {
            let from = LEFT - 2 + prepared.window + at * LANES;
            let row = |reference: u16| {
                let start = usize::from(reference) * self.stride + from;
                records.rows.get(start..).unwrap_or_default()
            };
            let base: &[T] = match prepared.reference(0) {
                Some(base) => row(base as u16),
                None => anchor_row.get(from..).unwrap_or_default(),
            };
            let Some(base) = base.first_chunk() else {
                continue;
            };
            let mut rows: [Window<'_, T>; MAX_REFERENCES] = [base; MAX_REFERENCES];
            for (place, &reference) in rows
                .iter_mut()
                .zip(&prepared.references)
                .take(prepared.count)
                .skip(1)
            {
                if let Some(window) = row(reference).first_chunk() {
                    *place = window;
                }
            }
            let residuals = |k: usize| {
                let row = match prepared.reference(k) {
                    Some(slot) => records.residuals.get(slot * self.stride + from..),
                    None => self.zeros.get(from..),
                };
                row.and_then(|row| row.first_chunk())
            };
            let (Some(own), Some(of_base)) =
                (window_of(anchor_row, from), window_of(base_anchor, from))
            else {
                continue;
            };
            let (Some(first), Some(second)) = (residuals(0), residuals(1)) else {
                continue;
            };
            let mean = |k: usize| {
                let slot = prepared.reference(k);
                slot.and_then(|slot| records.facts.get(slot))
                    .map_or(0, |facts| facts.residual)
            };
            let inputs = Inputs {
                rows,
                count: prepared.count.max(1),
                residuals: [first, second],
                means: [mean(0), mean(1)],
                anchors: [own, of_base],
                spread: model.spread,
            };
            each(self, &inputs, cell, lanes);
        }
    }

    #[inline(always)]
    fn window(&self, inputs: &Inputs<'_, T>, cell: &Cell, lanes: &mut Lanes) {
        if !(self.vector && T::vector_window(inputs, cell, lanes)) {
            predict::window(inputs, cell, lanes);
        }
    }

    /// What is expected of the value in `place` of a prepared record in `slot`.
    #[inline(always)]
    pub(super) fn expected(
        &self,
        records: &Records<T>,
        prepared: &Prepared,
        place: usize,
    ) -> Expected {
        let (window, lane) = if self.model.spread {
            (0, place.wrapping_sub(prepared.window))
        } else {
            (place / LANES, place % LANES)
        };
        match records.lanes.get(window) {
            Some(lanes) if lane < LANES => Expected {
                prediction: lanes.prediction.get(lane).copied().unwrap_or(0),
                class: lanes.class.get(lane).copied().unwrap_or(0),
                lane,
            },
            _ => {
                let base = self
                    .base_row(records, prepared)
                    .get(place)
                    .copied()
                    .unwrap_or_default();
                Expected::outside(base)
            }
        }
    }

    /// The values of the base of a prepared record.
    pub(super) fn base_row<'a>(&'a self, records: &'a Records<T>, prepared: &Prepared) -> &'a [T] {
        let row = match prepared.reference(0) {
            Some(slot) => records.rows.get(slot * self.stride + LEFT..),
            None => self.anchors.get(prepared.anchor * self.stride + LEFT..),
        };
        row.and_then(|row| row.get(..self.width))
            .unwrap_or_default()
    }

    /// The values of the record in `slot`.
    #[inline]
    pub(super) fn row<'a>(&self, records: &'a Records<T>, slot: usize) -> &'a [T] {
        let place = records.places.get(slot).map_or(0, |&p| usize::from(p));
        let row = records.rows.get(place * self.stride + LEFT..);
        row.and_then(|row| row.get(..self.width))
            .unwrap_or_default()
    }

    /// Keeps a value of the record in `slot`, and its residual.
    #[inline(always)]
    pub(super) fn keep(
        &self,
        records: &mut Records<T>,
        slot: usize,
        place: usize,
        value: u32,
        residual: i64,
    ) {
        let at = slot * self.stride + LEFT + place;
        if let Some(to) = records.rows.get_mut(at) {
            *to = T::of(value);
        }
        if let Some(to) = records.residuals.get_mut(at) {
            *to = residual.unsigned_abs().min(65535) as u16;
        }
    }

    /// Completes the record in `slot`, all of whose values are kept.
    #[inline]
    pub(super) fn complete(&self, records: &mut Records<T>, slot: usize) {
        let mut found = facts(
            self.row(records, slot).iter().map(|&v| v.into()),
            self.level,
        );
        let residuals = records
            .residuals
            .get(slot * self.stride + LEFT..)
            .unwrap_or_default();
        let sum: u32 = residuals
            .iter()
            .take(self.width)
            .map(|&r| u32::from(r))
            .sum();
        found.residual = (sum >> 3).min(65535) as u16;
        if let Some(to) = records.facts.get_mut(slot) {
            *to = found;
        }
    }

    /// The parts of the record in `slot` that decoding it needs, its values
    /// from `place` on, with what is kept behind them.
    #[inline(always)]
    pub(super) fn parts<'a>(
        &self,
        records: &'a mut Records<T>,
        slot: usize,
        place: usize,
    ) -> Parts<'a, T> {
        let row = slot * self.stride + LEFT + place..(slot + 1) * self.stride;
        Parts {
            values: records.rows.get_mut(row.clone()).unwrap_or_default(),
            residuals: records.residuals.get_mut(row).unwrap_or_default(),
            lanes: &records.lanes,
        }
    }

    /// [`Engine::complete`] for a distribution with a known sum, of which the place of
    /// the first value that isn't 0, the sum of values by their places, and that of
    /// magnitudes are known.
    #[inline(always)]
    pub(super) fn complete_spread(
        &self,
        records: &mut Records<T>,
        slot: usize,
        total: u32,
        (first, moment, magnitudes): (u16, u64, u32),
    ) {
        let mean = match u32::try_from(moment) {
            Ok(moment) => u64::from(moment / total),
            Err(_) => moment / u64::from(total),
        };
        if let Some(to) = records.facts.get_mut(slot) {
            *to = Facts {
                first,
                mean: mean.min(255) as u8,
                residual: (magnitudes >> 3).min(65535) as u16,
            };
        }
    }

    /// Makes the record in `slot` a copy of the k-th reference, or of the anchor's row
    /// for the base of a record that has none; false where there is no such reference.
    pub(super) fn copy(
        &self,
        records: &mut Records<T>,
        prepared: &Prepared,
        k: usize,
        slot: usize,
    ) -> bool {
        match prepared.reference(k) {
            Some(from) if from < slot => {
                if let Some(place) = records.places.get_mut(slot) {
                    *place = from as u16;
                }
            }
            None if k == 0 => {
                self.open(records, slot);
                let row = self
                    .anchors
                    .get(prepared.anchor * self.stride + LEFT..)
                    .unwrap_or_default();
                let to = slot * self.stride + LEFT;
                let place = records.rows.iter_mut().skip(to).take(self.width);
                place.zip(row).for_each(|(to, &from)| *to = from);
                self.complete(records, slot);
            }
            _ => return false,
        }
        true
    }

    /// Makes the record in `slot`, which is not the first, a copy of the one before.
    #[inline(always)]
    pub(super) fn repeat(&self, records: &mut Records<T>, slot: usize) {
        let before = slot.checked_sub(1).and_then(|b| records.places.get(b));
        let before = before.copied().unwrap_or(0);
        if let Some(place) = records.places.get_mut(slot) {
            *place = before;
        }
    }
}

fn window_of<T>(row: &[T], from: usize) -> Option<Window<'_, T>> {
    row.get(from..).and_then(|row| row.first_chunk())
}

/// First value and mean of a row; with `level`, the first value's highest bits
/// instead of the mean.
fn facts(row: impl Iterator<Item = u32>, level: Option<u32>) -> Facts {
    let mut found = Facts {
        first: u16::MAX,
        mean: 0,
        residual: 0,
    };
    let (mut sum, mut moment) = (0u64, 0u64);
    for (place, value) in row.enumerate() {
        if let (0, Some(shift)) = (place, level) {
            found.mean = (value >> shift).min(255) as u8;
            return found;
        }
        if value != 0 && found.first == u16::MAX {
            found.first = place as u16;
        }
        sum += u64::from(value);
        moment += u64::from(value) * place as u64;
    }
    found.mean = (moment / sum.max(1)).min(255) as u8;
    found
}

/// By how much the first value of a record that is no distribution is shifted
/// to find its group.
pub(super) fn level(spread: bool, shape: &Shape) -> Option<u32> {
    let bits = shape.bits.first().map_or(0, |&bits| u32::from(bits));
    (!spread).then(|| bits.saturating_sub(8))
}

//! Learns a model from sample blocks. Floating point is used here only: what
//! is learnt is stored in integers, and coding uses nothing else.
#![allow(clippy::indexing_slicing)] // training only: sizes are this module's own

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use super::contexts::Counts;
use super::engine::{Engine, Feedback, Prepared, Records, available, level, rounded};
use super::layout::{
    FRACTION, LANES, MAX_FEATURES, MODES, SCALES, WEIGHT_BITS, dynamic_class, split, symbol_class,
};
use super::model::{Cell, Model, Set};
use super::predict::{Sample, features, scale_features};
use super::regression::{Normal, quantise};
use super::{choose, first_place, is_copy, keep_whole};
use crate::Result;
use crate::codec::rans::{Table, normalise};
use crate::codec::{Plan, SampleBlock, Shape, Slot};

/// The most sets of references.
const MAX_SETS: usize = 100;
/// Samples that a set must have to be one.
const SET_SAMPLES: usize = 600;
/// The most clusters of contexts.
const MAX_CLUSTERS: usize = 60;
/// Of 1000 records of a set, how many may begin before coding does.
const EARLY_PER_MILLE: usize = 3;

/// Learns from `sample`.
pub(super) fn train<T: Sample>(
    shape: &Shape,
    plan: &dyn Plan,
    sample: &[SampleBlock],
) -> Result<Model> {
    let width = shape.width();
    let (spread, total) = kind(shape, sample);
    let (anchoring, anchors) = anchors(width, plan, sample);
    let ties = has_ties(width, plan, sample);
    let mut model = Model {
        spread,
        total,
        ties,
        kinds: plan.kinds(),
        classes: plan.classes(),
        thresholds: Vec::new(),
        anchoring,
        anchors,
        sets: vec![Set::new(0, 0)],
        cells: Vec::new(),
        set_of: vec![0; plan.classes() << (plan.kinds() + 1)],
        clusters: Vec::new(),
        contexts: Model::no_contexts(),
        modes: Model::uniform_modes(ties)?,
    };
    choose_sets(&mut model, width, plan, sample);
    fill_cells(&mut model);
    model.thresholds = thresholds(width, level(spread, shape), sample);
    fill_cells(&mut model);
    if spread {
        margins::<T>(&mut model, shape, plan, sample);
    }
    let mut trainer = Trainer::<T> {
        shape,
        plan,
        sample,
        model,
        weights: Vec::new(),
        kept_as: PhantomData,
    };
    trainer.weigh();
    trainer.predictions();
    trainer.weigh();
    trainer.predictions();
    trainer.weigh();
    trainer.feedback();
    trainer.scales();
    trainer.contexts()?;
    trainer.modes()?;
    Ok(trainer.model)
}

fn fill_cells(model: &mut Model) {
    model.cells = vec![Cell::default(); model.sets.len() * model.groups()];
}

/// Whether the numbering ties any records of the sample to those before.
fn has_ties(width: usize, plan: &dyn Plan, sample: &[SampleBlock]) -> bool {
    let mut slots = Vec::new();
    sample.iter().any(|block| {
        slots.resize(block.values.len() / width, Slot::default());
        plan.describe(block.first, &mut slots);
        slots.iter().any(|slot| slot.tied)
    })
}

/// Whether records are distributions, and what their values sum to.
fn kind(shape: &Shape, sample: &[SampleBlock]) -> (bool, Option<u32>) {
    let width = shape.width();
    let alike = shape.bits.windows(2).all(|b| b[0] == b[1]);
    if !(8..=1024).contains(&width) || !alike {
        return (false, None);
    }
    let mut sums = sample
        .iter()
        .flat_map(|block| block.values.chunks_exact(width))
        .map(|record| record.iter().map(|&v| u64::from(v)).sum::<u64>());
    let first = sums.next().unwrap_or(0);
    match u32::try_from(first) {
        Ok(total) if total > 0 && sums.all(|sum| sum == first) => (true, Some(total)),
        _ => (false, None),
    }
}

/// Mean record of each anchor, by the anchoring that tells more of records.
fn anchors(width: usize, plan: &dyn Plan, sample: &[SampleBlock]) -> (usize, Vec<u32>) {
    let [one, other] = [0, 1].map(|anchoring| anchored(width, plan, sample, anchoring));
    if other.0 < one.0 {
        (1, other.1)
    } else {
        (0, one.1)
    }
}

/// Mean record of each anchor, of an anchor without samples that of the one
/// before; and the squared error that remains.
fn anchored(
    width: usize,
    plan: &dyn Plan,
    sample: &[SampleBlock],
    anchoring: usize,
) -> (f64, Vec<u32>) {
    let count = plan.anchors()[anchoring];
    let count = if count * width > 1 << 18 { 1 } else { count };
    let mut sums = vec![0u64; count * width];
    let mut squares = 0.0;
    let mut records = vec![0u64; count];
    let mut slots = Vec::new();
    for block in sample {
        slots.resize(block.values.len() / width, Slot::default());
        plan.describe(block.first, &mut slots);
        for (record, slot) in block.values.chunks_exact(width).zip(&slots) {
            let anchor = usize::from(slot.anchors[anchoring]).min(count - 1);
            records[anchor] += 1;
            squares += record
                .iter()
                .map(|&v| f64::from(v) * f64::from(v))
                .sum::<f64>();
            let sums = sums[anchor * width..].iter_mut();
            sums.zip(record).for_each(|(sum, &v)| *sum += u64::from(v));
        }
    }
    let mut rows: Vec<u32> = Vec::with_capacity(sums.len());
    for (sums, &records) in sums.chunks_exact(width).zip(&records) {
        if records == 0 && rows.len() >= width {
            rows.extend_from_within(rows.len() - width..);
            continue;
        }
        for &sum in sums {
            rows.push(((sum + records / 2) / records.max(1)) as u32);
            squares -= sum as f64 * sum as f64 / records.max(1) as f64;
        }
    }
    (squares, rows)
}

/// Chooses the sets of references that are common, and for each combination
/// that occurs the largest set within it.
fn choose_sets(model: &mut Model, width: usize, plan: &dyn Plan, sample: &[SampleBlock]) {
    let mut seen: BTreeMap<(u8, u16), usize> = BTreeMap::new();
    let mut slots = Vec::new();
    for block in sample {
        slots.resize(block.values.len() / width, Slot::default());
        plan.describe(block.first, &mut slots);
        for (place, slot) in slots.iter().enumerate() {
            *seen
                .entry((slot.class, available(slot, place)))
                .or_default() += 1;
        }
    }
    let mut common: Vec<_> = seen.iter().map(|(&key, &n)| (n, key)).collect();
    common.sort_by_key(|&(n, key)| (std::cmp::Reverse(n), key));
    let mut chosen = vec![(0u8, 0u16)];
    for (n, (class, mask)) in common {
        if mask != 0 && n >= SET_SAMPLES && chosen.len() < MAX_SETS {
            chosen.push((class, mask));
            model.sets.push(Set::new(mask, 0));
        }
    }
    for &(class, mask) in seen.keys() {
        // The first reference says most, each other one a little.
        let worth = |of: u16| 2 * of.count_ones() + if of & 1 == 1 { 5 } else { 0 };
        let fitting = |class: Option<u8>| {
            let sets = chosen.iter().enumerate();
            let sets =
                sets.filter(move |(_, s)| s.1 & !mask == 0 && class.is_none_or(|c| c == s.0));
            sets.max_by_key(|&(index, s)| (worth(s.1), std::cmp::Reverse(index)))
                .map_or(0, |(index, _)| index)
        };
        let best = match fitting(Some(class)) {
            0 => fitting(None),
            own => own,
        };
        let key = model.key(class, mask);
        model.set_of[key] = best as u16;
    }
}

/// Quantiles of the records' means.
fn thresholds(width: usize, level: Option<u32>, sample: &[SampleBlock]) -> Vec<u8> {
    let mut means: Vec<u8> = sample
        .iter()
        .flat_map(|block| block.values.chunks_exact(width))
        .map(|record| {
            if let Some(shift) = level {
                return (record[0] >> shift).min(255) as u8;
            }
            let sum: u64 = record.iter().map(|&v| u64::from(v)).sum();
            let moment: u64 = record
                .iter()
                .enumerate()
                .map(|(i, &v)| i as u64 * u64::from(v))
                .sum();
            (moment / sum.max(1)).min(255) as u8
        })
        .collect();
    means.sort_unstable();
    let parts = match means.len() {
        0..20_000 => 1,
        20_000..100_000 => 2,
        _ if level.is_some() => 8,
        _ => 4,
    };
    let mut found: Vec<u8> = (1..parts)
        .map(|part| means[means.len() * part / parts])
        .collect();
    found.dedup();
    found.retain(|&t| t > 0);
    found
}

/// Finds where coding has to begin so that few records begin before.
fn margins<T: Sample>(model: &mut Model, shape: &Shape, plan: &dyn Plan, sample: &[SampleBlock]) {
    let mut early = vec![[0usize; 32]; model.sets.len()];
    let engine = Engine::<T>::new(Arc::new(model.clone()), shape);
    let mut records = Records::default();
    for block in sample {
        engine.begin(
            plan,
            block.first,
            block.values.len() / engine.width,
            &mut records,
        );
        for (slot, record) in block.values.chunks_exact(engine.width).enumerate() {
            let prepared = engine.locate(&records, slot);
            if is_copy(choose(&engine, &mut records, &prepared, slot, record)) {
                continue;
            }
            let by = prepared.start.saturating_sub(first_place(record));
            early[prepared.set][by.min(31)] += 1;
            keep_whole(&engine, &mut records, slot, record);
        }
    }
    for (set, early) in model.sets.iter_mut().zip(&early) {
        let all: usize = early.iter().sum();
        let mut later = all;
        let margin = early.iter().position(|&n| {
            later -= n;
            later * 1000 <= all * EARLY_PER_MILLE
        });
        set.margin = margin.unwrap_or(0) as u8;
    }
}

struct Trainer<'a, T> {
    shape: &'a Shape,
    plan: &'a dyn Plan,
    sample: &'a [SampleBlock],
    model: Model,
    /// For each record of the sample, how much it counts.
    weights: Vec<f64>,
    kept_as: PhantomData<T>,
}

impl<T: Sample> Trainer<'_, T> {
    /// Calls `each` for every value that is coded: with the record's number in
    /// the sample, its slot, how it is prepared, the place, the value, the
    /// prediction's parts and the residual; `window` before for each window.
    fn walk(
        &self,
        mut before: impl FnMut(&Engine<T>, &mut Records<T>, &Prepared, &[u32], usize),
        mut each: impl FnMut(&Engine<T>, &Prepared, Walked),
    ) {
        let engine = Engine::<T>::new(Arc::new(self.model.clone()), self.shape);
        let mut records = Records::default();
        let mut number = 0;
        for block in self.sample {
            engine.begin(
                self.plan,
                block.first,
                block.values.len() / engine.width,
                &mut records,
            );
            for (slot, record) in block.values.chunks_exact(engine.width).enumerate() {
                if engine.model.ties {
                    let prepared = engine.locate(&records, slot);
                    if is_copy(choose(&engine, &mut records, &prepared, slot, record)) {
                        number += 1;
                        continue;
                    }
                }
                let prepared = engine.prepare(&mut records, slot);
                before(&engine, &mut records, &prepared, record, number);
                let cell = &engine.model.cells[prepared.cell];
                let mut feedback = Feedback::default();
                let mut rest = engine.model.total;
                for (place, &value) in record.iter().enumerate().skip(prepared.start) {
                    let expected = engine.expected(&records, &prepared, place);
                    let largest = rest.map_or(engine.largest[place], |rest| {
                        rest.min(engine.largest[place])
                    });
                    let correction = feedback.correction(cell, expected.lane);
                    let residual =
                        i64::from(value) - rounded(expected.prediction, correction, largest);
                    let walked = Walked {
                        record: number,
                        place,
                        value,
                        lane: expected.lane,
                        class: expected.class,
                        prediction: expected.prediction,
                        feedback,
                        residual,
                        starts: place == prepared.start,
                    };
                    each(&engine, &prepared, walked);
                    engine.keep(&mut records, slot, place, value, residual);
                    feedback.note(value, expected.prediction, engine.model.spread);
                    if let Some(rest) = &mut rest {
                        *rest = rest.saturating_sub(value);
                        if *rest == 0 {
                            break;
                        }
                    }
                }
                for (place, &value) in record.iter().enumerate().take(prepared.start) {
                    engine.keep(&mut records, slot, place, value, 0);
                }
                engine.complete(&mut records, slot);
                number += 1;
            }
        }
    }

    /// Weighs records by how exactly they can be predicted now: a residual
    /// costs by its logarithm, not its square.
    fn weigh(&mut self) {
        let count = self
            .sample
            .iter()
            .map(|b| b.values.len() / self.shape.width())
            .sum();
        let mut errors = vec![0.0f64; count];
        if !self.weights.is_empty() {
            self.walk(
                |_, _, _, _, _| {},
                |_, _, walked| {
                    let error = (i64::from(walked.value) << FRACTION) - walked.prediction;
                    errors[walked.record] += error.unsigned_abs() as f64 / f64::from(1 << FRACTION);
                },
            );
        }
        self.weights = errors.iter().map(|e| (e / 10.0 + 1.0).powi(-2)).collect();
    }

    /// Weights of the references.
    fn predictions(&mut self) {
        let groups = self.model.groups();
        let sizes: Vec<usize> = self
            .model
            .sets
            .iter()
            .map(|s| s.features(self.model.spread))
            .collect();
        let mut normals: Vec<Normal> = Vec::new();
        for &size in &sizes {
            normals.extend(vec![Normal::new(size); groups * LANES]);
        }
        let width = self.shape.width();
        let mut values = [0; MAX_FEATURES];
        let mut floats = [0.0; MAX_FEATURES];
        self.walk(
            |engine, records, prepared, record, number| {
                let ends = ends(engine, record);
                let mut at = prepared.window;
                engine.each_window(records, prepared, |_, inputs, _, _| {
                    let base = inputs.rows[0];
                    for lane in 0..LANES.min(width - at) {
                        let place = at + lane;
                        if place < prepared.start || place >= ends {
                            continue;
                        }
                        let count = features(inputs, lane, &mut values);
                        floats
                            .iter_mut()
                            .zip(values)
                            .take(count)
                            .for_each(|(f, v)| *f = v as f64);
                        let target = f64::from(record[place]) - base[lane + 2].wide() as f64;
                        let normal = &mut normals[prepared.cell * LANES + lane];
                        normal.add(&floats[..count], target, self.weights[number]);
                    }
                    at += LANES;
                });
            },
            |_, _, _| {},
        );
        for (set, &size) in sizes.iter().enumerate() {
            for lane in 0..LANES {
                let index = |group: usize| (set * groups + group) * LANES + lane;
                let mut pool = Normal::new(size);
                (0..groups).for_each(|g| pool.merge(&normals[index(g)]));
                let prior = pool.solve(&vec![0.0; size], &pool, 4.0);
                for group in 0..groups {
                    let own = &normals[index(group)];
                    let solved = own.solve(&prior, &pool, 3.0 * size as f64);
                    let cell = &mut self.model.cells[set * groups + group];
                    for (feature, weight) in solved.into_iter().enumerate() {
                        let weight = if own.count > 0.0 { weight } else { 0.0 };
                        cell.set_weight(
                            feature,
                            lane,
                            quantise(weight, f64::from(1 << WEIGHT_BITS)),
                        );
                    }
                }
            }
        }
    }

    /// Weights of the record's own errors.
    fn feedback(&mut self) {
        let groups = self.model.groups();
        let mut normals = vec![Normal::new(4); self.model.cells.len() * LANES];
        self.walk(
            |_, _, _, _, _| {},
            |_, prepared, walked| {
                if walked.lane < LANES && !walked.starts {
                    let [a, b, c] = walked.feedback.errors;
                    let features = [a as f64, b as f64, c as f64, walked.feedback.sum as f64];
                    let target = ((i64::from(walked.value) << FRACTION) - walked.prediction) as f64;
                    let normal = &mut normals[prepared.cell * LANES + walked.lane];
                    normal.add(&features, target, self.weights[walked.record]);
                }
            },
        );
        for set in 0..self.model.sets.len() {
            for lane in 0..LANES {
                let index = |group: usize| (set * groups + group) * LANES + lane;
                let mut pool = Normal::new(4);
                (0..groups).for_each(|g| pool.merge(&normals[index(g)]));
                let prior = pool.solve(&[0.0; 4], &pool, 4.0);
                for group in 0..groups {
                    let own = &normals[index(group)];
                    if own.count == 0.0 {
                        continue;
                    }
                    let solved = own.solve(&prior, &pool, 20.0);
                    let scale = f64::from(1 << WEIGHT_BITS);
                    self.model.cells[set * groups + group].feedback[lane] =
                        std::array::from_fn(|k| quantise(solved[k], scale));
                }
            }
        }
    }

    /// Weights of the scale's features.
    fn scales(&mut self) {
        let groups = self.model.groups();
        let mut normals = vec![Normal::new(SCALES); self.model.cells.len()];
        // Features of the values of the record that is walked.
        let places = RefCell::new(vec![[0.0; SCALES]; self.shape.width() + LANES]);
        self.walk(
            |engine, records, prepared, _, _| {
                let mut at = prepared.window;
                engine.each_window(records, prepared, |_, inputs, _, lanes| {
                    for (lane, &prediction) in lanes.prediction.iter().enumerate() {
                        let found = scale_features(inputs, lane, prediction);
                        places.borrow_mut()[at + lane] = found.map(f64::from);
                    }
                    at += LANES;
                });
            },
            |_, prepared, walked| {
                if walked.lane < LANES {
                    let features = places.borrow()[walked.place];
                    let [near, _, _, difference, .., mean, _, _] = features;
                    let size = 1.0 + near + 0.1 * difference + 0.3 * mean;
                    let target = walked.residual.unsigned_abs().min(32767) as f64;
                    normals[prepared.cell].add(&features, target, size.powf(-1.5));
                }
            },
        );
        for set in 0..self.model.sets.len() {
            let mut pool = Normal::new(SCALES);
            let own = |group: usize| set * groups + group;
            (0..groups).for_each(|g| pool.merge(&normals[own(g)]));
            let prior = pool.solve(&[0.0; SCALES], &pool, 10.0);
            for group in 0..groups {
                let solved = normals[own(group)].solve(&prior, &pool, 200.0);
                self.model.cells[own(group)].scales =
                    std::array::from_fn(|k| quantise(solved[k], 256.0));
            }
        }
    }

    /// Tables of the residuals. The dynamic class comes from the symbol before,
    /// which depends on the tables: they are found anew when there are some.
    fn contexts(&mut self) -> Result<()> {
        for _ in 0..3 {
            let mut counts = Counts::new();
            let first = self.model.clusters.is_empty();
            let mut dynamic = 0;
            self.walk(
                |_, _, _, _, _| {},
                |engine, _, walked| {
                    if walked.starts {
                        dynamic = 0;
                    }
                    counts.add(walked.class, dynamic, walked.residual);
                    let cluster =
                        engine.model.contexts[usize::from(walked.class)][usize::from(dynamic)];
                    dynamic = if first {
                        dynamic_class(walked.residual.unsigned_abs().min(1 << 31) as u32)
                    } else {
                        let shift = engine.model.clusters[usize::from(cluster)].shift;
                        symbol_class(split(walked.residual, shift).0, shift)
                    };
                },
            );
            (self.model.clusters, self.model.contexts) = counts.cluster(MAX_CLUSTERS)?;
        }
        Ok(())
    }

    /// Tables of the modes.
    fn modes(&mut self) -> Result<()> {
        let mut counts = [[1u64; MODES]; MODES + 1];
        let engine = Engine::<T>::new(Arc::new(self.model.clone()), self.shape);
        let mut records = Records::default();
        for block in self.sample {
            engine.begin(
                self.plan,
                block.first,
                block.values.len() / engine.width,
                &mut records,
            );
            let mut before = 0;
            for (slot, record) in block.values.chunks_exact(engine.width).enumerate() {
                let prepared = engine.locate(&records, slot);
                let mode = choose(&engine, &mut records, &prepared, slot, record);
                if !is_copy(mode) {
                    keep_whole(&engine, &mut records, slot, record);
                }
                let mode = usize::from(mode);
                if engine.tied(&records, slot) {
                    counts[MODES][mode] += 1;
                    continue;
                }
                counts[before][mode] += 1;
                before = mode;
            }
        }
        let tables = counts
            .iter()
            .take(MODES + usize::from(self.model.ties))
            .map(|counts| Table::new(&normalise(counts), &[]));
        self.model.modes = tables.collect::<Result<_>>()?;
        Ok(())
    }
}

/// One value on the way.
struct Walked {
    /// The record's number in the sample.
    record: usize,
    place: usize,
    value: u32,
    lane: usize,
    class: u8,
    prediction: i64,
    /// Errors of the values before.
    feedback: Feedback,
    residual: i64,
    /// Whether it is the record's first.
    starts: bool,
}

/// Behind the last value of a record that is coded.
fn ends<T: Sample>(engine: &Engine<T>, record: &[u32]) -> usize {
    match engine.model.total {
        Some(_) => record
            .iter()
            .rposition(|&v| v != 0)
            .map_or(0, |last| last + 1),
        None => record.len(),
    }
}

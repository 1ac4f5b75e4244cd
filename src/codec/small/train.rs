//! Learns a model from sample blocks. Floating point is used here only: what
//! is learnt is stored in integers, and coding uses nothing else.
#![allow(clippy::indexing_slicing)] // training only: sizes are this module's own

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

use super::contexts::Counts;
use super::engine::{Engine, Prepared, Records, level};
use super::feedback::{Feedback, rounded};
use super::layout::{
    FRACTION, LANES, MAX_FEATURES, MODES, SCALES, WEIGHT_BITS, dynamic_class, split, symbol_class,
};
use super::model::{Cell, Model, Set};
use super::predict::{Sample, features, scale_features};
use super::regression::{Normal, quantise};
use super::survey::{anchors, choose_sets, has_ties, kind, margins, thresholds};
use super::{choose, is_copy, keep_whole};
use crate::Result;
use crate::codec::rans::{Table, normalise};
use crate::codec::{Plan, SampleBlock, Shape};

/// The most clusters of contexts.
const MAX_CLUSTERS: usize = 60;

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

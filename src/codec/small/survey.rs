//! What a model is given before its numbers are fitted: what kind of records these
//! are, their anchors, sets of references, groups and margins.
#![allow(clippy::indexing_slicing)] // training only: sizes are this module's own

use std::collections::BTreeMap;
use std::sync::Arc;

use super::engine::{Engine, Records};
use super::model::{Model, Set};
use super::predict::Sample;
use super::references::available;
use super::{choose, first_place, is_copy, keep_whole};
use crate::codec::{Plan, SampleBlock, Shape, Slot};

/// The most sets of references.
const MAX_SETS: usize = 100;
/// Samples that a set must have to be one.
const SET_SAMPLES: usize = 600;
/// Of 1000 records of a set, how many may begin before coding does.
const EARLY_PER_MILLE: usize = 3;

/// Whether the numbering ties any records of the sample to those before.
pub(super) fn has_ties(width: usize, plan: &dyn Plan, sample: &[SampleBlock]) -> bool {
    let mut slots = Vec::new();
    sample.iter().any(|block| {
        slots.resize(block.values.len() / width, Slot::default());
        plan.describe(block.first, &mut slots);
        slots.iter().any(|slot| slot.tied)
    })
}

/// Whether records are distributions, and what their values sum to.
pub(super) fn kind(shape: &Shape, sample: &[SampleBlock]) -> (bool, Option<u32>) {
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
pub(super) fn anchors(width: usize, plan: &dyn Plan, sample: &[SampleBlock]) -> (usize, Vec<u32>) {
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
pub(super) fn choose_sets(
    model: &mut Model,
    width: usize,
    plan: &dyn Plan,
    sample: &[SampleBlock],
) {
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
pub(super) fn thresholds(width: usize, level: Option<u32>, sample: &[SampleBlock]) -> Vec<u8> {
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
pub(super) fn margins<T: Sample>(
    model: &mut Model,
    shape: &Shape,
    plan: &dyn Plan,
    sample: &[SampleBlock],
) {
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

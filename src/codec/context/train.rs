//! Training: features are counted over a sample and merged into classes so
//! that the coded sample becomes short.
#![allow(
    clippy::indexing_slicing,
    reason = "works on its own counts, never on bytes of a file"
)]

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::model::{
    DISTRIBUTIONS, Distribution, ESCAPE, FAR, FAR_CLASSES, MOST, Model, NEAR, NEAR_CLASSES, SYMBOLS,
};
use super::row::{At, Until, Visit, walk_all};
use super::{Values, gather};
use crate::codec::{Rows, SampleBlock, Shape};
use crate::{Properties, Result};

/// Rounds of assigning features to classes.
const ROUNDS: usize = 5;
/// The same with the distributions that pairs of classes share.
const SHARED_ROUNDS: usize = 3;

type Histogram = [u64; SYMBOLS];

/// Models for each value of a record.
pub(super) fn models(
    shape: &Shape,
    options: &Properties,
    rows: &dyn Rows,
    sample: &[SampleBlock],
) -> Result<Vec<Model>> {
    let width = shape.width();
    let least = ["most0", "most1"]
        .map(|key| options.unsigned(key).unwrap_or(0).min(u64::from(MOST)) as u32);
    // Without all values at hand each distribution must leave a way out.
    let way_out = u64::from(options.unsigned("complete") != Some(1));
    let mut models: Vec<Model> = frame(width, sample, least);
    for (model, key) in models.iter_mut().zip(["landmark0", "landmark1"]) {
        if let Some(landmark) = options
            .unsigned(key)
            .filter(|&v| v <= u64::from(model.most))
        {
            model.landmark = landmark as i16;
        }
    }
    let most: Vec<u16> = models.iter().map(|m| m.most).collect();
    if width == 2 {
        let first = rows.first_value() & 1;
        let echo = echoes(rows, sample, first, &most)?;
        if let Some(model) = models.get_mut(1 - first) {
            model.echo = echo;
        }
    }
    let counted: Vec<[Vec<u64>; 2]> = sample
        .par_chunks(sample.len().div_ceil(64).max(1))
        .map(|blocks| count(&models, rows, blocks, &most))
        .collect::<Result<_>>()?;
    for (value, model) in models.iter_mut().enumerate() {
        let keys = counted
            .iter()
            .map(|c| c[value & 1].as_slice())
            .collect::<Vec<_>>()
            .concat();
        fit(model, keys, way_out);
    }
    Ok(models)
}

/// Models without classes, with what the values themselves say.
fn frame(width: usize, sample: &[SampleBlock], least: [u32; 2]) -> Vec<Model> {
    (0..width)
        .map(|v| {
            let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
            for block in sample {
                for record in block.values.chunks_exact(width) {
                    *counts
                        .entry(record.get(v).copied().unwrap_or(0))
                        .or_default() += 1;
                }
            }
            counts.remove(&0);
            let most = counts
                .keys()
                .next_back()
                .copied()
                .unwrap_or(1)
                .clamp(1, MOST)
                .max(least[v & 1]);
            let usual = counts.iter().max_by_key(|&(&value, &n)| (n, value));
            Model {
                most: most as u16,
                start: usual.map_or(1, |(&value, _)| value as i16),
                landmark: usual.map_or(1, |(&value, _)| value as i16),
                echo: Vec::new(),
                near: vec![0; (most as usize + 1) * NEAR],
                far: vec![0; FAR],
                joint: vec![0; NEAR_CLASSES * FAR_CLASSES],
                distributions: vec![Distribution::new(&[0; SYMBOLS])],
            }
        })
        .collect()
}

/// For each value of the first kind the one of the second that is found most
/// often where the links say so.
fn echoes(rows: &dyn Rows, sample: &[SampleBlock], first: usize, most: &[u16]) -> Result<Vec<i16>> {
    let (from, to) = (most.get(first).copied(), most.get(1 - first).copied());
    let (from, to) = (
        usize::from(from.unwrap_or(0)) + 1,
        usize::from(to.unwrap_or(0)) + 1,
    );
    let mut counts = vec![0u32; from * to];
    let slots = rows.slots();
    for block in sample {
        let lines = block.values.chunks(2 * slots.len());
        for (at, records) in (block.first..).step_by(slots.len()).zip(lines) {
            let row = rows.row(at);
            let mut values = gather(records, slots.clone(), &row, most)?;
            let second = values[1 - first];
            let links = &mut values[first];
            for (slot, value) in links.iter_mut().enumerate() {
                if row.present[first] >> slot & 1 == 0 {
                    *value = i16::MAX;
                }
            }
            let seen = rows.outlook(&row, links).unwrap_or(*links);
            for (slot, (&x, &y)) in seen.iter().zip(&second).enumerate() {
                if row.present[1 - first] >> slot & 1 != 0
                    && (x as usize) < from
                    && let Some(n) = counts.get_mut(x as usize * to + y as usize)
                {
                    *n += 1;
                }
            }
        }
    }
    let mut last = 0;
    let best = counts.chunks(to).map(|line| {
        let best = line.iter().enumerate().max_by_key(|&(i, &n)| (n, i));
        // A value that is never seen goes with the one before it.
        last = best
            .filter(|&(_, &n)| n > 0)
            .map_or(last, |(i, _)| i as i16);
        last
    });
    let mut echo: Vec<i16> = best.collect();
    if let Some(none) = echo.first_mut() {
        *none = 0;
    }
    Ok(echo)
}

struct Count {
    values: Values,
    keys: [Vec<u64>; 2],
}

impl Visit for Count {
    type Near = usize;

    fn near(&self, group: usize) -> usize {
        group
    }

    fn visit(&mut self, model: &Model, at: At<usize>) -> i16 {
        let value = self.values[at.value & 1][at.slot & 63];
        let key = (at.near_index() as u64) << 32
            | (at.far as u64) << 8
            | model.symbol(value, at.pivot) as u64;
        self.keys[at.value & 1].push(key);
        value
    }

    fn values(&self, value: usize) -> &[i16; 64] {
        &self.values[value & 1]
    }
}

/// Features and symbol of every slot, sorted.
fn count(
    models: &[Model],
    rows: &dyn Rows,
    blocks: &[SampleBlock],
    most: &[u16],
) -> Result<[Vec<u64>; 2]> {
    let (width, slots) = (models.len(), rows.slots());
    let mut count = Count {
        values: [[0; 64]; 2],
        keys: [Vec::new(), Vec::new()],
    };
    for block in blocks {
        let mut past = [None; 2];
        let lines = block.values.chunks(width * slots.len());
        for (at, records) in (block.first..).step_by(slots.len()).zip(lines) {
            let row = rows.row(at);
            count.values = gather(records, slots.clone(), &row, most)?;
            walk_all(models, rows, &row, &mut past, Until::END, &mut count);
        }
    }
    Ok(count.keys)
}

/// How often a symbol came with one feature of a group and a class of the other.
#[derive(Clone, Copy)]
struct Tally {
    near: u32,
    far: u16,
    symbol: u8,
    count: u32,
}

/// Chooses classes and distributions for the counted features.
fn fit(model: &mut Model, mut keys: Vec<u64>, way_out: u64) {
    keys.par_sort_unstable();
    let mut tallies: Vec<Tally> = Vec::new();
    for same in keys.chunk_by(|a, b| a == b) {
        if let Some(&key) = same.first() {
            tallies.push(Tally {
                near: (key >> 32) as u32,
                far: (key >> 8) as u16,
                symbol: key as u8,
                count: same.len() as u32,
            });
        }
    }
    let near_of = |t: &Tally| t.near as usize;
    let far_of = |t: &Tally| usize::from(t.far);
    let near_cells = model.near.len();
    model.near = alone(&tallies, near_cells, NEAR_CLASSES, near_of);
    model.far = alone(&tallies, FAR, FAR_CLASSES, far_of);
    // At first each pair of classes has a distribution of its own, then those
    // that pairs share.
    for round in 0..ROUNDS + SHARED_ROUNDS {
        let merged = (round >= ROUNDS)
            .then(|| cluster(&joint(model, &tallies), DISTRIBUTIONS, DISTRIBUTION));
        let costs = || match &merged {
            None => joint(model, &tallies)
                .iter()
                .map(costs_of)
                .collect::<Vec<_>>(),
            Some((joint, centres)) => {
                let centres: Vec<_> = centres.iter().map(costs_of).collect();
                joint.iter().map(|&c| centres[usize::from(c)]).collect()
            }
        };
        let near_costs = costs();
        let far = model.far.clone();
        let other = |t: &Tally| usize::from(far[far_of(t)]);
        let place = |own: usize, other: usize| own * FAR_CLASSES + other;
        let mut near = model.near.clone();
        reassign(
            &mut near,
            NEAR_CLASSES,
            &tallies,
            &near_costs,
            near_of,
            other,
            place,
        );
        model.near = near;
        let far_costs = match merged {
            None => joint(model, &tallies).iter().map(costs_of).collect(),
            Some(_) => near_costs,
        };
        let near = model.near.clone();
        let other = |t: &Tally| usize::from(near[near_of(t)]);
        let place = |own: usize, other: usize| other * FAR_CLASSES + own;
        reassign(
            &mut model.far,
            FAR_CLASSES,
            &tallies,
            &far_costs,
            far_of,
            other,
            place,
        );
    }
    let (joint, centres) = cluster(&joint(model, &tallies), DISTRIBUTIONS, DISTRIBUTION);
    model.joint = joint;
    model.distributions = centres
        .into_iter()
        .map(|mut counts| {
            counts[ESCAPE] += way_out;
            Distribution::new(&counts)
        })
        .collect();
}

/// Histograms by both classes.
fn joint(model: &Model, tallies: &[Tally]) -> Vec<Histogram> {
    let mut histograms = vec![[0; SYMBOLS]; NEAR_CLASSES * FAR_CLASSES];
    for t in tallies {
        let near = usize::from(model.near[t.near as usize]);
        let far = usize::from(model.far[usize::from(t.far)]);
        histograms[near * FAR_CLASSES + far][usize::from(t.symbol)] += u64::from(t.count);
    }
    histograms
}

fn costs_of(histogram: &Histogram) -> [u32; SYMBOLS] {
    Distribution::new(histogram).costs()
}

/// What a distribution costs in the file, in 1/256 bit.
const DISTRIBUTION: u64 = 256 * 300;
/// What a change of class from one feature to the next costs in the file, in
/// 1/256 bit.
const CHANGE: u64 = 256 * 12;

/// Gives the features classes so that their symbols and the changes of class
/// from each to the next cost least together.
fn reassign(
    classes: &mut [u8],
    count: usize,
    tallies: &[Tally],
    costs: &[[u32; SYMBOLS]],
    own: impl Fn(&Tally) -> usize,
    other: impl Fn(&Tally) -> usize,
    place: impl Fn(usize, usize) -> usize,
) {
    let mut sums = vec![0u64; classes.len() * count];
    for t in tallies {
        let (own, other) = (own(t), other(t));
        for (class, sum) in sums[own * count..][..count].iter_mut().enumerate() {
            let cost = costs[place(class, other)][usize::from(t.symbol)];
            *sum += u64::from(cost) * u64::from(t.count);
        }
    }
    // The cheapest way to each class of a feature comes from the same class of
    // the one before, or from the class that was reached most cheaply.
    let mut reached = vec![0u64; count];
    let mut from = Vec::with_capacity(sums.len());
    for sums in sums.chunks(count) {
        let best = (0..count).min_by_key(|&c| (reached[c], c)).unwrap_or(0);
        let change = reached[best] + CHANGE;
        for (class, (reached, sum)) in reached.iter_mut().zip(sums).enumerate() {
            let stay = *reached <= change;
            from.push(if stay { class } else { best } as u8);
            *reached = (*reached).min(change) + sum;
        }
    }
    let mut class = (0..count).min_by_key(|&c| (reached[c], c)).unwrap_or(0);
    for (to, from) in classes.iter_mut().zip(from.chunks(count)).rev() {
        *to = class as u8;
        class = usize::from(from[class]);
    }
}

/// Classes of one group's features on their own.
fn alone(tallies: &[Tally], cells: usize, count: usize, own: impl Fn(&Tally) -> usize) -> Vec<u8> {
    let mut histograms = vec![[0; SYMBOLS]; cells];
    for t in tallies {
        histograms[own(t)][usize::from(t.symbol)] += u64::from(t.count);
    }
    cluster(&histograms, count, 0).0
}

/// A histogram as the list of its symbols.
type Sparse = Vec<(usize, u64)>;

fn sparse(histogram: &Histogram) -> Sparse {
    histogram
        .iter()
        .copied()
        .enumerate()
        .filter(|&(_, n)| n > 0)
        .collect()
}

fn cost(symbols: &Sparse, costs: &[u32; SYMBOLS]) -> u64 {
    symbols.iter().map(|&(s, n)| u64::from(costs[s]) * n).sum()
}

/// Merges histograms into at most `most` ones, each of them worth `worth`
/// 1/256 bits at first: the class of each, and the sums.
fn cluster(histograms: &[Histogram], most: usize, worth: u64) -> (Vec<u8>, Vec<Histogram>) {
    let total = |h: &Histogram| h.iter().sum::<u64>();
    let used: Vec<usize> = (0..histograms.len())
        .filter(|&i| total(&histograms[i]) > 0)
        .collect();
    let lists: Vec<Sparse> = used.iter().map(|&i| sparse(&histograms[i])).collect();
    let own: Vec<u64> = used
        .par_iter()
        .zip(&lists)
        .map(|(&i, list)| cost(list, &Distribution::new(&histograms[i]).costs()))
        .collect();
    // Centres: each time the histogram that the ones so far serve worst.
    let mut best = vec![(u64::MAX, 0u8); used.len()];
    let mut centres: Vec<Histogram> = Vec::new();
    while centres.len() < most {
        let excess = |k: usize| best[k].0.saturating_sub(own[k]);
        let worst = (0..used.len()).max_by_key(|&k| (excess(k), std::cmp::Reverse(k)));
        let Some(worst) = worst.filter(|&k| excess(k) > worth) else {
            break;
        };
        let name = centres.len() as u8;
        let costs = Distribution::new(&histograms[used[worst]]).costs();
        centres.push(histograms[used[worst]]);
        best.par_iter_mut().zip(&lists).for_each(|(best, list)| {
            *best = (*best).min((cost(list, &costs), name));
        });
    }
    let mut classes = vec![0u8; histograms.len()];
    for _ in 0..ROUNDS {
        let costs: Vec<_> = centres
            .iter()
            .map(|h| Distribution::new(h).costs())
            .collect();
        let best: Vec<u8> = lists
            .par_iter()
            .map(|list| {
                let best = (0..costs.len()).min_by_key(|&c| (cost(list, &costs[c]), c));
                best.unwrap_or(0) as u8
            })
            .collect();
        centres.iter_mut().for_each(|c| *c = [0; SYMBOLS]);
        for (&i, class) in used.iter().zip(best) {
            classes[i] = class;
            for (sum, n) in centres[usize::from(class)].iter_mut().zip(&histograms[i]) {
                *sum += n;
            }
        }
    }
    // Renumber so that no centre is empty.
    let mut names = vec![0u8; centres.len()];
    let mut kept = Vec::new();
    for (name, centre) in names.iter_mut().zip(&centres) {
        *name = kept.len() as u8;
        if total(centre) > 0 {
            kept.push(*centre);
        }
    }
    for &i in &used {
        classes[i] = names[usize::from(classes[i])];
    }
    if kept.is_empty() {
        kept.push([0; SYMBOLS]);
    }
    (classes, kept)
}

//! Learns how residuals are coded: contexts that resemble each other share a
//! table of frequencies.
#![allow(clippy::indexing_slicing)] // training only: sizes are this module's own

use super::layout::{DYNAMIC_CLASSES, STATIC_CLASSES, SYMBOLS, bin_of, split};
use super::model::Cluster;
use crate::Result;
use crate::codec::rans::{TOTAL, normalise};

/// Shifts that are tried.
const SHIFTS: usize = 20;
/// Rounds of assigning contexts to tables.
const ROUNDS: usize = 6;

/// What was counted: residuals of each context.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    /// Context, shift, symbol.
    symbols: Vec<[[u32; SYMBOLS]; SHIFTS]>,
    magnitudes: Vec<f64>,
}

impl Counts {
    pub(super) fn new() -> Self {
        let contexts = STATIC_CLASSES * DYNAMIC_CLASSES;
        Self {
            symbols: vec![[[0; SYMBOLS]; SHIFTS]; contexts],
            magnitudes: vec![0.0; contexts],
        }
    }

    /// Takes note of a residual.
    pub(super) fn add(&mut self, class: u8, dynamic: u8, residual: i64) {
        let context = usize::from(class) * DYNAMIC_CLASSES + usize::from(dynamic);
        for (shift, symbols) in self.symbols[context].iter_mut().enumerate() {
            symbols[usize::from(split(residual, shift as u32).0)] += 1;
        }
        self.magnitudes[context] += residual.unsigned_abs() as f64;
    }

    fn count(&self, context: usize) -> f64 {
        self.symbols[context][0].iter().map(|&c| f64::from(c)).sum()
    }

    /// At most `most` clusters, and the cluster of each context.
    pub(super) fn cluster(
        &self,
        most: usize,
    ) -> Result<(Vec<Cluster>, Vec<[u8; DYNAMIC_CLASSES]>)> {
        let contexts = self.symbols.len();
        let seen: Vec<usize> = (0..contexts).filter(|&c| self.count(c) > 0.0).collect();
        // First by the mean magnitude, on a grid that `most` clusters span.
        let level =
            |c: usize| ((self.magnitudes[c] / self.count(c)).max(0.02).log2() + 6.0).max(0.0);
        let top = seen.iter().map(|&c| level(c)).fold(1.0, f64::max);
        let zones = 3;
        let steps = (most / zones).max(1);
        let mut cluster_of = vec![usize::MAX; contexts];
        for &c in &seen {
            let zone = (c / DYNAMIC_CLASSES / 40).min(zones - 1);
            let step = (level(c) / top * steps as f64) as usize;
            cluster_of[c] = zone * steps + step.min(steps - 1);
        }
        let mut tables = Vec::new();
        for round in 0..ROUNDS {
            tables = self.tables(&cluster_of, zones * steps);
            if round + 1 == ROUNDS {
                break;
            }
            let costs: Vec<Option<(usize, [f64; SYMBOLS])>> =
                tables.iter().map(|t| t.as_ref().map(costs)).collect();
            for &c in &seen {
                let cost = |(shift, bits): &(usize, [f64; SYMBOLS])| -> f64 {
                    self.symbols[c][*shift]
                        .iter()
                        .zip(bits)
                        .map(|(&n, b)| f64::from(n) * b)
                        .sum()
                };
                let priced = costs
                    .iter()
                    .enumerate()
                    .filter_map(|(k, t)| t.as_ref().map(|t| (cost(t), k)));
                if let Some((_, best)) = priced.min_by(|a, b| a.0.total_cmp(&b.0)) {
                    cluster_of[c] = best;
                }
            }
        }
        self.finish(&tables, &cluster_of, &seen)
    }

    /// Shift and frequencies of each cluster that has contexts.
    fn tables(&self, cluster_of: &[usize], clusters: usize) -> Vec<Option<(usize, Vec<u16>)>> {
        let mut sums = vec![[[0u64; SYMBOLS]; SHIFTS]; clusters];
        for (context, &cluster) in cluster_of
            .iter()
            .enumerate()
            .filter(|(_, k)| **k != usize::MAX)
        {
            for (sum, own) in sums[cluster]
                .iter_mut()
                .flatten()
                .zip(self.symbols[context].iter().flatten())
            {
                *sum += u64::from(*own);
            }
        }
        let choose = |shifts: &[[u64; SYMBOLS]; SHIFTS]| {
            let price = |shift: usize| -> f64 {
                let (_, bits) = costs(&(shift, normalise(&shifts[shift])));
                shifts[shift]
                    .iter()
                    .zip(bits)
                    .map(|(&n, b)| n as f64 * b)
                    .sum()
            };
            let priced = (0..SHIFTS).map(|shift| (price(shift), shift));
            let (_, shift) = priced
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap_or_default();
            (shift, normalise(&shifts[shift]))
        };
        sums.iter()
            .map(|sum| sum[0].iter().any(|&n| n > 0).then(|| choose(sum)))
            .collect()
    }

    fn finish(
        &self,
        tables: &[Option<(usize, Vec<u16>)>],
        cluster_of: &[usize],
        seen: &[usize],
    ) -> Result<(Vec<Cluster>, Vec<[u8; DYNAMIC_CLASSES]>)> {
        let mut clusters = Vec::new();
        let mut number = vec![0; tables.len()];
        for (table, number) in tables.iter().zip(&mut number) {
            if let Some((shift, frequencies)) = table {
                *number = clusters.len() as u8;
                clusters.push(Cluster::new(*shift as u32, frequencies)?);
            }
        }
        if clusters.is_empty() {
            // Nothing was seen: a table that is no worse for anything.
            let even = vec![1; SYMBOLS];
            clusters.push(Cluster::new(4, &normalise(&even))?);
        }
        let mut contexts = vec![[0; DYNAMIC_CLASSES]; STATIC_CLASSES];
        for (class, row) in contexts.iter_mut().enumerate() {
            for (dynamic, cluster) in row.iter_mut().enumerate() {
                // What was not seen goes with the nearest that was.
                let distance = |&&c: &&usize| {
                    let (k, d) = (c / DYNAMIC_CLASSES, c % DYNAMIC_CLASSES);
                    let zone = if k / 40 == class / 40 { 0 } else { 1000 };
                    zone + k.abs_diff(class) + d.abs_diff(dynamic)
                };
                if let Some(&nearest) = seen.iter().min_by_key(distance) {
                    *cluster = number[cluster_of[nearest]];
                }
            }
        }
        Ok((clusters, contexts))
    }
}

/// Bits that each symbol costs, raw ones included.
fn costs((shift, frequencies): &(usize, Vec<u16>)) -> (usize, [f64; SYMBOLS]) {
    let bits = |s: usize| {
        let raw = bin_of(s as u8, *shift as u32).1;
        f64::from(raw) - (f64::from(frequencies[s]) / f64::from(TOTAL)).log2()
    };
    (*shift, std::array::from_fn(bits))
}

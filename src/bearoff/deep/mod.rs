//! Checking a bearoff table without trusting whoever made it: positions are
//! computed again from their successors as the table itself has them, by
//! listing plays and by the plain rules. Nothing is shared with the generators.

mod plays;
mod rules;

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::schema;
use crate::format::Schema;
use crate::numbering::{Multiset, Numbering, Pair};
use crate::table::Records;
use crate::{Error, Result};
use rules::{Rules, Side};

/// What [`check`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Positions that were computed again.
    pub positions: u64,
    /// Those of them that differ.
    pub different: u64,
    /// The first that differs, by number.
    pub first: Option<Difference>,
}

/// A record that does not follow from those of its successors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The position.
    pub number: u64,
    /// Which value of the record.
    pub value: usize,
    /// What the table has there.
    pub found: u32,
    /// The least and the most that follows from the successors.
    pub expected: (u32, u32),
}

/// Positions between two reports of progress.
const BATCH: usize = 256;

/// Computes `sample` positions again, drawn at random from `seed` (all of
/// them when there are no more), and compares. `progress` is told how many
/// are done; its error stops the work.
///
/// Errors: [`Error::Invalid`] when the records are no bearoff table of a kind
/// with known rules; whatever reading the records or `progress` answers.
pub fn check(
    records: &dyn Records,
    schema: &Schema,
    sample: u64,
    seed: u64,
    progress: &dyn Fn(u64) -> Result<()>,
) -> Result<Checked> {
    let rules = rules_of(schema)?;
    let numbers = draw(records.len(), sample, seed);
    let different = AtomicU64::new(0);
    let mut first: Option<Difference> = None;
    for (batch, done) in numbers.chunks(BATCH).zip((0..).step_by(BATCH)) {
        let found = batch
            .par_iter()
            .map(|&number| {
                let found = rules.difference(records, number)?;
                different.fetch_add(u64::from(found.is_some()), Ordering::Relaxed);
                Ok(found)
            })
            .collect::<Result<Vec<_>>>()?;
        first = first.or_else(|| found.into_iter().flatten().next());
        progress(done + batch.len() as u64)?;
    }
    Ok(Checked {
        positions: numbers.len() as u64,
        different: different.into_inner(),
        first,
    })
}

/// Ascending numbers: all, or so many different ones at random.
fn draw(len: u64, sample: u64, seed: u64) -> Vec<u64> {
    if sample >= len {
        return (0..len).collect();
    }
    let mut state = seed;
    let mut numbers = std::collections::BTreeSet::new();
    while (numbers.len() as u64) < sample {
        // SplitMix64, whose constants are public knowledge.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        numbers.insert(((u128::from(z ^ (z >> 31)) * u128::from(len)) >> 64) as u64);
    }
    numbers.into_iter().collect()
}

/// The rules by which a table's records follow from each other.
fn rules_of(schema: &Schema) -> Result<Rules> {
    let unknown = || {
        Error::invalid(
            "only bearoff tables can be checked in depth: one-sided (rounded, exact, normal) \
             and two-sided",
        )
    };
    let params = &schema.numbering.params;
    let (Some(points), Some(chequers)) = (params.unsigned("points"), params.unsigned("chequers"))
    else {
        return Err(unknown());
    };
    let (points, chequers) = (points as usize, chequers as u8);
    let names: Vec<&str> = schema
        .columns
        .iter()
        .flat_map(|column| &column.fields)
        .map(|f| f.name.as_str())
        .collect();
    let fields: Vec<_> = schema
        .columns
        .iter()
        .flat_map(|column| &column.fields)
        .collect();
    match (schema.numbering.name.as_str(), names.as_slice()) {
        (Multiset::NAME, ["win"] | ["win", "gammon"]) => {
            let parts = fields.iter().map(|field| field.count as usize).collect();
            let side = Side::new(points, chequers)?;
            match fields[0].bits {
                16 => Ok(Rules::Rounded { side, parts }),
                24 => Ok(Rules::Exact { side, parts }),
                _ => Err(unknown()),
            }
        }
        (Multiset::NAME, ["win_mean", ..]) => Ok(Rules::Normal {
            side: Side::new(points, chequers)?,
        }),
        (Pair::NAME, ["cubeless", ..]) if schema::kind(schema).is_ok() => {
            let pair = Pair::new(points, chequers)?;
            let n = pair.side().len();
            Ok(Rules::TwoSided {
                side: Side::new(points, chequers)?,
                n,
                values: names.len(),
            })
        }
        _ => Err(unknown()),
    }
}

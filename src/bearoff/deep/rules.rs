//! The plain rules of each kind of bearoff table.

use super::Difference;
use super::plays::{Counts, plays};
use crate::Result;
use crate::numbering::Multiset;
use crate::table::Records;

/// The chequers of which none may be off for a gammon.
const ALL_CHEQUERS: u8 = 15;

/// One side's positions.
pub(crate) struct Side {
    numbering: Multiset,
}

impl Side {
    pub(crate) fn new(points: usize, chequers: u8) -> Result<Self> {
        Ok(Side {
            numbering: Multiset::new(points, chequers)?,
        })
    }

    fn counts(&self, number: u64) -> Result<Counts> {
        let mut counts = vec![0; self.numbering.points()];
        self.numbering.unrank(number, &mut counts)?;
        Ok(counts)
    }

    /// For each roll its weight and the numbers after its plays, in order.
    fn rolls(&self, counts: &[u8]) -> Result<Vec<(u32, Vec<u64>)>> {
        let mut rolls = Vec::new();
        for large in 1..=6 {
            for small in 1..=large {
                let numbers = plays(counts, large, small)
                    .iter()
                    .map(|result| self.numbering.rank(result))
                    .collect::<Result<Vec<_>>>()?;
                rolls.push((if large == small { 1 } else { 2 }, numbers));
            }
        }
        Ok(rolls)
    }
}

/// How the records of a table follow from each other.
pub(crate) enum Rules {
    /// Chances of 16 bits, rounded at each step; values of each part.
    Rounded { side: Side, parts: Vec<usize> },
    /// Chances of 24 bits from a computation in double precision.
    Exact { side: Side, parts: Vec<usize> },
    /// Means and deviations in `f32`.
    Normal { side: Side },
    /// Equities of `n` positions a side.
    TwoSided { side: Side, n: u64, values: usize },
}

/// The least and the most that a value may be.
type Bounds = (u32, u32);

impl Rules {
    /// Computes a record again; `None` if the table has the same.
    pub(crate) fn difference(
        &self,
        records: &dyn Records,
        number: u64,
    ) -> Result<Option<Difference>> {
        let found = record(records, number)?;
        let expected = match self {
            Rules::Rounded { side, parts } => by_parts(records, side, parts, number, rounded)?,
            Rules::Exact { side, parts } => by_parts(records, side, parts, number, exact)?,
            Rules::Normal { side } => normal(records, side, number)?,
            Rules::TwoSided { side, n, values } => {
                let (us, them) = (number / n, number % n);
                two_sided(records, side, *n, *values, us, them)?
            }
        };
        let different = found
            .iter()
            .zip(&expected)
            .position(|(f, e)| *f < e.0 || *f > e.1);
        Ok(different.map(|value| Difference {
            number,
            value,
            found: found[value],
            expected: expected[value],
        }))
    }
}

fn record(records: &dyn Records, number: u64) -> Result<Vec<u32>> {
    let mut record = vec![0; records.width()];
    records.read(number, &mut record)?;
    Ok(record)
}

/// One part's values after the plays of each roll.
struct Part {
    rolls: Vec<(u32, Vec<Vec<u32>>)>,
}

fn by_parts(
    records: &dyn Records,
    side: &Side,
    parts: &[usize],
    number: u64,
    rule: impl Fn(&Part) -> Vec<Bounds>,
) -> Result<Vec<Bounds>> {
    let counts = side.counts(number)?;
    let total: u8 = counts.iter().sum();
    let rolls = side.rolls(&counts)?;
    let mut expected = Vec::new();
    let mut at = 0;
    for (i, &width) in parts.iter().enumerate() {
        let off = if i == 0 {
            total == 0
        } else {
            total < ALL_CHEQUERS
        };
        if off {
            let certain = record(records, 0)?[at];
            expected.extend((0..width).map(|i| if i == 0 { (certain, certain) } else { (0, 0) }));
        } else {
            let mut part = Part { rolls: Vec::new() };
            for (weight, numbers) in &rolls {
                let plays = numbers
                    .iter()
                    .map(|&number| Ok(record(records, number)?[at..at + width].to_vec()))
                    .collect::<Result<Vec<_>>>()?;
                part.rolls.push((*weight, plays));
            }
            expected.extend(rule(&part));
        }
        at += width;
    }
    Ok(expected)
}

fn mean(values: &[u32]) -> u64 {
    (0..)
        .zip(values)
        .map(|(i, &value)| i * u64::from(value))
        .sum()
}

/// gnubg's rule: the first play with the smallest mean; the sum of the shifted
/// chances over 36, halves up; the first largest takes what is missing.
fn rounded(part: &Part) -> Vec<Bounds> {
    let width = part.rolls[0].1[0].len();
    let mut sum = vec![0u32; width];
    for (weight, plays) in &part.rolls {
        // `min_by_key` answers the first of equal ones.
        if let Some(best) = plays.iter().min_by_key(|play| mean(play)) {
            for i in 0..width - 1 {
                sum[i + 1] += weight * best[i];
            }
        }
    }
    let mut values: Vec<u32> = sum.iter().map(|&sum| (sum + 18) / 36).collect();
    let total: u32 = values.iter().sum();
    let largest = values.iter().copied().max().unwrap_or(0);
    if let Some(mode) = values.iter_mut().find(|value| **value == largest) {
        *mode = (*mode + 65535).wrapping_sub(total) & 0xffff;
    }
    values.into_iter().map(|value| (value, value)).collect()
}

/// The same in double precision. The table has rounded values, each wrong by
/// less than one unit, so that the result may be wrong by two, and any play
/// may have been chosen whose mean is as good as the best one's up to the
/// rounding of 32 to 48 values.
fn exact(part: &Part) -> Vec<Bounds> {
    const SLACK: f64 = 2.0;
    let width = part.rolls[0].1[0].len();
    let (mut least, mut most) = (vec![0.0; width], vec![0.0; width]);
    for (weight, plays) in &part.rolls {
        let best = plays.iter().map(|play| mean(play)).min().unwrap_or(0);
        let as_good: Vec<_> = plays
            .iter()
            .filter(|play| mean(play) <= best + 2 * width as u64)
            .collect();
        for i in 0..width {
            // The last value also stands for all later rolls.
            let to = (i + 1).min(width - 1);
            let values = as_good.iter().map(|play| play[i]);
            let weight = f64::from(*weight) / 36.0;
            least[to] += weight * f64::from(values.clone().min().unwrap_or(0));
            most[to] += weight * f64::from(values.max().unwrap_or(0));
        }
    }
    let bounds = least.iter().zip(&most);
    bounds
        .map(|(least, most)| ((least - SLACK).max(0.0) as u32, (most + SLACK) as u32))
        .collect()
}

/// In single precision throughout, in the order 11, 21, 22, 31 and so on, and
/// times 1/36 instead of divided, as the program that Debian ships.
fn normal(records: &dyn Records, side: &Side, number: u64) -> Result<Vec<Bounds>> {
    let counts = side.counts(number)?;
    let total: u8 = counts.iter().sum();
    let rolls = side.rolls(&counts)?;
    let with_gammon = record(records, records.len() - 1)?[2] != 0;
    let mut expected = Vec::new();
    for part in 0..2 {
        let computed = if part == 0 {
            total > 0
        } else {
            total == ALL_CHEQUERS && with_gammon
        };
        let (mut sum, mut squares) = (0.0f32, 0.0f32);
        for (weight, numbers) in rolls.iter().filter(|_| computed) {
            let mut best: Option<[f32; 2]> = None;
            for &number in numbers {
                let record = record(records, number)?;
                let [mean, deviation] = [0, 1].map(|i| f32::from_bits(record[2 * part + i]));
                if best.is_none_or(|best| mean < best[0]) {
                    best = Some([mean, deviation]);
                }
            }
            let [mean, deviation] = best.unwrap_or_default();
            let (mean, weight) = (1.0 + mean, *weight as f32);
            sum += weight * mean;
            squares += weight * (deviation * deviation + mean * mean);
        }
        let mean = sum * (1.0 / 36.0);
        let deviation = (squares * (1.0 / 36.0) - mean * mean).sqrt();
        expected.extend([mean, deviation].map(|value| (value.to_bits(), value.to_bits())));
    }
    Ok(expected)
}

/// gnubg's rule for equities as signed 16-bit numbers.
fn two_sided(
    records: &dyn Records,
    side: &Side,
    n: u64,
    values: usize,
    us: u64,
    them: u64,
) -> Result<Vec<Bounds>> {
    let certain = i32::from(i16::MAX);
    let same = |equity: i32| {
        let stored = (equity + 0x8000) as u32;
        vec![(stored, stored); values]
    };
    if us == 0 {
        return Ok(same(certain));
    }
    if them == 0 {
        return Ok(same(-0x8000));
    }
    let cube = |no_double: i32, double_taken: i32| {
        if double_taken >= no_double / 2 && certain >= no_double {
            if double_taken >= certain / 2 {
                certain
            } else {
                2 * double_taken
            }
        } else {
            no_double
        }
    };
    let mut sums = vec![0i32; values];
    for (weight, numbers) in side.rolls(&side.counts(us)?)? {
        let mut best = vec![i32::MIN; values];
        for after in numbers {
            let record = record(records, them * n + after)?;
            let e = |i: usize| record[i] as i32 - 0x8000;
            for (i, best) in best.iter_mut().enumerate() {
                let theirs = match i {
                    0 => e(0),
                    1 => e(3),
                    2 => cube(e(2), e(3)),
                    _ => cube(e(1), e(3)),
                };
                *best = (*best).max(!theirs);
            }
        }
        for (sum, best) in sums.iter_mut().zip(best) {
            *sum += weight as i32 * best;
        }
    }
    Ok(sums
        .into_iter()
        .map(|sum| {
            let stored = (sum / 36 + 0x8000) as u32;
            (stored, stored)
        })
        .collect())
}

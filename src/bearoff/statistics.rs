//! What a one-sided database holds, and what each known way to store it would
//! need: the table of the post that asked for a better one, for any data.

use rayon::prelude::*;

use super::distribution::mean_and_deviation;
use super::schema::ROLLS;
use crate::table::Records;
use crate::{Error, Result};

/// Records that one task counts.
const STEP: u64 = 8192;
/// Bytes of a stored chance.
const VALUE: u64 = 2;
/// Distributions in a record, at most: of the last and the first chequer.
const MOST_FIELDS: usize = 2;

/// Counts over all distributions of a database.
#[derive(Debug, Clone, PartialEq)]
pub struct Distributions {
    /// Positions.
    pub positions: u64,
    /// Distributions in a record: 1, or 2 with those of the first chequer.
    pub fields: u64,
    /// Values that are not zero.
    pub non_zero: u64,
    /// Values from the first to the last that is not zero.
    pub in_runs: u64,
    /// Positions by the lengths of their runs: `by_runs[win][gammon]`.
    by_runs: Vec<[u64; ROLLS + 1]>,
    /// The largest distance of a chance from that under a normal distribution
    /// with the same mean and deviation.
    pub normal_largest_error: f64,
    /// The mean of that distance over all values of distributions that are not
    /// a certainty.
    pub normal_mean_error: f64,
    normal_values: u64,
}

/// Bytes that a way to store the data needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scheme {
    /// What is stored.
    pub name: String,
    /// Bytes for the whole database.
    pub bytes: u64,
}

impl Distributions {
    fn empty(fields: u64) -> Self {
        Distributions {
            positions: 0,
            fields,
            non_zero: 0,
            in_runs: 0,
            by_runs: vec![[0; ROLLS + 1]; ROLLS + 1],
            normal_largest_error: 0.0,
            normal_mean_error: 0.0,
            normal_values: 0,
        }
    }

    /// Counts all `records` of one or two distributions of 32 chances, in
    /// units of `1/certain`.
    ///
    /// Errors: [`Error::Invalid`] for records of another width; those of `records`.
    pub fn count(records: &dyn Records, certain: u32) -> Result<Self> {
        let width = records.width();
        if width != ROLLS && width != 2 * ROLLS {
            return Err(Error::invalid(format!(
                "records of {width} values, distributions of {ROLLS} expected"
            )));
        }
        let fields = (width / ROLLS) as u64;
        let firsts: Vec<u64> = (0..records.len()).step_by(STEP as usize).collect();
        firsts
            .into_par_iter()
            .map(|first| {
                let count = STEP.min(records.len() - first) as usize;
                let mut values = vec![0; count * width];
                records.read(first, &mut values)?;
                let mut part = Self::empty(fields);
                for record in values.chunks_exact(width) {
                    part.add(record, certain);
                }
                Ok(part)
            })
            // Sums of floating numbers depend on their order, so parts are
            // kept in it: the answer is the same for any number of threads.
            .collect::<Result<Vec<_>>>()
            .map(|parts| {
                let mut sum = Self::empty(fields);
                for part in &parts {
                    sum.merge(part);
                }
                if sum.normal_values > 0 {
                    sum.normal_mean_error /= sum.normal_values as f64;
                }
                sum
            })
    }

    fn add(&mut self, record: &[u32], certain: u32) {
        self.positions += 1;
        let mut runs = [0; MOST_FIELDS];
        for (chances, run) in record.chunks_exact(ROLLS).zip(&mut runs) {
            self.non_zero += chances.iter().filter(|&&v| v != 0).count() as u64;
            let first = chances.iter().position(|&v| v != 0).unwrap_or(0);
            let end = chances.iter().rposition(|&v| v != 0).map_or(0, |i| i + 1);
            *run = end.saturating_sub(first);
            self.in_runs += *run as u64;
            self.add_normal(chances, certain);
        }
        self.by_runs[runs[0]][runs[1]] += 1;
    }

    fn add_normal(&mut self, chances: &[u32], certain: u32) {
        let (mean, deviation) = mean_and_deviation(chances);
        if deviation == 0.0 {
            return;
        }
        let below =
            |x: f64| 0.5 * libm::erfc((mean - x) / deviation * std::f64::consts::FRAC_1_SQRT_2);
        for (roll, &chance) in chances.iter().enumerate() {
            let roll = roll as f64;
            let normal = below(roll + 0.5) - below(roll - 0.5);
            let error = (f64::from(chance) / f64::from(certain) - normal).abs();
            self.normal_largest_error = self.normal_largest_error.max(error);
            self.normal_mean_error += error;
            self.normal_values += 1;
        }
    }

    fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.non_zero += other.non_zero;
        self.in_runs += other.in_runs;
        for (a, b) in self
            .by_runs
            .iter_mut()
            .flatten()
            .zip(other.by_runs.iter().flatten())
        {
            *a += b;
        }
        self.normal_largest_error = self.normal_largest_error.max(other.normal_largest_error);
        self.normal_mean_error += other.normal_mean_error;
        self.normal_values += other.normal_values;
    }

    /// All values.
    pub fn elements(&self) -> u64 {
        self.positions * self.fields * ROLLS as u64
    }

    /// The longest run of each field.
    pub fn longest(&self) -> [usize; MOST_FIELDS] {
        let mut longest = [0; MOST_FIELDS];
        for (win, row) in self.by_runs.iter().enumerate() {
            for (gammon, &count) in row.iter().enumerate() {
                if count > 0 {
                    longest = [longest[0].max(win), longest[1].max(gammon)];
                }
            }
        }
        longest
    }

    /// What each known way to store the data needs, in the post's order.
    /// Wherever runs of several lengths share an array, a position has an index
    /// of 2 bytes a field (first value and length); where positions are sorted
    /// into groups of equal length, 4 more bytes say where in its group it is.
    pub fn schemes(&self) -> Vec<Scheme> {
        let index = 2 * self.fields;
        let longest = self.longest();
        let most = longest[0].max(longest[1]) as u64;
        let [win, gammon] = self.best_boundary();
        let scheme = |name: String, bytes| Scheme { name, bytes };
        vec![
            scheme("raw".into(), self.elements() * VALUE),
            scheme("the non-zero values alone".into(), self.non_zero * VALUE),
            scheme(
                format!("{most} values a field and an index"),
                self.positions * (self.fields * most * VALUE + index),
            ),
            scheme(
                format!(
                    "two groups ({win}/{gammon} and {}/{} values) and an index",
                    longest[0], longest[1]
                ),
                self.two_groups([win, gammon]),
            ),
            scheme(
                "a group for each pair of lengths and an index".into(),
                self.in_runs * VALUE + self.positions * (index + 4),
            ),
            scheme(
                "gnubg's compressed format".into(),
                40 + self.positions * (4 + index) + self.in_runs * VALUE,
            ),
        ]
    }

    /// Bytes with two groups: those whose runs fit `[win, gammon]`, and the rest.
    fn two_groups(&self, bound: [usize; 2]) -> u64 {
        let longest = self.longest();
        let mut inside = 0;
        for row in self.by_runs.iter().take(bound[0] + 1) {
            inside += row.iter().take(bound[1] + 1).sum::<u64>();
        }
        let small = (bound[0] + bound[1]) as u64;
        let large = (longest[0] + longest[1]) as u64;
        (inside * small + (self.positions - inside) * large) * VALUE
            + self.positions * (2 * self.fields + 4)
    }

    /// The bound of the first of two groups with which they need the least.
    fn best_boundary(&self) -> [usize; 2] {
        let bounds = (0..=ROLLS).flat_map(|win| (0..=ROLLS).map(move |gammon| [win, gammon]));
        bounds
            .min_by_key(|&bound| self.two_groups(bound))
            .unwrap_or([0, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Records for Two {
        fn len(&self) -> u64 {
            2
        }
        fn width(&self) -> usize {
            ROLLS
        }
        fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
            out.fill(0);
            for (record, number) in out.chunks_exact_mut(ROLLS).zip(first..) {
                match number {
                    0 => record[0] = 65_535,
                    _ => record[2..5].copy_from_slice(&[32_767, 0, 32_768]),
                }
            }
            Ok(())
        }
    }

    #[test]
    fn a_database_of_two_positions() {
        let counted = Distributions::count(&Two, 65_535).unwrap();
        assert_eq!(
            (counted.elements(), counted.non_zero, counted.in_runs),
            (64, 3, 4)
        );
        assert_eq!(counted.longest(), [3, 0]);
        let bytes: Vec<u64> = counted.schemes().iter().map(|s| s.bytes).collect();
        // Raw; non-zero; 3 values and 2 bytes each; groups of 1 and 3 values with
        // 6 bytes a position; the same by length; header, 6 a position, 4 values.
        assert_eq!(bytes, [128, 6, 2 * 8, 8 + 12, 8 + 12, 40 + 12 + 8]);
        // Half a chance at 2 and at 4: mean 3, deviation 1; a normal one has
        // 0.3829 between 2.5 and 3.5, where the truth is 0.
        assert!((counted.normal_largest_error - 0.3829).abs() < 1e-4);
    }
}

//! What two factors leave unexplained: the residual variance of a two-way
//! layout without interaction and with any number of values in a cell.

/// Levels that a factor may have.
pub const LEVELS: usize = 36;

/// The sums that the fit of `value = row effect + column effect + residual`
/// by least squares needs.
#[derive(Debug, Clone)]
pub(super) struct TwoWay {
    cells: [[u32; LEVELS]; LEVELS],
    /// Sums of the values by row and by column.
    sums: [[f64; LEVELS]; 2],
    squares: f64,
    count: u64,
}

impl Default for TwoWay {
    fn default() -> Self {
        TwoWay {
            cells: [[0; LEVELS]; LEVELS],
            sums: [[0.0; LEVELS]; 2],
            squares: 0.0,
            count: 0,
        }
    }
}

impl TwoWay {
    /// Takes in one value at a row and a column below [`LEVELS`].
    pub(super) fn push(&mut self, value: f64, [row, column]: [u8; 2]) {
        let (row, column) = (usize::from(row), usize::from(column));
        self.cells[row][column] += 1;
        self.sums[0][row] += value;
        self.sums[1][column] += value;
        self.squares += value * value;
        self.count += 1;
    }

    /// Residual variance and its degrees of freedom; `None` without any.
    ///
    /// Row effects are eliminated from the normal equations (Searle, *Linear
    /// Models*, 1971, section 7.1), the rest is solved by Cholesky's method. A
    /// column whose pivot vanishes is a sum of others and adds no freedom.
    pub(super) fn residual(&self) -> Option<(f64, u64)> {
        let column_count = |c: usize| self.cells.iter().map(|row| row[c]).sum::<u32>();
        let mut matrix = [[0.0; LEVELS]; LEVELS];
        let mut right = self.sums[1];
        let mut unexplained = self.squares;
        let mut rank = 0;
        for (c, row) in matrix.iter_mut().enumerate() {
            row[c] = f64::from(column_count(c));
        }
        for (cells, sum) in self.cells.iter().zip(self.sums[0]) {
            let total = f64::from(cells.iter().sum::<u32>());
            if total == 0.0 {
                continue;
            }
            rank += 1;
            unexplained -= sum * sum / total;
            for (c, &here) in cells.iter().enumerate().filter(|(_, n)| **n > 0) {
                let share = f64::from(here) / total;
                right[c] -= share * sum;
                for (to, &other) in matrix[c][..=c].iter_mut().zip(cells) {
                    *to -= share * f64::from(other);
                }
            }
        }
        // Rows of the factor are made one after the other, and the right side
        // is carried along.
        for c in 0..LEVELS {
            let (above, rest) = matrix.split_at_mut(c);
            let row = &mut rest[0];
            for (j, factor) in above.iter().enumerate() {
                let known: f64 = row[..j].iter().zip(factor).map(|(a, b)| a * b).sum();
                row[j] = match factor[j] {
                    0.0 => 0.0,
                    pivot => (row[j] - known) / pivot,
                };
            }
            let of_others: f64 = row[..c].iter().map(|a| a * a).sum();
            let pivot = row[c] - of_others;
            row[c] = 0.0;
            let known: f64 = row[..c].iter().zip(&right).map(|(a, b)| a * b).sum();
            if pivot <= 1e-9 * f64::from(column_count(c)) {
                right[c] = 0.0;
                continue;
            }
            row[c] = pivot.sqrt();
            right[c] = (right[c] - known) / row[c];
            unexplained -= right[c] * right[c];
            rank += 1;
        }
        let freedom = self.count.checked_sub(rank).filter(|&f| f > 0)?;
        Some((unexplained.max(0.0) / freedom as f64, freedom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::random::Random;

    /// A layout small enough for paper: two rows, two columns, one value a
    /// cell. The interaction contrast 1 − 2 − 3 + 8 = 4 is all that is left:
    /// 4² / 4 with one degree of freedom.
    #[test]
    fn two_by_two_leaves_the_interaction() {
        let mut fit = TwoWay::default();
        for (value, at) in [(1.0, [0, 0]), (2.0, [0, 1]), (3.0, [1, 0]), (8.0, [1, 1])] {
            fit.push(value, at);
        }
        let (variance, freedom) = fit.residual().unwrap();
        assert_eq!(freedom, 1);
        assert!((variance - 4.0).abs() < 1e-12, "{variance}");
    }

    /// What is made of row and column effects alone is explained, whichever
    /// cells are filled; parts that hang together nowhere have effects of
    /// their own.
    #[test]
    fn effects_are_taken_out_of_any_layout() {
        let mut random = Random::new(1, 0);
        for cells in [30, 72, 500] {
            let mut fit = TwoWay::default();
            for _ in 0..cells {
                let (row, column) = (random.below(20) as u8, random.below(36) as u8);
                fit.push(
                    f64::from(row).sin() + 3.0 * f64::from(column).cos(),
                    [row, column],
                );
            }
            if let Some((variance, freedom)) = fit.residual() {
                assert!(variance < 1e-9, "{cells}: {variance} with {freedom}");
            }
        }
        let mut apart = TwoWay::default();
        for at in [[0, 0], [0, 0], [1, 1], [1, 1]] {
            apart.push(f64::from(at[0]) * 7.0, at);
        }
        let (variance, freedom) = apart.residual().unwrap();
        assert!(variance < 1e-12);
        assert_eq!(freedom, 2);
        assert_eq!(TwoWay::default().residual(), None);
    }

    #[test]
    fn noise_keeps_its_variance() {
        let mut random = Random::new(2, 0);
        let (mut sum, runs) = (0.0, 300);
        for _ in 0..runs {
            let mut fit = TwoWay::default();
            for _ in 0..200 {
                let at = [random.below(21) as u8, random.below(21) as u8];
                let noise = random.unit() - 0.5;
                fit.push(f64::from(at[0]).powi(2) - f64::from(at[1]) + noise, at);
            }
            let (variance, freedom) = fit.residual().unwrap();
            assert!((200 - 41..=200 - 38).contains(&freedom), "{freedom}");
            sum += variance;
        }
        // 300 estimates, each known to 1/√(2 · 160) or better: 0.5 % together.
        let ratio = sum / f64::from(runs) * 12.0;
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }
}

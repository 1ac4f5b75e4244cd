//! Weighted least squares, with solutions drawn to those of a larger sample.
#![allow(clippy::indexing_slicing)] // training only: sizes are this module's own

/// The normal equations of a linear prediction.
#[derive(Debug, Clone, Default)]
pub(super) struct Normal {
    size: usize,
    /// Lower triangle, row after row.
    products: Vec<f64>,
    targets: Vec<f64>,
    /// Sum of the weights.
    pub(super) weight: f64,
    /// Samples.
    pub(super) count: f64,
}

impl Normal {
    pub(super) fn new(size: usize) -> Self {
        Self {
            size,
            products: vec![0.0; size * (size + 1) / 2],
            targets: vec![0.0; size],
            weight: 0.0,
            count: 0.0,
        }
    }

    /// Takes note of a sample.
    pub(super) fn add(&mut self, features: &[f64], target: f64, weight: f64) {
        self.weight += weight;
        self.count += 1.0;
        let mut rest = self.products.as_mut_slice();
        for (row, sum) in self.targets.iter_mut().enumerate() {
            let scaled = features[row] * weight;
            *sum += scaled * target;
            let (head, tail) = rest.split_at_mut(row + 1);
            for (product, &feature) in head.iter_mut().zip(features) {
                *product += scaled * feature;
            }
            rest = tail;
        }
    }

    /// Adds the samples of another one of the same size.
    pub(super) fn merge(&mut self, other: &Self) {
        self.weight += other.weight;
        self.count += other.count;
        self.products
            .iter_mut()
            .zip(&other.products)
            .for_each(|(a, b)| *a += b);
        self.targets
            .iter_mut()
            .zip(&other.targets)
            .for_each(|(a, b)| *a += b);
    }

    /// The weights with the least squared error, drawn to `prior` as strongly
    /// as `strength` average samples of `pool` draw.
    pub(super) fn solve(&self, prior: &[f64], pool: &Self, strength: f64) -> Vec<f64> {
        let n = self.size;
        let mut a = vec![0.0; n * n];
        let mut b = self.targets.clone();
        let per_sample = strength / pool.count.max(1.0);
        let average = (0..n)
            .map(|i| pool.products[i * (i + 1) / 2 + i])
            .sum::<f64>()
            / n as f64;
        for i in 0..n {
            let row = &self.products[i * (i + 1) / 2..][..=i];
            a[i * n..][..=i].copy_from_slice(row);
            let own = pool.products[i * (i + 1) / 2 + i];
            let pull = per_sample * (own + 0.01 * average) + 1e-6 * self.weight + 1e-9;
            a[i * n + i] += pull;
            b[i] += pull * prior[i];
        }
        cholesky(&mut a, &mut b, n);
        b
    }
}

/// Solves `a x = b` in place for a positive definite `a`, given by its lower triangle.
fn cholesky(a: &mut [f64], b: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let (row_i, row_j) = (&a[i * n..][..j], &a[j * n..][..j]);
            let sum = a[i * n + j] - row_i.iter().zip(row_j).map(|(x, y)| x * y).sum::<f64>();
            a[i * n + j] = if i != j {
                sum / a[j * n + j]
            } else if sum > 1e-12 {
                sum.sqrt()
            } else {
                // A feature that the others determine gets no weight.
                1e30
            };
        }
    }
    for i in 0..n {
        let sum: f64 = a[i * n..][..i]
            .iter()
            .zip(&b[..i])
            .map(|(x, y)| x * y)
            .sum();
        b[i] = (b[i] - sum) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        b[i] = (b[i] - sum) / a[i * n + i];
    }
}

/// A weight in fixed point.
pub(super) fn quantise(weight: f64, scale: f64) -> i16 {
    // A cast saturates, and makes 0 of what is no number.
    (weight * scale).round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_law_is_found() {
        let mut normal = Normal::new(3);
        for k in 0..50 {
            let x = f64::from(k);
            let features = [x, x * x % 7.0, 1.0];
            normal.add(&features, 2.0 * features[0] - 0.5 * features[1] + 3.0, 1.0);
        }
        let found = normal.solve(&[0.0; 3], &normal, 0.0);
        for (weight, expected) in found.iter().zip([2.0, -0.5, 3.0]) {
            assert!((weight - expected).abs() < 1e-3, "{found:?}");
        }
        // Without samples the prior remains.
        let prior = [1.0, 2.0, 3.0];
        let found = Normal::new(3).solve(&prior, &normal, 10.0);
        assert!(found.iter().zip(prior).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}

//! Stochastic gradient descent for one network: a hidden layer over sparse
//! units, five logistic outputs, cross-entropy.

use endtable::rollout::network::features::{Active, Class, Layout};
use endtable::rollout::network::weights::Weights;
use endtable::rollout::random::Random;

/// A network that learns.
pub(crate) struct Learner {
    /// Its weights.
    pub weights: Weights,
    /// Units of each row, with their activation.
    expansion: Vec<Vec<(usize, f32)>>,
    hidden: Vec<f32>,
    gradient: Vec<f32>,
    active: Vec<(usize, f32)>,
}

impl Learner {
    /// Small random weights.
    pub(crate) fn new(class: Class, hidden: usize, random: &mut Random) -> Self {
        let mut noise = |n: usize, size: f32| -> Vec<f32> {
            (0..n)
                .map(|_| (random.unit() as f32 * 2.0 - 1.0) * size)
                .collect()
        };
        let units = Layout::of(class).unit_count();
        let weights = Weights {
            hidden,
            input: noise(units * hidden, 0.12),
            bias: noise(hidden, 0.12),
            output: noise(5 * hidden, 0.1),
            output_bias: [0.0, -1.2, -4.5, -1.2, -4.5],
        };
        Learner::with(class, weights)
    }

    /// Weights to go on from.
    pub(crate) fn with(class: Class, weights: Weights) -> Self {
        let hidden = vec![0.0; weights.hidden];
        let gradient = hidden.clone();
        Learner {
            weights,
            expansion: Layout::of(class).expansion(),
            hidden,
            gradient,
            active: Vec::new(),
        }
    }

    /// One step towards `target`; returns the squared error of the equity.
    pub(crate) fn learn(&mut self, rows: &Active, target: &[f32; 5], rate: f32) -> f32 {
        let n = self.weights.hidden;
        self.active.clear();
        self.active.extend(
            rows.rows()
                .iter()
                .flat_map(|&row| &self.expansion[usize::from(row)]),
        );
        self.hidden.copy_from_slice(&self.weights.bias);
        for &(unit, activation) in &self.active {
            let row = &self.weights.input[unit * n..(unit + 1) * n];
            for (h, w) in self.hidden.iter_mut().zip(row) {
                *h += activation * w;
            }
        }
        // The squash x / (1 + |x|) has the slope (1 − |squashed|)².
        for h in &mut self.hidden {
            *h /= 1.0 + h.abs();
        }
        self.gradient.fill(0.0);
        let mut equity_error = 0.0;
        for (k, factor) in [2.0, 1.0, 1.0, -1.0, -1.0].into_iter().enumerate() {
            let row = &mut self.weights.output[k * n..(k + 1) * n];
            let sum: f32 = row.iter().zip(&self.hidden).map(|(w, h)| w * h).sum();
            let answer = 1.0 / (1.0 + (-sum - self.weights.output_bias[k]).exp());
            let error = target[k] - answer;
            equity_error += factor * error;
            // The win decides most of the equity.
            let step = error * if k == 0 { 2.0 } else { 1.0 };
            for ((w, h), g) in row.iter_mut().zip(&self.hidden).zip(&mut self.gradient) {
                *g += step * *w;
                *w += rate * step * h;
            }
            self.weights.output_bias[k] += rate * step;
        }
        for ((g, h), b) in self
            .gradient
            .iter_mut()
            .zip(&self.hidden)
            .zip(&mut self.weights.bias)
        {
            let slope = 1.0 - h.abs();
            *g *= rate * slope * slope;
            *b += *g;
        }
        for &(unit, activation) in &self.active {
            let row = &mut self.weights.input[unit * n..(unit + 1) * n];
            for (w, g) in row.iter_mut().zip(&self.gradient) {
                *w += activation * g;
            }
        }
        equity_error * equity_error
    }
}

/// Moves `average` towards `weights` by this share.
pub(crate) fn blend(average: &mut Weights, weights: &Weights, share: f32) {
    let pairs = [
        (&mut average.input[..], &weights.input[..]),
        (&mut average.bias, &weights.bias),
        (&mut average.output, &weights.output),
        (&mut average.output_bias, &weights.output_bias),
    ];
    for (average, weights) in pairs {
        for (a, w) in average.iter_mut().zip(weights) {
            *a += share * (w - *a);
        }
    }
}

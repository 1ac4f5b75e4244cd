//! The forward pass: one hidden layer over sums of rows.
//!
//! Multiplications and additions are separate and have a fixed order, in lanes
//! of 16, so that the portable code here and the vector code beside it give
//! the same bits on every machine.

/// Numbers that are worked on side by side.
pub(super) const LANES: usize = 16;

/// Lanes in one piece; rows and weights are stored in these.
pub(super) type Lane = [f32; LANES];

/// The outputs of a network.
pub(super) const OUTPUTS: usize = 5;

/// A network with its first layer expanded to one row for each input value.
#[derive(Debug, Clone)]
pub(super) struct Expanded {
    /// Lanes in the hidden layer.
    pub(super) lanes: usize,
    /// `row × lanes`.
    pub(super) rows: Vec<Lane>,
    /// `lanes`.
    pub(super) bias: Vec<Lane>,
    /// `output × lanes`.
    pub(super) output: Vec<Lane>,
    /// One for each output.
    pub(super) output_bias: [f32; OUTPUTS],
}

/// The instruction set to use, found out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Isa {
    /// Whatever the crate was compiled for.
    Portable,
    /// 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The widest that this machine has.
    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                return Isa::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Isa::Avx2;
            }
        }
        Isa::Portable
    }
}

/// The outputs for the board whose active rows are given.
#[inline]
pub(super) fn forward(net: &Expanded, rows: &[u16], isa: Isa) -> [f32; OUTPUTS] {
    let sums = match isa {
        Isa::Portable => portable(net, rows),
        // SAFETY: `Isa::best` is the only maker of these, and it has asked the processor.
        #[cfg(target_arch = "x86_64")]
        #[allow(
            unsafe_code,
            reason = "calls of functions compiled for a wider instruction set"
        )]
        Isa::Avx2 => unsafe { super::x86::avx2(net, rows) },
        #[cfg(target_arch = "x86_64")]
        #[allow(
            unsafe_code,
            reason = "calls of functions compiled for a wider instruction set"
        )]
        Isa::Avx512 => unsafe { super::x86::avx512(net, rows) },
    };
    std::array::from_fn(|k| logistic(sums[k] + net.output_bias[k]))
}

/// Lanes of the hidden layer that are summed up at a time, so that they stay
/// in registers.
pub(super) const TILE: usize = 4;

/// The weighted sums of the outputs, without their bias.
fn portable(net: &Expanded, rows: &[u16]) -> [f32; OUTPUTS] {
    let mut partial = [[0f32; LANES]; OUTPUTS];
    for tile in (0..net.lanes).step_by(TILE) {
        let mut hidden: [Lane; TILE] = std::array::from_fn(|t| net.bias[tile + t]);
        for &row in rows {
            let at = usize::from(row) * net.lanes + tile;
            let weights = &net.rows[at..at + TILE];
            for (sum, weight) in hidden.iter_mut().zip(weights) {
                for (s, w) in sum.iter_mut().zip(weight) {
                    *s += w;
                }
            }
        }
        for lane in &mut hidden {
            for h in lane {
                *h = squash(*h);
            }
        }
        for (k, sum) in partial.iter_mut().enumerate() {
            let at = k * net.lanes + tile;
            for (lane, weight) in hidden.iter().zip(&net.output[at..at + TILE]) {
                for ((s, h), w) in sum.iter_mut().zip(lane).zip(weight) {
                    *s += h * w;
                }
            }
        }
    }
    partial.map(total)
}

/// The sum of a lane: halves are added until one number is left.
#[inline(always)]
pub(super) fn total(mut lane: Lane) -> f32 {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lane[i] += lane[i + width];
        }
    }
    lane[0]
}

/// The activation of a hidden unit: from −1 to 1, steepest at 0.
#[inline(always)]
pub(super) fn squash(x: f32) -> f32 {
    x / (1.0 + x.abs())
}

/// 1 / (1 + e^−x), by arithmetic that is the same everywhere; right to 2e-7.
#[inline(always)]
pub(super) fn logistic(x: f32) -> f32 {
    // e^−x as 2^n · 2^f with |f| at most one half, 2^f by its Taylor series.
    let t = (-x).clamp(-80.0, 80.0) * std::f32::consts::LOG2_E;
    let n = (t + 0.5).floor();
    let f = (t - n) * std::f32::consts::LN_2;
    let series = 1.0
        + f * (1.0
            + f * (0.5 + f * (1.0 / 6.0 + f * (1.0 / 24.0 + f * (1.0 / 120.0 + f / 720.0)))));
    let power = f32::from_bits(((n as i32 + 127) as u32) << 23);
    1.0 / (1.0 + series * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::random::Random;

    fn noise(random: &mut Random, n: usize) -> Vec<Lane> {
        (0..n)
            .map(|_| std::array::from_fn(|_| random.unit() as f32 - 0.5))
            .collect()
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let mut random = Random::new(3, 0);
        let net = Expanded {
            lanes: 8,
            rows: noise(&mut random, 100 * 8),
            bias: noise(&mut random, 8),
            output: noise(&mut random, OUTPUTS * 8),
            output_bias: [0.1, -0.2, 0.3, -0.4, 0.5],
        };
        for _ in 0..200 {
            let rows: Vec<u16> = (0..40).map(|_| random.below(100) as u16).collect();
            let portable = forward(&net, &rows, Isa::Portable).map(f32::to_bits);
            assert_eq!(
                forward(&net, &rows, Isa::best()).map(f32::to_bits),
                portable
            );
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                assert_eq!(forward(&net, &rows, Isa::Avx2).map(f32::to_bits), portable);
            }
        }
    }

    #[test]
    fn the_logistic_function_is_right() {
        for i in -4000..=4000 {
            let x = i as f32 / 100.0;
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(logistic(x)) - exact).abs() < 2e-7, "{x}");
        }
    }
}

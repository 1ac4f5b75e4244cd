//! Means and their errors, for single series and for differences, with
//! independent games or with dice that are stratified in blocks of 36.

/// Games in a block of stratified dice.
pub const BLOCK: usize = 36;

/// Blocks from which on errors are taken from block means. Below, the plain
/// error is used: it is somewhat too large under stratified dice, but a
/// deviation estimated from a handful of blocks is worse.
const ENOUGH_BLOCKS: u64 = 8;

/// Running mean and variance (Welford's recurrence).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Takes in one value.
    pub fn push(&mut self, value: f64) {
        self.count += 1;
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (value - self.mean);
    }

    /// How many values were taken in.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 for none.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Unbiased variance; `None` for fewer than two values.
    pub fn variance(&self) -> Option<f64> {
        (self.count >= 2).then(|| (self.squares / (self.count - 1) as f64).max(0.0))
    }
}

/// Running covariance of pairs of values.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Covariance {
    count: u64,
    means: [f64; 2],
    products: f64,
}

impl Covariance {
    /// Takes in one pair.
    pub fn push(&mut self, a: f64, b: f64) {
        self.count += 1;
        let off = a - self.means[0];
        self.means[0] += off / self.count as f64;
        self.means[1] += (b - self.means[1]) / self.count as f64;
        self.products += off * (b - self.means[1]);
    }

    /// Unbiased covariance; `None` for fewer than two pairs.
    pub fn value(&self) -> Option<f64> {
        (self.count >= 2).then(|| self.products / (self.count - 1) as f64)
    }
}

/// How the games of a series depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// Not at all.
    Independent,
    /// Games 0 to 35, 36 to 71, … are blocks over which dice are stratified;
    /// blocks are independent.
    #[default]
    Blocks,
}

/// The results of one candidate, game after game.
#[derive(Debug, Clone, Default)]
pub struct Series {
    sampling: Sampling,
    values: Vec<f64>,
    games: Moments,
    blocks: Moments,
    block_sum: f64,
}

impl Series {
    /// An empty series.
    pub fn new(sampling: Sampling) -> Self {
        Series {
            sampling,
            ..Series::default()
        }
    }

    /// Takes in the next game's result.
    pub fn push(&mut self, value: f64) {
        self.values.push(value);
        self.games.push(value);
        self.block_sum += value;
        if self.values.len().is_multiple_of(BLOCK) {
            self.blocks.push(self.block_sum / BLOCK as f64);
            self.block_sum = 0.0;
        }
    }

    /// The results in order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How many games there are.
    pub fn count(&self) -> u64 {
        self.games.count()
    }

    /// Mean result; 0 without games.
    pub fn mean(&self) -> f64 {
        self.games.mean()
    }

    /// Deviation of one game, such that `deviation / √games` is the error of
    /// the mean: under stratified dice smaller than the plain deviation.
    /// `None` for fewer than two games.
    pub fn deviation(&self) -> Option<f64> {
        let plain = self.games.variance()?;
        if !self.by_blocks() {
            return Some(plain.sqrt());
        }
        // Whole blocks have their own variance; games after them the plain one.
        let block = self.blocks.variance()? * BLOCK as f64;
        let whole = (self.blocks.count() * BLOCK as u64) as f64;
        let all = self.count() as f64;
        Some(((block * whole + plain * (all - whole)) / all).sqrt())
    }

    /// Standard error of the mean; `None` for fewer than two games.
    pub fn error(&self) -> Option<f64> {
        Some(self.deviation()? / (self.count() as f64).sqrt())
    }

    /// Half the width of the 95 % confidence interval of the mean.
    pub fn half_width_95(&self) -> Option<f64> {
        let freedom = if self.by_blocks() {
            self.blocks.count()
        } else {
            self.count()
        } - 1;
        Some(self.error()? * student_95(freedom))
    }

    fn by_blocks(&self) -> bool {
        self.sampling == Sampling::Blocks && self.blocks.count() >= ENOUGH_BLOCKS
    }
}

/// Standard error of the difference of two means whose games with the same
/// number share their dice. `None` if either has fewer than two games.
pub fn difference_error(a: &Series, b: &Series) -> Option<f64> {
    let shared = a.values.len().min(b.values.len());
    let (own_a, own_b) = (a.error()?, b.error()?);
    let mut covariance = Covariance::default();
    if a.by_blocks() && b.by_blocks() {
        for (x, y) in a
            .values
            .chunks_exact(BLOCK)
            .zip(b.values.chunks_exact(BLOCK))
        {
            covariance.push(
                x.iter().sum::<f64>() / BLOCK as f64,
                y.iter().sum::<f64>() / BLOCK as f64,
            );
        }
    } else {
        for (&x, &y) in a.values.iter().zip(&b.values) {
            covariance.push(x, y);
        }
    }
    let scale = if a.by_blocks() && b.by_blocks() {
        BLOCK as f64
    } else {
        1.0
    };
    // The means share `shared` games: cov(ā, b̄) = c · shared / (n_a · n_b).
    let joint = covariance.value()? * scale * shared as f64
        / (a.values.len() as f64 * b.values.len() as f64);
    // A noisy covariance must not turn the error into nothing.
    let least = (own_a - own_b).abs();
    Some(
        (own_a * own_a + own_b * own_b - 2.0 * joint)
            .max(0.0)
            .sqrt()
            .max(least),
    )
}

/// The two-sided 95 % quantile of Student's t, right to 0.001 from three
/// degrees of freedom on (Cornish–Fisher expansion; exact values below).
pub fn student_95(freedom: u64) -> f64 {
    const EXACT: [f64; 5] = [12.706, 4.303, 3.182, 2.776, 2.571];
    match freedom {
        0 => f64::INFINITY,
        1..=5 => EXACT[freedom as usize - 1],
        _ => {
            let (z, n) = (1.959_963_985f64, freedom as f64);
            let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
            z + (z3 + z) / (4.0 * n)
                + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
                + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * n * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::random::Random;

    #[test]
    fn moments_and_covariance_are_the_textbook_ones() {
        let (xs, ys) = ([1.0, 2.0, 4.0, 7.0], [3.0, 1.0, 0.0, -2.0]);
        let (mut m, mut c) = (Moments::default(), Covariance::default());
        for (x, y) in xs.into_iter().zip(ys) {
            m.push(x);
            c.push(x, y);
        }
        assert!((m.mean() - 3.5).abs() < 1e-12);
        assert!((m.variance().unwrap() - 7.0).abs() < 1e-12);
        // Σ(x − 3.5)(y − 0.5) = −6.25 − 0.75 − 0.25 − 8.75 = −16, divided by 3.
        assert!((c.value().unwrap() + 16.0 / 3.0).abs() < 1e-12);
        assert_eq!(Moments::default().variance(), None);
    }

    #[test]
    fn students_t_is_that_of_the_tables() {
        for (freedom, t) in [
            (1, 12.706),
            (5, 2.571),
            (6, 2.447),
            (10, 2.228),
            (30, 2.042),
            (120, 1.980),
        ] {
            assert!((student_95(freedom) - t).abs() < 0.002, "{freedom}");
        }
    }

    /// A game's result: the first of two dice rolls matters, is stratified,
    /// and the rest is noise with a long tail.
    fn stratified(random: &mut Random, n: usize, rolls: &mut Vec<usize>) -> Vec<f64> {
        (0..n)
            .map(|i| {
                if i % BLOCK == 0 {
                    *rolls = (0..BLOCK).collect();
                    random.shuffle(rolls);
                }
                let noise = -random.unit().max(1e-12).ln() - 1.0;
                (rolls[i % BLOCK] as f64 - 17.5) / 10.4 * 0.5 + noise * 0.8
            })
            .collect()
    }

    /// Share of intervals, in per cent, that hold the true value 0.
    fn coverage(sampling: Sampling, games: usize, mut draw: impl FnMut() -> Vec<f64>) -> f64 {
        let runs = 8000;
        let mut held = 0;
        for _ in 0..runs {
            let mut series = Series::new(sampling);
            draw().into_iter().take(games).for_each(|v| series.push(v));
            held += usize::from(series.mean().abs() <= series.half_width_95().unwrap());
        }
        100.0 * held as f64 / runs as f64
    }

    #[test]
    fn the_95_per_cent_interval_covers_94_to_96() {
        let mut random = Random::new(5, 0);
        let mut rolls = Vec::new();
        for games in [324, 1296, 1300] {
            let share = coverage(Sampling::Blocks, games, || {
                stratified(&mut random, games, &mut rolls)
            });
            assert!(
                (94.0..=96.0).contains(&share),
                "{games} stratified games: {share}"
            );
        }
        let share = coverage(Sampling::Independent, 400, || {
            (0..400).map(|_| random.unit() - 0.5).collect()
        });
        assert!((94.0..=96.0).contains(&share), "independent: {share}");
    }

    #[test]
    fn plain_errors_of_stratified_games_would_be_too_large() {
        let mut random = Random::new(6, 0);
        let mut rolls = Vec::new();
        let values = stratified(&mut random, 720_000, &mut rolls);
        let (mut blocks, mut plain) = (
            Series::new(Sampling::Blocks),
            Series::new(Sampling::Independent),
        );
        for v in values {
            blocks.push(v);
            plain.push(v);
        }
        // Variances 0.64 without and 0.64 + 0.25 with the stratified part.
        let ratio = blocks.error().unwrap() / plain.error().unwrap();
        assert!((ratio - (0.64f64 / 0.89).sqrt()).abs() < 0.02, "{ratio}");
    }

    #[test]
    fn a_difference_knows_of_shared_dice() {
        let mut random = Random::new(7, 0);
        let mut errors = Moments::default();
        let mut claimed = Moments::default();
        for _ in 0..2000 {
            let (mut a, mut b) = (
                Series::new(Sampling::Independent),
                Series::new(Sampling::Independent),
            );
            for game in 0..300 {
                let luck = random.unit();
                a.push(luck + 0.3 * random.unit());
                if game < 200 {
                    b.push(luck + 0.3 * random.unit());
                }
            }
            errors.push(a.mean() - b.mean());
            claimed.push(difference_error(&a, &b).unwrap().powi(2));
        }
        let ratio = claimed.mean() / errors.variance().unwrap();
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }
}

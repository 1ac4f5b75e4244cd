//! Means and their errors, for single series and for differences, with
//! independent games or with dice that are stratified in blocks of 36.

pub use super::two_way::LEVELS;
use super::two_way::TwoWay;

/// Games in a block of stratified dice.
pub const BLOCK: usize = 36;

/// Degrees of freedom from which on the variance of block means is taken from
/// what the strata leave unexplained. Below, the plain variance is used: it is
/// somewhat too large under stratified dice, but one estimated from so
/// little is worse.
const ENOUGH_FREEDOM: u64 = 30;

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

/// The results of one candidate, game after game.
///
/// Games are independent of each other, or *stratified*: games 0 to 35, 36 to
/// 71, … are blocks in which each stratum of two factors (a dice rollout's first
/// and second throw) comes as often as in every other block, in an order
/// that is independent of the other factor's and of other blocks'. What a
/// factor does on its own is then the same in each block mean μ̂ and adds
/// nothing to its variance, which is Var μ̂ = (σ² + σₓ² · 36/35) / 36 with σ²
/// the variance within and σₓ² that of the interaction of both factors
/// (Hoeffding, *A combinatorial central limit theorem*, 1951, theorem 2). The
/// residual variance of the additive model of both factors estimates σ² +
/// σₓ² from all games, with a degree of freedom for each game but some forty:
/// far better than the scatter of a few block means could.
#[derive(Debug, Clone, Default)]
pub struct Series {
    values: Vec<f64>,
    /// The strata of each game, as long as all have some.
    strata: Vec<[u8; 2]>,
    games: Moments,
    /// The whole blocks.
    fit: Box<TwoWay>,
    /// Residual variance of the whole blocks and its degrees of freedom, once
    /// there are enough of these.
    residual: Option<(f64, u64)>,
}

impl Series {
    /// Takes in the next game's result, with its two strata if the series is
    /// stratified.
    ///
    /// # Panics
    /// When a whole block has been pushed in which a stratum is not below [`LEVELS`].
    pub fn push(&mut self, value: f64, strata: Option<[u8; 2]>) {
        self.values.push(value);
        self.games.push(value);
        self.strata.extend(strata);
        let whole = self.values.len();
        if self.strata.len() == whole && whole.is_multiple_of(BLOCK) {
            let block = whole - BLOCK..whole;
            for (&value, &at) in self.values[block.clone()].iter().zip(&self.strata[block]) {
                self.fit.push(value, at);
            }
            self.residual = self.fit.residual().filter(|r| r.1 >= ENOUGH_FREEDOM);
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
        let Some((residual, _)) = self.residual() else {
            return Some(plain.sqrt());
        };
        // Whole blocks have their own variance; games after them the plain one.
        let all = self.values.len();
        let rest = (all % BLOCK) as f64 / all as f64;
        Some((residual + (plain - residual) * rest).sqrt())
    }

    /// Standard error of the mean; `None` for fewer than two games.
    pub fn error(&self) -> Option<f64> {
        Some(self.deviation()? / (self.count() as f64).sqrt())
    }

    /// Half the width of the 95 % confidence interval of the mean.
    pub fn half_width_95(&self) -> Option<f64> {
        let freedom = self.residual().map_or(self.count() - 1, |r| r.1);
        Some(self.error()? * student_95(freedom))
    }

    /// Residual variance of the whole blocks and its freedom, if all games are
    /// stratified and there are enough.
    fn residual(&self) -> Option<(f64, u64)> {
        self.residual
            .filter(|_| self.strata.len() == self.values.len())
    }
}

/// Standard error of the difference of two means whose games with the same
/// number share their dice. `None` if either has fewer than two games.
pub fn difference_error(a: &Series, b: &Series) -> Option<f64> {
    let shared = a.values.len().min(b.values.len());
    let (own_a, own_b) = (a.error()?, b.error()?);
    let covariance = match (a.residual(), b.residual()) {
        (Some(_), Some(_)) => residual_covariance(a, b, shared - shared % BLOCK)?,
        _ => {
            let mut covariance = Covariance::default();
            for (&x, &y) in a.values.iter().zip(&b.values) {
                covariance.push(x, y);
            }
            covariance.value()?
        }
    };
    // The means share `shared` games: cov(ā, b̄) = c · shared / (n_a · n_b).
    let joint = covariance * shared as f64 / (a.values.len() as f64 * b.values.len() as f64);
    // A noisy covariance must not turn the error into nothing.
    let least = (own_a - own_b).abs();
    Some(
        (own_a * own_a + own_b * own_b - 2.0 * joint)
            .max(0.0)
            .sqrt()
            .max(least),
    )
}

/// Covariance of what the strata leave unexplained in the first `games` of
/// both, as a quarter of the variance of their sum less that of their difference.
fn residual_covariance(a: &Series, b: &Series, games: usize) -> Option<f64> {
    let (mut sum, mut difference) = (TwoWay::default(), TwoWay::default());
    for ((x, y), &at) in a.values[..games].iter().zip(&b.values).zip(&a.strata) {
        sum.push(x + y, at);
        difference.push(x - y, at);
    }
    Some((sum.residual()?.0 - difference.residual()?.0) / 4.0)
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

    /// Games whose two strata matter, on their own and together; the rest is
    /// noise with a long tail. Variances: 0.25 and 0.36 of the strata alone,
    /// 0.16 of both together, 0.64 within.
    fn stratified(random: &mut Random, n: usize) -> Vec<(f64, [u8; 2])> {
        let mut orders = [0; 2].map(|_| (0..BLOCK as u8).collect::<Vec<_>>());
        let level = |l: u8| (f64::from(l) - 17.5) / 10.388_3;
        (0..n)
            .map(|i| {
                if i % BLOCK == 0 {
                    orders.iter_mut().for_each(|o| random.shuffle(o));
                }
                let at = [orders[0][i % BLOCK], orders[1][i % BLOCK]];
                let [a, b] = at.map(level);
                let noise = -random.unit().max(1e-12).ln() - 1.0;
                (0.5 * a - 0.6 * b + 0.4 * a * b + 0.8 * noise, at)
            })
            .collect()
    }

    fn series(games: &[(f64, [u8; 2])], with_strata: bool) -> Series {
        let mut series = Series::default();
        for &(value, at) in games {
            series.push(value, with_strata.then_some(at));
        }
        series
    }

    /// Share of intervals, in per cent, that hold the true value 0.
    fn coverage(mut draw: impl FnMut() -> Series) -> f64 {
        let runs = 8000;
        let held = (0..runs).filter(|_| {
            let series = draw();
            series.mean().abs() <= series.half_width_95().unwrap()
        });
        100.0 * held.count() as f64 / f64::from(runs)
    }

    #[test]
    fn the_95_per_cent_interval_covers_94_to_96() {
        let mut random = Random::new(5, 0);
        for games in [108, 324, 1296, 1300] {
            let share = coverage(|| series(&stratified(&mut random, games), true));
            assert!(
                (94.0..=96.0).contains(&share),
                "{games} stratified games: {share}"
            );
        }
        let share = coverage(|| {
            let mut series = Series::default();
            (0..400).for_each(|_| series.push(random.unit() - 0.5, None));
            series
        });
        assert!((94.0..=96.0).contains(&share), "independent: {share}");
    }

    /// The error is that of block means, known far better than from the
    /// scatter of the few that there are.
    #[test]
    fn errors_are_those_of_block_means() {
        let mut random = Random::new(6, 0);
        let (mut blocks, mut claimed, mut scattered) =
            (Moments::default(), Moments::default(), Moments::default());
        let mut plain = Moments::default();
        for _ in 0..2000 {
            let games = stratified(&mut random, 9 * BLOCK);
            let mut own = Moments::default();
            for block in games.chunks(BLOCK) {
                let mean = block.iter().map(|g| g.0).sum::<f64>() / BLOCK as f64;
                blocks.push(mean);
                own.push(mean);
            }
            scattered.push(own.variance().unwrap());
            claimed.push(series(&games, true).error().unwrap().powi(2) * 9.0);
            plain.push(series(&games, false).error().unwrap().powi(2) * 9.0);
        }
        let truth = blocks.variance().unwrap();
        assert!(
            (truth * 36.0 / (0.64 + 0.16 * 36.0 / 35.0) - 1.0).abs() < 0.04,
            "{truth}"
        );
        assert!((claimed.mean() / truth - 1.0).abs() < 0.04);
        assert!((plain.mean() / truth - 1.41 / 0.80).abs() < 0.1);
        let relative = |m: &Moments| m.variance().unwrap().sqrt() / m.mean();
        assert!(relative(&claimed) * 2.0 < relative(&scattered));
    }

    #[test]
    fn a_difference_of_stratified_games_has_its_own_error() {
        let mut random = Random::new(8, 0);
        let (mut differences, mut claimed) = (Moments::default(), Moments::default());
        for _ in 0..1000 {
            let games = stratified(&mut random, 6 * BLOCK);
            let other: Vec<_> = games
                .iter()
                .take(4 * BLOCK)
                .map(|&(v, at)| (0.7 * v + 0.3 * f64::from(at[1]) + 0.2 * random.unit(), at))
                .collect();
            let (a, b) = (series(&games, true), series(&other, true));
            differences.push(a.mean() - b.mean());
            claimed.push(difference_error(&a, &b).unwrap().powi(2));
        }
        let ratio = claimed.mean() / differences.variance().unwrap();
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_difference_knows_of_shared_dice() {
        let mut random = Random::new(7, 0);
        let mut errors = Moments::default();
        let mut claimed = Moments::default();
        for _ in 0..2000 {
            let (mut a, mut b) = (Series::default(), Series::default());
            for game in 0..300 {
                let luck = random.unit();
                a.push(luck + 0.3 * random.unit(), None);
                if game < 200 {
                    b.push(luck + 0.3 * random.unit(), None);
                }
            }
            errors.push(a.mean() - b.mean());
            claimed.push(difference_error(&a, &b).unwrap().powi(2));
        }
        let ratio = claimed.mean() / errors.variance().unwrap();
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }
}

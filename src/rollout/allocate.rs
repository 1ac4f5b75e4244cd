//! Which candidate gets the next games. Knows nothing of backgammon.
//!
//! A decision looks at the results that are known and counts the games that
//! are under way, so that several threads don't all run to one candidate.

use super::statistics::{Series, difference_error};

/// How games are given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// To the candidate with the fewest games.
    Equal,
    /// To the candidate whose mean has the largest standard error, so that
    /// all errors are about equal at any time.
    HighestSe,
    /// Optimal computing budget allocation (Chen et al., 2000): numbers of games in
    /// the proportions that make it likeliest to choose the best, given the
    /// means and deviations so far; as many to the leader as to its nearest rival, and a
    /// quarter of the average to any candidate.
    Ocba,
    /// The leader against the candidate with the highest upper confidence
    /// bound (Kalyanakrishnan et al., 2012): to the one of the two with the larger error;
    /// a quarter of the average to any candidate.
    Lucb,
}

/// What is limited. Whatever is chosen, a game once begun is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Ends when the first candidate has had this many games, or when all
    /// together have had four times as many as if each had had them (a rule
    /// may starve the first candidate).
    First(u64),
    /// Ends when all candidates together have had this many on average.
    Average(u64),
    /// Ends when any candidate has had this many and would be next.
    Maximum(u64),
}

/// When to end before the budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stop {
    /// A candidate gets no more games while its standard error is at most this.
    pub error: Option<f64>,
    /// A candidate gets no more games while it trails the leader by more than
    /// this many standard errors of their difference.
    pub separation: Option<f64>,
    /// Games that each candidate has before `error` and `separation` count.
    pub at_least: u64,
}

/// A complete plan of allocation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// How games are given out.
    pub rule: Rule,
    /// Games given at a time.
    pub batch: u64,
    /// Games that each candidate gets first, one after the other; at least 2.
    pub start: u64,
    /// What is limited.
    pub budget: Budget,
    /// When to end earlier.
    pub stop: Stop,
}

impl Plan {
    /// A plan without stop rules: a start of two games for batches of one,
    /// else of one batch.
    pub fn new(rule: Rule, batch: u64, budget: Budget) -> Self {
        let batch = batch.max(1);
        Plan {
            rule,
            batch,
            start: batch.max(2),
            budget,
            stop: Stop {
                at_least: 144,
                ..Stop::default()
            },
        }
    }
}

/// A candidate as a decision sees it.
#[derive(Debug, Clone, Default)]
pub struct Candidate {
    /// Its results so far.
    pub series: Series,
    /// Games under way.
    pub in_flight: u64,
}

impl Candidate {
    fn given(&self) -> u64 {
        self.series.count() + self.in_flight
    }
}

/// Games for one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Index of the candidate.
    pub candidate: usize,
    /// Number of its first game; games of a candidate are numbered from 0.
    pub first_game: u64,
    /// How many games.
    pub games: u64,
}

/// The next games, or `None` when all is done.
///
/// Nothing is remembered between decisions: a candidate that was passed over
/// because it trailed is taken up again as soon as it doesn't.
pub fn next(plan: &Plan, candidates: &[Candidate]) -> Option<Job> {
    let total: u64 = candidates.iter().map(Candidate::given).sum();
    let count = candidates.len() as u64;
    let left = match plan.budget {
        Budget::First(n) => {
            let first = candidates.first()?.given();
            if first >= n {
                0
            } else {
                (4 * n * count).saturating_sub(total)
            }
        }
        Budget::Average(n) => (n * count).saturating_sub(total),
        Budget::Maximum(_) => u64::MAX,
    };
    // The start: every candidate needs an error before it can be compared.
    let start = candidates
        .iter()
        .position(|c| c.given() < plan.start.max(2));
    let chosen = match start {
        Some(candidate) => candidate,
        None => {
            let active = active(plan, candidates);
            if active.is_empty()
                || (count == 1 && plan.stop.separation.is_some() && plan.stop.error.is_none())
            {
                return None;
            }
            choose(plan.rule, candidates, &active)
        }
    };
    let given = candidates[chosen].given();
    let of_chosen = match plan.budget {
        Budget::First(n) if chosen == 0 => n - given.min(n),
        Budget::Maximum(n) => n.saturating_sub(given),
        _ => u64::MAX,
    };
    let wanted = if start.is_some() {
        plan.start.max(2) - given
    } else {
        plan.batch
    };
    let games = wanted.min(left).min(of_chosen);
    (games > 0).then_some(Job {
        candidate: chosen,
        first_game: given,
        games,
    })
}

/// The candidates that no stop rule holds back.
fn active(plan: &Plan, candidates: &[Candidate]) -> Vec<usize> {
    let stop = &plan.stop;
    let all = 0..candidates.len();
    let leader = leader(candidates);
    let judged = |c: &Candidate| c.series.count() >= stop.at_least.max(2);
    let good_enough = |c: &Candidate| match (stop.error, c.series.error()) {
        (Some(target), Some(error)) => judged(c) && error <= target,
        _ => false,
    };
    let trails = |i: usize| {
        let (Some(limit), best, it) = (stop.separation, &candidates[leader], &candidates[i]) else {
            return false;
        };
        i != leader
            && judged(best)
            && judged(it)
            && difference_error(&best.series, &it.series)
                .is_some_and(|error| best.series.mean() - it.series.mean() > limit * error)
    };
    let contenders: Vec<usize> = all.filter(|&i| !trails(i)).collect();
    if stop.separation.is_some() && contenders.len() == 1 && candidates.len() > 1 {
        return Vec::new();
    }
    contenders
        .into_iter()
        .filter(|&i| !good_enough(&candidates[i]))
        .collect()
}

/// The candidate with the highest mean, the first of equals; one without games
/// only if none has any.
pub fn leader(candidates: &[Candidate]) -> usize {
    let mean = |i: usize| match candidates[i].series.count() {
        0 => f64::NEG_INFINITY,
        _ => candidates[i].series.mean(),
    };
    (1..candidates.len()).fold(0, |best, i| if mean(i) > mean(best) { i } else { best })
}

fn choose(rule: Rule, candidates: &[Candidate], active: &[usize]) -> usize {
    let deviations = deviations(candidates);
    let error = |i: usize| deviations[i] / (candidates[i].given() as f64).sqrt();
    let largest = |of: &dyn Fn(usize) -> f64| {
        active
            .iter()
            .copied()
            .reduce(|best, i| if of(i) > of(best) { i } else { best })
            .unwrap_or(0)
    };
    let total: u64 = candidates.iter().map(Candidate::given).sum();
    match rule {
        Rule::Equal => largest(&|i| -(candidates[i].given() as f64)),
        Rule::HighestSe => largest(&error),
        Rule::Ocba => {
            let shares = ocba_shares(candidates, &deviations);
            largest(&|i| shares[i] * (total + 1) as f64 - candidates[i].given() as f64)
        }
        Rule::Lucb => {
            let fewest = largest(&|i| -(candidates[i].given() as f64));
            let average = total as f64 / candidates.len() as f64;
            if (candidates[fewest].given() as f64) < LEAST_SHARE * average {
                return fewest;
            }
            let leader = leader(candidates);
            let bound = |i: usize| candidates[i].series.mean() + LUCB_WIDTH * error(i);
            let rival = active
                .iter()
                .copied()
                .filter(|&i| i != leader)
                .reduce(|best, i| if bound(i) > bound(best) { i } else { best });
            match rival {
                Some(rival) if active.contains(&leader) && error(leader) >= error(rival) => leader,
                Some(rival) => rival,
                None => leader,
            }
        }
    }
}

/// Share of the average that a candidate gets in any case under the rules that
/// look at means: an unlucky start must not end it. From 0.2 to 0.35 the losses in
/// `examples/allocation_benchmark` are about the same, below and above larger.
const LEAST_SHARE: f64 = 0.25;

/// Standard errors by which an upper confidence bound lies above the mean.
const LUCB_WIDTH: f64 = 2.0;

/// Weight, in games, of the pooled variance in a candidate's own: two first
/// games that happen to end alike must not pass for certainty.
const POOLED_GAMES: f64 = 4.0;

/// Games from which on a candidate's own variance stands alone, if it is
/// anything: beside much noisier ones the pooled part would go on giving games
/// to a quiet candidate.
pub const OWN_VARIANCE_GAMES: u64 = 36;

/// Deviation of one game of each candidate, drawn towards the mean of all
/// while it has few games.
fn deviations(candidates: &[Candidate]) -> Vec<f64> {
    let own: Vec<f64> = candidates
        .iter()
        .map(|c| c.series.deviation().unwrap_or(0.0).powi(2))
        .collect();
    let pooled = own.iter().sum::<f64>() / own.len() as f64;
    let mix = |(c, v): (&Candidate, f64)| {
        let n = c.series.count();
        let variance = match n >= OWN_VARIANCE_GAMES && v > 0.0 {
            true => v,
            false => (pooled * POOLED_GAMES + v * n as f64) / (POOLED_GAMES + n as f64),
        };
        variance.sqrt().max(f64::MIN_POSITIVE)
    };
    candidates.iter().zip(own).map(mix).collect()
}

/// The shares of all games under [`Rule::Ocba`]: for two candidates other than
/// the leader N_i / N_j = [(σ_i / δ_i) / (σ_j / δ_j)]², δ being the distance to
/// the leader's mean. The leader gets as much as the largest of them, not the
/// σ √(Σ N_i² / σ_i²) of independent games: where candidates share their
/// dice, a game beyond the rival's has no partner to be compared with.
fn ocba_shares(candidates: &[Candidate], deviations: &[f64]) -> Vec<f64> {
    let leader = leader(candidates);
    let best = candidates[leader].series.mean();
    let mut shares: Vec<f64> = (0..candidates.len())
        .map(|i| {
            // Means closer than their own error are taken to differ by it.
            let error = deviations[i] / (candidates[i].given() as f64).sqrt();
            let distance = (best - candidates[i].series.mean()).max(0.5 * error);
            (deviations[i] / distance).powi(2)
        })
        .collect();
    let others = (0..shares.len()).filter(|&i| i != leader);
    shares[leader] = others.map(|i| shares[i]).reduce(f64::max).unwrap_or(1.0);
    let total: f64 = shares.iter().sum();
    let equal = 1.0 / shares.len() as f64;
    shares
        .iter()
        .map(|s| LEAST_SHARE * equal + (1.0 - LEAST_SHARE) * s / total)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::random::Random;

    /// Runs a plan on normal-like noise, one job after the other.
    fn run(plan: &Plan, truth: &[(f64, f64)], seed: u64) -> Vec<Candidate> {
        let mut random = Random::new(seed, 0);
        let mut candidates = vec![Candidate::default(); truth.len()];
        while let Some(job) = next(plan, &candidates) {
            assert_eq!(job.first_game, candidates[job.candidate].series.count());
            let (mean, deviation) = truth[job.candidate];
            for _ in 0..job.games {
                let noise: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                candidates[job.candidate]
                    .series
                    .push(mean + deviation * noise, None);
            }
        }
        candidates
    }

    fn counts(candidates: &[Candidate]) -> Vec<u64> {
        candidates.iter().map(|c| c.series.count()).collect()
    }

    const TRUTH: [(f64, f64); 4] = [(0.00, 1.0), (0.02, 0.5), (-0.30, 1.5), (-0.05, 1.0)];

    #[test]
    fn every_budget_means_what_it_says() {
        for rule in [Rule::Equal, Rule::HighestSe, Rule::Ocba, Rule::Lucb] {
            for batch in [1, 36] {
                let average = counts(&run(
                    &Plan::new(rule, batch, Budget::Average(360)),
                    &TRUTH,
                    1,
                ));
                assert_eq!(average.iter().sum::<u64>(), 4 * 360, "{rule:?}");
                let maximum = counts(&run(
                    &Plan::new(rule, batch, Budget::Maximum(360)),
                    &TRUTH,
                    1,
                ));
                assert_eq!(maximum.iter().max(), Some(&360), "{rule:?}");
                let first = counts(&run(&Plan::new(rule, batch, Budget::First(360)), &TRUTH, 1));
                assert!(
                    first[0] == 360 || first.iter().sum::<u64>() == 4 * 4 * 360,
                    "{rule:?}: {first:?}"
                );
            }
        }
    }

    #[test]
    fn highest_se_gives_games_as_the_variances() {
        let n = counts(&run(
            &Plan::new(Rule::HighestSe, 36, Budget::Average(1296)),
            &TRUTH,
            2,
        ));
        // 1 : 0.25 : 2.25 : 1.
        assert!((n[2] as f64 / n[0] as f64 - 2.25).abs() < 0.4, "{n:?}");
    }

    /// 200 decisions of two to five plays whose deviations lie within a factor
    /// of fifty: all errors end within 10 % of the largest, but for plays that
    /// are below it with the first 36 games or by their last batch.
    #[test]
    fn highest_se_ends_with_equal_errors() {
        let mut random = Random::new(8, 0);
        for batch in [1, 36] {
            let plan = Plan::new(Rule::HighestSe, batch, Budget::Average(1296));
            let (mut plays, mut equal) = (0, 0);
            for decision in 0..200 {
                let truth: Vec<(f64, f64)> = (0..2 + random.below(4))
                    .map(|_| (random.unit() - 0.5, 0.02 + 0.98 * random.unit().powi(2)))
                    .collect();
                let done = run(&plan, &truth, decision);
                let error = |c: &Candidate| c.series.error().unwrap();
                let largest = done.iter().map(error).fold(0.0, f64::max);
                for candidate in &done {
                    let (n, error) = (candidate.series.count(), error(candidate));
                    let before = error * (n as f64 / n.saturating_sub(batch) as f64).sqrt();
                    plays += 1;
                    equal += u32::from(error * 1.1 >= largest);
                    assert!(
                        n <= OWN_VARIANCE_GAMES || before * 1.1 >= largest,
                        "{error} of {largest} after {n} games, batches of {batch}: {truth:?}"
                    );
                }
            }
            let share = f64::from(equal) / f64::from(plays);
            assert!(share > 0.7, "batches of {batch}: {share}");
        }
    }

    #[test]
    fn ocba_and_lucb_look_where_the_choice_is_close() {
        for rule in [Rule::Ocba, Rule::Lucb] {
            let n = counts(&run(&Plan::new(rule, 1, Budget::Average(1000)), &TRUTH, 3));
            assert!(
                n[2] < 500,
                "{rule:?} wastes games on a play that is far behind: {n:?}"
            );
        }
    }

    /// Two plays, the better of which had all the bad luck at first: too much to be
    /// made up for, and yet it goes on getting its part.
    #[test]
    fn an_unlucky_start_does_not_end_a_candidate() {
        for rule in [Rule::Ocba, Rule::Lucb] {
            let plan = Plan::new(rule, 36, Budget::Average(2000));
            let mut candidates = run(
                &Plan::new(Rule::Equal, 36, Budget::Average(36)),
                &[(0.0, 0.1), (-5.0, 0.1)],
                4,
            );
            let mut random = Random::new(9, 0);
            while let Some(job) = next(&plan, &candidates) {
                for _ in 0..job.games {
                    let better = job.candidate as f64 * 0.02;
                    let value = better + 0.2 * (random.unit() - 0.5);
                    candidates[job.candidate].series.push(value, None);
                }
            }
            assert_eq!(leader(&candidates), 0, "{rule:?}");
            assert!(counts(&candidates)[1] >= 500 - 36, "{rule:?}");
        }
    }

    #[test]
    fn games_in_flight_count_towards_the_error() {
        let plan = Plan::new(Rule::HighestSe, 1, Budget::Average(1000));
        let mut candidates = run(
            &Plan::new(Rule::Equal, 1, Budget::Average(50)),
            &[(0.0, 1.0), (0.0, 0.95)],
            4,
        );
        let mut chosen = [0; 2];
        for _ in 0..20 {
            let job = next(&plan, &candidates).unwrap();
            candidates[job.candidate].in_flight += 1;
            chosen[job.candidate] += 1;
        }
        assert!(
            chosen.iter().all(|&n| n >= 5),
            "all games went to one: {chosen:?}"
        );
    }

    #[test]
    fn a_separated_candidate_gets_no_games_until_it_catches_up() {
        let mut plan = Plan::new(Rule::Equal, 36, Budget::Average(2000));
        plan.stop.separation = Some(4.0);
        let done = counts(&run(&plan, &[(0.0, 1.0), (-1.0, 1.0), (-0.01, 1.0)], 5));
        assert_eq!(done[1], 144);
        assert!(done[0] > 1000 && done[2] > 1000, "{done:?}");

        let mut candidates = run(&plan, &[(0.0, 1.0), (-1.0, 1.0), (-0.01, 1.0)], 5);
        for i in [0, 2] {
            for _ in 0..5000 {
                candidates[i].series.push(-2.0, None);
            }
        }
        plan.budget = Budget::Average(20_000);
        assert_eq!(
            next(&plan, &candidates).unwrap().candidate,
            1,
            "the trailing play has become the best"
        );
    }

    #[test]
    fn a_target_error_and_a_clear_winner_end_the_work() {
        let mut plan = Plan::new(Rule::HighestSe, 36, Budget::Average(100_000));
        plan.stop.error = Some(0.05);
        let done = run(&plan, &[(0.0, 1.0), (0.0, 0.5)], 6);
        assert!(done.iter().all(|c| c.series.error().unwrap() <= 0.05));
        assert!(
            done.iter().all(|c| c.series.count() < 700),
            "{:?}",
            counts(&done)
        );

        plan.stop = Stop {
            separation: Some(3.0),
            at_least: 72,
            error: None,
        };
        let done = counts(&run(&plan, &[(0.0, 1.0), (0.9, 1.0)], 6));
        assert!(done.iter().sum::<u64>() < 1000, "{done:?}");
    }

    #[test]
    fn equal_first_results_do_not_starve_a_candidate() {
        let plan = Plan::new(Rule::HighestSe, 1, Budget::Average(100));
        let mut candidates = vec![Candidate::default(); 2];
        for value in [1.0, 1.0] {
            candidates[0].series.push(value, None);
        }
        for value in [1.0, -1.0] {
            candidates[1].series.push(value, None);
        }
        let mut games = [0; 2];
        for _ in 0..40 {
            let job = next(&plan, &candidates).unwrap();
            candidates[job.candidate].in_flight += 1;
            games[job.candidate] += 1;
        }
        assert!(games[0] > 0, "{games:?}");
    }
}

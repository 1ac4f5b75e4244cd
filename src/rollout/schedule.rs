//! Plays out a plan of allocation on any number of threads, with the same
//! result for each.
//!
//! Decision t always sees the results of decisions 0 to t − [`LAG`] and
//! counts the later ones as under way, whether or not they have ended. What
//! is played is thus a function of the results alone.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::allocate::{Candidate, Job, Plan, next};
use crate::{Error, Result};

/// Jobs that may be under way when one more is decided on; also the most
/// threads that find work.
pub const LAG: usize = 16;

/// What a game gives: any record, of which one number is compared.
pub trait Outcome: Clone + Send + Sync {
    /// The number by which candidates are compared; more is better.
    fn value(&self) -> f64;
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The plan was carried out.
    Finished,
    /// The caller asked for it.
    Interrupted,
    /// The time was up.
    OutOfTime,
}

/// How a run is carried out.
pub struct Run<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Threads; more than [`LAG`] don't help.
    pub threads: usize,
    /// Wall time after which no more games begin.
    pub time: Option<Duration>,
    /// Set by the caller to end the run.
    pub interrupt: &'a AtomicBool,
}

/// What a run has found so far.
pub struct Found<T> {
    /// For each candidate its games, in order.
    pub games: Vec<Vec<T>>,
    /// Statistics of the same games.
    pub candidates: Vec<Candidate>,
    /// Why the run ended.
    pub ending: Ending,
}

impl Run<'_> {
    /// Plays games of `count` candidates until the plan ends.
    ///
    /// `known` holds games of an earlier run with the same plan but for its
    /// budget: they are used instead of being played, so that the result is
    /// that of one longer run. `play` gets a candidate and the number of a
    /// game; `strata` gets the number alone and gives what
    /// [`Series::push`](super::statistics::Series::push) wants; `watch` is called
    /// four times a second, on the calling thread and while the work waits, with
    /// all games that have been played.
    ///
    /// # Errors
    /// The first error of `play`.
    pub fn carry_out<T: Outcome>(
        &self,
        count: usize,
        known: &[Vec<T>],
        play: impl Fn(usize, u64) -> Result<T> + Sync,
        strata: impl Fn(u64) -> Option<[u8; 2]> + Sync,
        mut watch: impl FnMut(&[Candidate], &[Vec<T>]),
    ) -> Result<Found<T>> {
        let state = Mutex::new(State {
            candidates: vec![Candidate::default(); count],
            games: vec![Vec::new(); count],
            queue: VecDeque::new(),
            absorbed: 0,
            ending: None,
            error: None,
            workers: self.threads.max(1),
        });
        let changed = Condvar::new();
        let deadline = self.time.map(|time| Instant::now() + time);
        let play_job = |job: &Job| -> Result<Vec<Played<T>>> {
            let mut games = Vec::with_capacity(job.games as usize);
            for game in job.first_game..job.first_game + job.games {
                if self.interrupt.load(Ordering::Relaxed) {
                    break;
                }
                let known = known.get(job.candidate).and_then(|k| k.get(game as usize));
                let outcome =
                    match known.map_or_else(|| play(job.candidate, game), |k| Ok(k.clone())) {
                        Ok(outcome) => outcome,
                        // Where Ctrl-C reaches an external evaluator too, it is
                        // no fault that it is gone.
                        Err(_) if self.interrupt.load(Ordering::Relaxed) => break,
                        Err(error) => return Err(error),
                    };
                games.push((outcome, strata(game)));
            }
            Ok(games)
        };
        let work = || {
            while let Some((ticket, job)) = self.take(&state, &changed, deadline) {
                let result = play_job(&job);
                lock(&state).finish(ticket, result);
                changed.notify_all();
            }
            lock(&state).workers -= 1;
            changed.notify_all();
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(work);
            }
            let pause = Duration::from_millis(250);
            let mut watched = Instant::now();
            let mut guard = lock(&state);
            while guard.workers > 0 {
                guard = changed
                    .wait_timeout(guard, pause)
                    .unwrap_or_else(|e| e.into_inner())
                    .0;
                if watched.elapsed() >= pause {
                    let (candidates, games) = guard.so_far();
                    watch(&candidates, &games);
                    watched = Instant::now();
                }
            }
        });
        let mut state = state.into_inner().unwrap_or_else(|e| e.into_inner());
        if let Some(error) = state.error {
            return Err(error);
        }
        while state.absorb() {}
        Ok(Found {
            games: state.games,
            candidates: state.candidates,
            ending: state.ending.unwrap_or(Ending::Finished),
        })
    }

    /// Waits until the next decision may be taken, and takes it.
    fn take<T: Outcome>(
        &self,
        state: &Mutex<State<T>>,
        changed: &Condvar,
        deadline: Option<Instant>,
    ) -> Option<(u64, Job)> {
        let mut guard = lock(state);
        loop {
            if guard.ending.is_none() && self.interrupt.load(Ordering::Relaxed) {
                guard.ending = Some(Ending::Interrupted);
            }
            if guard.ending.is_none() && deadline.is_some_and(|end| Instant::now() >= end) {
                guard.ending = Some(Ending::OutOfTime);
            }
            if guard.ending.is_some() || guard.error.is_some() {
                return None;
            }
            if guard.queue.len() < LAG {
                let Some(job) = next(self.plan, &guard.candidates) else {
                    guard.ending = Some(Ending::Finished);
                    continue;
                };
                guard.candidates[job.candidate].in_flight += job.games;
                guard.queue.push_back((job, None));
                return Some((guard.absorbed + guard.queue.len() as u64 - 1, job));
            }
            if !guard.absorb() {
                guard = changed
                    .wait_timeout(guard, Duration::from_millis(50))
                    .unwrap_or_else(|e| e.into_inner())
                    .0;
            }
        }
    }
}

/// A game with its strata.
type Played<T> = (T, Option<[u8; 2]>);

struct State<T> {
    candidates: Vec<Candidate>,
    games: Vec<Vec<T>>,
    /// Jobs in the order in which they were decided on, with their games once
    /// these are played.
    queue: VecDeque<(Job, Option<Vec<Played<T>>>)>,
    /// Jobs that have left the queue.
    absorbed: u64,
    ending: Option<Ending>,
    error: Option<Error>,
    workers: usize,
}

impl<T: Outcome> State<T> {
    fn finish(&mut self, ticket: u64, result: Result<Vec<Played<T>>>) {
        match result {
            // Absorbing stops at a job without games, so the place is still there.
            Ok(games) => self.queue[(ticket - self.absorbed) as usize].1 = Some(games),
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
    }

    /// What is known, and what will be once earlier jobs are played.
    fn so_far(&self) -> (Vec<Candidate>, Vec<Vec<T>>) {
        let (mut candidates, mut games) = (self.candidates.clone(), self.games.clone());
        for (job, played) in &self.queue {
            let candidate = &mut candidates[job.candidate];
            if candidate.series.count() != job.first_game {
                continue;
            }
            for (game, strata) in played.iter().flatten() {
                candidate.series.push(game.value(), *strata);
                games[job.candidate].push(game.clone());
            }
        }
        (candidates, games)
    }

    /// Makes the games of the oldest job known, if they are played.
    fn absorb(&mut self) -> bool {
        if !matches!(self.queue.front(), Some((_, Some(_)))) {
            return false;
        }
        let Some((job, Some(games))) = self.queue.pop_front() else {
            return false;
        };
        self.absorbed += 1;
        let candidate = &mut self.candidates[job.candidate];
        candidate.in_flight -= job.games;
        // After an interruption a job may be short; what follows it is no
        // longer a run of games from the first on, and is dropped.
        if candidate.series.count() == job.first_game {
            for (game, strata) in games {
                candidate.series.push(game.value(), strata);
                self.games[job.candidate].push(game);
            }
        }
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::allocate::{Budget, Rule};
    use crate::rollout::random::Random;

    impl Outcome for f64 {
        fn value(&self) -> f64 {
            *self
        }
    }

    fn noise(candidate: usize, game: u64) -> Result<f64> {
        let mut random = Random::new(candidate as u64, game);
        // Uneven times shake the order in which threads finish.
        if random.below(50) == 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok((random.unit() - 0.5) * (1.0 + candidate as f64) - 0.1 * candidate as f64)
    }

    fn carried_out(plan: &Plan, threads: usize, known: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let interrupt = AtomicBool::new(false);
        let run = Run {
            plan,
            threads,
            time: None,
            interrupt: &interrupt,
        };
        run.carry_out(4, known, noise, |_| None, |_, _| {})
            .unwrap()
            .games
    }

    #[test]
    fn any_number_of_threads_gives_the_same_games() {
        for rule in [Rule::Equal, Rule::HighestSe, Rule::Ocba, Rule::Lucb] {
            for batch in [1, 36] {
                let mut plan = Plan::new(rule, batch, Budget::Average(360));
                plan.stop.separation = Some(5.0);
                let one = carried_out(&plan, 1, &[]);
                assert_eq!(carried_out(&plan, 2, &[]), one, "{rule:?}");
                assert_eq!(carried_out(&plan, 8, &[]), one, "{rule:?}");
            }
        }
    }

    #[test]
    fn an_extended_run_is_one_longer_run() {
        for rule in [Rule::Equal, Rule::HighestSe, Rule::Ocba, Rule::Lucb] {
            let half = carried_out(&Plan::new(rule, 36, Budget::Average(648)), 3, &[]);
            let plan = Plan::new(rule, 36, Budget::Average(1296));
            assert_eq!(
                carried_out(&plan, 2, &half),
                carried_out(&plan, 1, &[]),
                "{rule:?}"
            );
        }
    }

    #[test]
    fn an_interrupted_run_keeps_whole_series() {
        let interrupt = AtomicBool::new(false);
        let plan = Plan::new(Rule::Equal, 36, Budget::Average(1 << 40));
        let run = Run {
            plan: &plan,
            threads: 3,
            time: None,
            interrupt: &interrupt,
        };
        let play = |candidate, game| {
            if game == 400 {
                interrupt.store(true, Ordering::Relaxed);
            }
            noise(candidate, game)
        };
        let found = run.carry_out(4, &[], play, |_| None, |_, _| {}).unwrap();
        assert_eq!(found.ending, Ending::Interrupted);
        for (candidate, games) in found.games.iter().enumerate() {
            assert!(games.len() > 36);
            for (game, &value) in (0..).zip(games) {
                assert_eq!(value, noise(candidate, game).unwrap());
            }
        }
    }

    #[test]
    fn time_runs_out_and_errors_come_back() {
        let interrupt = AtomicBool::new(false);
        let plan = Plan::new(Rule::Equal, 1, Budget::Average(1 << 40));
        let time = Some(Duration::from_millis(20));
        let run = Run {
            plan: &plan,
            threads: 2,
            time,
            interrupt: &interrupt,
        };
        assert_eq!(
            run.carry_out(2, &[], noise, |_| None, |_, _| {})
                .unwrap()
                .ending,
            Ending::OutOfTime
        );

        let run = Run { time: None, ..run };
        let play = |candidate, game| {
            if game == 9 {
                Err(Error::invalid("no"))
            } else {
                noise(candidate, game)
            }
        };
        assert!(run.carry_out(2, &[], play, |_| None, |_, _| {}).is_err());
    }
}

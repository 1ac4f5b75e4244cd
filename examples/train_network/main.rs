//! Trains the networks of `endtable::rollout::network` by self-play.
//!
//! Games are played by the networks themselves, in batches with the weights
//! as they stood at the batch's start. Each position learns from what follows
//! it: the values after the best plays of the rolls that came (temporal
//! differences). Races in which both sides are home are exact. Everything
//! follows from `--seed`; one thread. The defaults made the weights that come
//! with the crate.

mod judge;
mod learn;

use std::time::Instant;

use clap::Parser;
use endtable::bearoff::Board;
use endtable::bearoff::plays::Plays;
use endtable::rollout::network::features::{Active, Class, encode};
use endtable::rollout::network::{Network, finished, weights};
use endtable::rollout::random::Random;
use endtable::rollout::{Chances, HomeRaces};
use learn::Learner;

#[derive(Parser)]
#[command(about = "Trains endtable's networks by self-play; everything follows from the seed")]
struct Options {
    /// Where the weights go.
    #[arg(long)]
    out: String,
    /// Weights to go on from.
    #[arg(long)]
    from: Option<String>,
    /// Games to play.
    #[arg(long, default_value_t = 600_000)]
    games: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Hidden numbers of the contact network, a multiple of 64.
    #[arg(long, default_value_t = 128)]
    hidden: usize,
    /// Learning rate at the start; falls exponentially.
    #[arg(long, default_value_t = 0.02)]
    rate: f32,
    /// Learning rate at the end.
    #[arg(long, default_value_t = 0.0003)]
    last_rate: f32,
    /// λ at the start; falls over the first fifth.
    #[arg(long, default_value_t = 0.5)]
    lambda: f32,
    /// λ after the first fifth.
    #[arg(long, default_value_t = 0.3)]
    last_lambda: f32,
    /// Share of games that begin with a few random plays, for variety.
    #[arg(long, default_value_t = 0.125)]
    explore: f64,
    /// Games over which the weights that are written and judged are averaged,
    /// at most a quarter of those that were played; 0 for the last weights.
    #[arg(long, default_value_t = 20_000)]
    average: u64,
    /// Decisions judged by another engine, for the curve.
    #[arg(long)]
    judge: Option<String>,
    /// Games between two points of the curve.
    #[arg(long, default_value_t = 20_000)]
    every: u64,
}

/// Games between two refreshes of the playing network.
const BATCH: u64 = 32;

struct Sample {
    class: Class,
    rows: Active,
    target: [f32; 5],
}

struct Player<'a> {
    network: Network,
    races: &'a HomeRaces,
}

impl Player<'_> {
    /// The chances of the side on roll, and whether they are exact.
    fn value(&self, board: &Board) -> (Chances, bool) {
        match finished(board).or_else(|| self.races.chances(board)) {
            Some(exact) => (exact, true),
            None => (self.network.evaluate(board), false),
        }
    }

    /// The best board after a roll, with its value for the side that comes to
    /// roll there.
    fn best(&self, board: &Board, dice: [u8; 2], plays: &mut Plays) -> (Board, Chances, bool) {
        let mut best: Option<(f32, Board, Chances, bool)> = None;
        for play in plays.generate(board, dice) {
            let (value, exact) = self.value(play.next());
            let equity = -value.money();
            if best.is_none_or(|(least, ..)| equity > least) {
                best = Some((equity, *play.next(), value, exact));
            }
        }
        match best {
            Some((_, next, value, exact)) => (next, value, exact),
            None => {
                let next = board.swapped();
                let (value, exact) = self.value(&next);
                (next, value, exact)
            }
        }
    }

    fn play(&self, random: &mut Random, lambda: f32, options: &Options, samples: &mut Vec<Sample>) {
        let mut plays = Plays::new();
        let mut board = Board::START;
        if random.unit() < options.explore {
            for _ in 0..2 + random.below(8) {
                let list = plays.generate(&board, random.dice());
                board = match list.len() {
                    0 => board.swapped(),
                    n => *list[random.below(n as u32) as usize].next(),
                };
            }
        }
        let mut line: Vec<(Board, Chances)> = Vec::with_capacity(100);
        loop {
            let (next, value, exact) = self.best(&board, random.dice(), &mut plays);
            line.push((board, value));
            board = next;
            if exact {
                break;
            }
        }
        let mut later: Option<[f32; 5]> = None;
        for (board, value) in line.iter().rev() {
            let mut target = value.flipped().to_array();
            if let Some(later) = later {
                let flipped = Chances::from_array(later).flipped().to_array();
                for (t, l) in target.iter_mut().zip(flipped) {
                    *t += lambda * (l - *t);
                }
            }
            later = Some(target);
            let (class, rows) = encode(board);
            samples.push(Sample {
                class,
                rows,
                target,
            });
        }
        // The race network learns some bearoffs too.
        while finished(&board).is_none() {
            let Some(exact) = self.races.chances(&board) else {
                break;
            };
            if random.below(4) == 0 {
                let (class, rows) = encode(&board);
                samples.push(Sample {
                    class,
                    rows,
                    target: exact.to_array(),
                });
            }
            board = self.best(&board, random.dice(), &mut plays).0;
        }
    }
}

fn main() {
    let options = Options::parse();
    let races = HomeRaces::new();
    let decisions = options.judge.as_deref().map(judge::read);
    let mut random = Random::new(options.seed, u64::MAX);
    let mut learners = match &options.from {
        Some(path) => {
            let bytes = std::fs::read(path).expect("a readable weights file");
            let [contact, race] = weights::read(&bytes).expect("a whole weights file");
            [
                Learner::with(Class::Contact, contact),
                Learner::with(Class::Race, race),
            ]
        }
        None => [
            Learner::new(Class::Contact, options.hidden, &mut random),
            Learner::new(Class::Race, 64, &mut random),
        ],
    };
    let mut averaged = [learners[0].weights.clone(), learners[1].weights.clone()];
    let start = Instant::now();
    let mut samples = Vec::new();
    let (mut errors, mut learnt) = ([0f64; 2], [0u64; 2]);
    println!("games\tseconds\trate\tcontact_rms\trace_rms\tloss_per_move");
    for first in (0..options.games).step_by(BATCH as usize) {
        if first % options.every < BATCH {
            let loss = judged(&averaged, &races, decisions.as_deref());
            let rms = [0, 1].map(|k| (errors[k] / learnt[k].max(1) as f64).sqrt());
            let rate = rate(&options, first);
            println!(
                "{first}\t{:.0}\t{rate:.5}\t{:.4}\t{:.4}\t{loss:.5}",
                start.elapsed().as_secs_f64(),
                rms[0],
                rms[1]
            );
            (errors, learnt) = ([0.0; 2], [0; 2]);
            std::fs::write(&options.out, weights::write(&averaged)).expect("a writable file");
        }
        let player = Player {
            network: Network::new(&[learners[0].weights.clone(), learners[1].weights.clone()]),
            races: &races,
        };
        samples.clear();
        let left = (1.0 - 5.0 * first as f32 / options.games as f32).max(0.0);
        let lambda = options.last_lambda + left * (options.lambda - options.last_lambda);
        for game in first..(first + BATCH).min(options.games) {
            player.play(
                &mut Random::new(options.seed, game),
                lambda,
                &options,
                &mut samples,
            );
        }
        random.shuffle(&mut samples);
        for sample in &samples {
            let k = usize::from(sample.class == Class::Race);
            errors[k] +=
                f64::from(learners[k].learn(&sample.rows, &sample.target, rate(&options, first)));
            learnt[k] += 1;
        }
        let share = BATCH as f32 / options.average.min(first / 4).max(BATCH) as f32;
        for (average, learner) in averaged.iter_mut().zip(&learners) {
            match options.average {
                0 => average.clone_from(&learner.weights),
                _ => learn::blend(average, &learner.weights, share),
            }
        }
    }
    println!(
        "{}\t{:.0}\t\t\t\t{:.5}",
        options.games,
        start.elapsed().as_secs_f64(),
        judged(&averaged, &races, decisions.as_deref())
    );
    std::fs::write(&options.out, weights::write(&averaged)).expect("a writable file");
}

/// Loss per move of the player with these weights; NaN without decisions.
fn judged(
    networks: &[weights::Weights; 2],
    races: &HomeRaces,
    decisions: Option<&[judge::Decision]>,
) -> f32 {
    let player = Player {
        network: Network::new(networks),
        races,
    };
    decisions.map_or(f32::NAN, |d| {
        judge::mean_loss(d, |b| -player.value(b).0.money())
    })
}

fn rate(options: &Options, game: u64) -> f32 {
    let done = game as f32 / options.games as f32;
    options.rate * (options.last_rate / options.rate).powf(done)
}

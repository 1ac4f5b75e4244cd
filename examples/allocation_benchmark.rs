//! Compares the rules of allocation on real decisions with frozen games.
//!
//! `freeze FILE` plays 1296 games, cut off after six rolls and without luck
//! adjustment, of the plausible plays of 200 decisions from the network's own games;
//! `freeze-adjusted FILE` takes the luck out of them, as rollouts do by default.
//! `compare FILE [GAMES]` lets every rule spend GAMES per play (default 324, 1296
//! and 5184) on each decision, many times. A run draws blocks of 36 games with replacement, the
//! same blocks for all plays, so that the mean of all frozen games is the
//! exact truth. Tab-separated results go to standard output.
//!
//! Three columns tell of equal errors: how far the smallest lies below the
//! largest; the share of runs that end with all errors within 10 % of the
//! largest; and the same without plays that cannot be brought there: those
//! whose error is smaller with their first 36 games, or was larger before
//! their last batch.

use endtable::bearoff::Board;
use endtable::bearoff::plays::Plays;
use endtable::rollout::allocate::{
    Budget, Candidate, OWN_VARIANCE_GAMES, Plan, Rule, leader, next,
};
use endtable::rollout::backgammon::Choice;
use endtable::rollout::dice::{Dice, Stratify};
use endtable::rollout::game::{Rules, Table};
use endtable::rollout::random::Random;
use endtable::rollout::stakes::Stakes;
use endtable::rollout::statistics::BLOCK;
use endtable::rollout::{BearoffTable, Network, Player, Rollout};

const DECISIONS: usize = 200;
const GAMES: usize = 1296;
/// Plays of a decision: at least and at most.
const PLAYS: [usize; 2] = [3, 4];
/// Equity within which a play is plausible, at first sight.
const PLAUSIBLE: f32 = 0.12;
/// Runs of each rule on each decision with 324 games; fewer with more games.
const RUNS_OF_324: u64 = 200;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["freeze", file] => freeze(file, false).expect("a rollout and a writable file"),
        ["freeze-adjusted", file] => freeze(file, true).expect("a rollout and a writable file"),
        ["compare", file] => compare(file, &[324, 1296, 5184]),
        ["compare", file, games] => compare(file, &[games.parse().expect("a number of games")]),
        _ => eprintln!("freeze FILE | freeze-adjusted FILE | compare FILE [GAMES]"),
    }
}

/// Decisions with plausible plays, spread over many games.
fn decisions(network: &Network) -> Vec<Vec<Board>> {
    let mut random = Random::new(2024, 0);
    let mut plays = Plays::new();
    let mut board = Board::START;
    let mut found = Vec::new();
    while found.len() < DECISIONS {
        let [a, b] = random.dice();
        let list = plays.generate(&board, [a.max(b), a.min(b)]);
        let mut judged: Vec<(f32, Board)> = list
            .iter()
            .map(|play| (-network.evaluate(play.next()).money(), *play.next()))
            .collect();
        judged.sort_by(|a, b| b.0.total_cmp(&a.0));
        let Some(&(best, first)) = judged.first() else {
            board = board.swapped();
            continue;
        };
        let plausible: Vec<Board> = judged
            .iter()
            .filter(|(equity, _)| best - equity <= PLAUSIBLE)
            .map(|&(_, board)| board)
            .collect();
        if board.contact() && plausible.len() >= PLAYS[0] && random.below(6) == 0 {
            found.push(plausible.into_iter().take(PLAYS[1]).collect());
        }
        board = if first.opponent() == &[0; 25] {
            Board::START
        } else {
            first
        };
    }
    found
}

/// The dice of the frozen games.
fn dice() -> Dice {
    Dice::new(7, Stratify::Blocks)
}

fn freeze(file: &str, luck_adjusted: bool) -> endtable::Result<()> {
    let network = Network::built_in()?;
    let decisions = decisions(&network);
    let player = Player::new(
        Box::new(network),
        vec![Box::new(BearoffTable::six_points()?)],
    );
    let rules = Rules {
        stakes: Stakes::MONEY,
        luck_adjusted,
        stop_at_tables: true,
        truncate: Some(6),
    };
    let rollout = Rollout {
        player: &player,
        rules,
        dice: dice(),
    };
    let one = |boards: &Vec<Board>| -> endtable::Result<Vec<Vec<f32>>> {
        let mut table = Table::default();
        let mut game = |board: &Board, number: usize| {
            let choice = Choice {
                name: String::new(),
                board: *board,
                own_roll: false,
            };
            rollout
                .game(&choice, number as u64, &mut table)
                .map(|game| game.equity)
        };
        boards
            .iter()
            .map(|board| (0..GAMES).map(|number| game(board, number)).collect())
            .collect()
    };
    let half = decisions.len() / 2;
    let work = |part: &'static str, boards: &[Vec<Board>]| {
        boards
            .iter()
            .enumerate()
            .map(|(i, decision)| {
                eprintln!("{part} {i}");
                one(decision)
            })
            .collect::<endtable::Result<Vec<_>>>()
    };
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| work("second", &decisions[half..]));
        (
            work("first", &decisions[..half]),
            other.join().expect("the other half"),
        )
    });
    let frozen: Vec<Vec<Vec<f32>>> = first?.into_iter().chain(second?).collect();
    std::fs::write(file, serde_json::to_vec(&frozen).expect("numbers"))
        .map_err(|e| endtable::Error::io("write the frozen games", e))
}

/// What one rule did, summed up over decisions and runs.
#[derive(Default)]
struct Score {
    runs: f64,
    largest_error: f64,
    spread: f64,
    equal: f64,
    equal_where_possible: f64,
    best: f64,
    loss: f64,
    covered: f64,
    intervals: f64,
}

fn compare(file: &str, budgets: &[u64]) {
    let bytes = std::fs::read(file).expect("a file of frozen games");
    let frozen: Vec<Vec<Vec<f32>>> = serde_json::from_slice(&bytes).expect("frozen games");
    let strata: Vec<[u8; 2]> = (0..GAMES as u64)
        .filter_map(|number| dice().strata(number))
        .collect();
    let rules = [
        ("equal", Rule::Equal, 36),
        ("highest-se 1", Rule::HighestSe, 1),
        ("highest-se 36", Rule::HighestSe, 36),
        ("ocba", Rule::Ocba, 36),
        ("ocba 1", Rule::Ocba, 1),
        ("lucb", Rule::Lucb, 36),
        ("lucb 1", Rule::Lucb, 1),
    ];
    println!(
        "rule\tgames\tlargest_se\tspread_percent\tequal_percent\tequal_where_possible_percent\tbest_percent\tmean_loss\tcoverage_percent"
    );
    for (&games, (name, rule, batch)) in budgets
        .iter()
        .flat_map(|n| rules.iter().map(move |r| (n, *r)))
    {
        let plan = Plan::new(rule, batch, Budget::Average(games));
        let mut score = Score::default();
        for (number, plays) in frozen.iter().enumerate() {
            let truth: Vec<f64> = plays
                .iter()
                .map(|p| p.iter().map(|&v| f64::from(v)).sum::<f64>() / GAMES as f64)
                .collect();
            for run in 0..(RUNS_OF_324 * 324).div_ceil(games) {
                add(
                    &mut score,
                    &plan,
                    plays,
                    &strata,
                    &truth,
                    &mut Random::new(run, number as u64),
                );
            }
        }
        let n = score.runs;
        println!(
            "{name}\t{games}\t{:.5}\t{:.1}\t{:.2}\t{:.2}\t{:.2}\t{:.6}\t{:.2}",
            score.largest_error / n,
            100.0 * score.spread / n,
            100.0 * score.equal / n,
            100.0 * score.equal_where_possible / n,
            100.0 * score.best / n,
            score.loss / n,
            100.0 * score.covered / score.intervals
        );
    }
}

fn add(
    score: &mut Score,
    plan: &Plan,
    plays: &[Vec<f32>],
    strata: &[[u8; 2]],
    truth: &[f64],
    random: &mut Random,
) {
    let mut candidates = vec![Candidate::default(); plays.len()];
    let mut blocks: Vec<usize> = Vec::new();
    while let Some(job) = next(plan, &candidates) {
        for game in job.first_game as usize..(job.first_game + job.games) as usize {
            while blocks.len() <= game / BLOCK {
                blocks.push(random.below((GAMES / BLOCK) as u32) as usize);
            }
            let frozen = blocks[game / BLOCK] * BLOCK + game % BLOCK;
            let value = f64::from(plays[job.candidate][frozen]);
            candidates[job.candidate]
                .series
                .push(value, Some(strata[frozen]));
        }
    }
    let errors: Vec<f64> = candidates
        .iter()
        .map(|c| c.series.error().expect("more than one game"))
        .collect();
    let largest = errors.iter().copied().fold(0.0, f64::max);
    let chosen = leader(&candidates);
    let best = truth.iter().copied().fold(f64::MIN, f64::max);
    score.runs += 1.0;
    score.largest_error += largest;
    score.spread += 1.0 - errors.iter().copied().fold(largest, f64::min) / largest;
    let near = |error: &f64| error * 1.1 >= largest;
    let below = |c: &Candidate, error: f64| {
        let n = c.series.count();
        let before = (n as f64 / n.saturating_sub(plan.batch) as f64).sqrt() * error;
        n <= OWN_VARIANCE_GAMES || near(&before)
    };
    let mut both = candidates.iter().zip(&errors);
    score.equal += f64::from(u8::from(errors.iter().all(near)));
    score.equal_where_possible += f64::from(u8::from(both.all(|(c, e)| near(e) || below(c, *e))));
    score.best += f64::from(u8::from(truth[chosen] == best));
    score.loss += best - truth[chosen];
    for (candidate, &truth) in candidates.iter().zip(truth) {
        let half = candidate
            .series
            .half_width_95()
            .expect("more than one game");
        score.covered += f64::from(u8::from((candidate.series.mean() - truth).abs() <= half));
        score.intervals += 1.0;
    }
}

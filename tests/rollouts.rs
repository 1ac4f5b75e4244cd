//! Rollouts against exact values, and the same rollout in different ways.

use std::sync::atomic::AtomicBool;

use endtable::bearoff::generate::{Keep, TwoSided};
use endtable::bearoff::notation::parse_board;
use endtable::bearoff::schema::Packing;
use endtable::bearoff::{Board, Plays};
use endtable::rollout::allocate::{Budget, Plan, Rule};
use endtable::rollout::backgammon::{Choice, Game};
use endtable::rollout::dice::{Dice, Stratify};
use endtable::rollout::game::{Rules, Table};
use endtable::rollout::random::Random;
use endtable::rollout::schedule::{Outcome, Run};
use endtable::rollout::stakes::Stakes;
use endtable::rollout::statistics::{Moments, Series};
use endtable::rollout::{BearoffTable, EndTable, Network, Player, Rollout};

fn home_side(random: &mut Random, most: u32) -> [u8; 25] {
    let mut side = [0; 25];
    for _ in 0..1 + random.below(most) {
        side[random.below(6) as usize] += 1;
    }
    side
}

/// 500 bearoffs of up to six chequers a side, played to the last chequer, against
/// the exact two-sided table: at least 99 % within three standard errors, and
/// errors that are neither too large nor too small.
#[test]
fn bearoffs_agree_with_the_exact_table() {
    let table = TwoSided::new(6, 6, false).unwrap();
    let schema = table.schema(&Packing::codec("stored")).unwrap();
    let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    let exact = BearoffTable::new("6x6".to_owned(), &schema, Box::new(records)).unwrap();
    let knowledge: Vec<Box<dyn EndTable>> = vec![Box::new(BearoffTable::six_points().unwrap())];
    let player = Player::new(Box::new(Network::built_in().unwrap()), knowledge);
    let rules = Rules {
        stakes: Stakes::MONEY,
        luck_adjusted: false,
        stop_at_tables: false,
        truncate: None,
    };
    let mut random = Random::new(11, 0);
    let mut buffers = Table::default();
    let (mut within, mut scores, mut positions) = (0, Moments::default(), 0);
    while positions < 500 {
        let board = Board::new(home_side(&mut random, 6), home_side(&mut random, 6)).unwrap();
        let truth = f64::from(exact.chances(&board).unwrap().unwrap().money());
        if truth.abs() > 0.98 {
            // So few games end otherwise that their error says nothing.
            continue;
        }
        positions += 1;
        let rollout = Rollout {
            player: &player,
            rules,
            dice: Dice::new(positions, Stratify::Blocks),
        };
        let choice = Choice {
            name: String::new(),
            board,
            own_roll: true,
        };
        let mut series = Series::default();
        for number in 0..1296 {
            let game = rollout.game(&choice, number, &mut buffers).unwrap();
            series.push(game.value(), rollout.dice.strata(number));
        }
        let score = (series.mean() - truth) / series.error().unwrap().max(1e-4);
        within += u32::from(score.abs() <= 3.0);
        scores.push(score);
    }
    assert!(
        within >= 495,
        "{within} of 500 within three standard errors"
    );
    assert!(
        scores.mean().abs() < 0.15,
        "a bias of {} standard errors",
        scores.mean()
    );
    let variance = scores.variance().unwrap();
    assert!(
        (0.75..1.25).contains(&variance),
        "squared scores are {variance} on average"
    );
}

fn player() -> Player {
    Player::new(
        Box::new(Network::built_in().unwrap()),
        vec![Box::new(BearoffTable::six_points().unwrap())],
    )
}

fn opening_choices() -> Vec<Choice> {
    let mut plays = Plays::new();
    let list = plays.generate(&Board::START, [3, 1]);
    list.iter()
        .take(4)
        .map(|play| Choice {
            name: String::new(),
            board: *play.next(),
            own_roll: false,
        })
        .collect()
}

fn rolled_out(rule: Rule, budget: Budget, threads: usize, known: &[Vec<Game>]) -> Vec<Vec<Game>> {
    let player = player();
    let rules = Rules {
        stakes: Stakes::MONEY,
        luck_adjusted: true,
        stop_at_tables: true,
        truncate: Some(2),
    };
    let rollout = Rollout {
        player: &player,
        rules,
        dice: Dice::new(5, Stratify::Blocks),
    };
    let interrupt = AtomicBool::new(false);
    let plan = Plan::new(rule, 36, budget);
    let run = Run {
        plan: &plan,
        threads,
        time: None,
        interrupt: &interrupt,
    };
    rollout
        .carry_out(&opening_choices(), &run, known, |_, _| {})
        .unwrap()
        .games
}

#[test]
fn one_two_and_eight_threads_give_the_same_games() {
    for rule in [Rule::HighestSe, Rule::Ocba] {
        let one = rolled_out(rule, Budget::Average(108), 1, &[]);
        assert_eq!(rolled_out(rule, Budget::Average(108), 2, &[]), one);
        assert_eq!(rolled_out(rule, Budget::Average(108), 8, &[]), one);
    }
}

#[test]
fn half_a_rollout_continued_is_a_whole_one() {
    let half = rolled_out(Rule::Ocba, Budget::Average(108), 2, &[]);
    let whole = rolled_out(Rule::Ocba, Budget::Average(216), 2, &[]);
    assert_eq!(
        rolled_out(Rule::Ocba, Budget::Average(216), 2, &half),
        whole
    );
}

/// Taking out the luck must not change what is estimated.
#[test]
fn luck_adjustment_is_unbiased_and_makes_errors_small() {
    let player = player();
    let board = parse_board("24:1 13:3 8:3 6:4 5:2 4:2 / 24:2 13:4 8:3 7:1 6:4 5:1").unwrap();
    let choice = Choice {
        name: String::new(),
        board,
        own_roll: true,
    };
    let series = |luck_adjusted: bool, games: u64| {
        let rules = Rules {
            stakes: Stakes::MONEY,
            luck_adjusted,
            stop_at_tables: true,
            truncate: None,
        };
        let rollout = Rollout {
            player: &player,
            rules,
            dice: Dice::new(6, Stratify::Blocks),
        };
        let mut series = Series::default();
        let mut buffers = Table::default();
        for number in 0..games {
            let game = rollout.game(&choice, number, &mut buffers).unwrap();
            series.push(game.value(), rollout.dice.strata(number));
        }
        series
    };
    let (plain, adjusted) = (series(false, 7776), series(true, 288));
    let error = plain.error().unwrap().hypot(adjusted.error().unwrap());
    assert!(
        (plain.mean() - adjusted.mean()).abs() < 4.0 * error,
        "{} {} ± {error}",
        plain.mean(),
        adjusted.mean()
    );
    let gain = (plain.deviation().unwrap() / adjusted.deviation().unwrap()).powi(2);
    assert!(gain > 5.0, "the variance falls by a factor of {gain} only");
}

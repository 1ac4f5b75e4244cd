//! How far stratified dice bring down the true error of a rollout, and what
//! error it reports.
//!
//! Each position is rolled out many times with other seeds, 1296 games each;
//! the true error is the deviation of the means of these rollouts. Tab-separated.

use endtable::bearoff::notation::parse_board;
use endtable::rollout::backgammon::Choice;
use endtable::rollout::dice::{Dice, Stratify};
use endtable::rollout::game::{Rules, Table};
use endtable::rollout::schedule::Outcome;
use endtable::rollout::stakes::Stakes;
use endtable::rollout::statistics::{Moments, Series};
use endtable::rollout::{BearoffTable, Network, Player, Rollout};

const START: &str = "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5";
const RACE: &str = "6:2 5:2 4:1 3:1 / 6:2 5:1 4:2 2:1";

fn main() -> endtable::Result<()> {
    let rollouts = std::env::args()
        .nth(1)
        .map_or(100, |n| n.parse().expect("a number of rollouts"));
    let player = Player::new(
        Box::new(Network::built_in()?),
        vec![Box::new(BearoffTable::six_points()?)],
    );
    println!("position\tluck_adjusted\tdice\ttrue_error\treported_error\treported_by_true");
    for (name, board, luck_adjusted, truncate) in [
        ("race of six chequers", RACE, false, None),
        ("start, cut off after eight rolls", START, false, Some(8)),
        ("start, cut off after two rolls", START, true, Some(2)),
    ] {
        let choice = Choice {
            name: name.to_owned(),
            board: parse_board(board)?,
            own_roll: true,
        };
        let rules = Rules {
            stakes: Stakes::MONEY,
            luck_adjusted,
            stop_at_tables: truncate.is_some(),
            truncate,
        };
        for (dice, stratify) in [
            ("at random", Stratify::None),
            ("blocks of 36", Stratify::Blocks),
            ("pairs in 1296", Stratify::Pairs),
        ] {
            let (mut means, mut reported) = (Moments::default(), Moments::default());
            let mut table = Table::default();
            for seed in 1..=rollouts {
                let rollout = Rollout {
                    player: &player,
                    rules,
                    dice: Dice::new(seed, stratify),
                };
                let mut series = Series::default();
                for number in 0..1296 {
                    let game = rollout.game(&choice, number, &mut table)?;
                    series.push(game.value(), rollout.dice.strata(number));
                }
                means.push(series.mean());
                reported.push(series.error().expect("many games"));
            }
            let truth = means.variance().expect("many rollouts").sqrt();
            println!(
                "{name}\t{luck_adjusted}\t{dice}\t{truth:.5}\t{:.5}\t{:.3}",
                reported.mean(),
                reported.mean() / truth
            );
        }
    }
    Ok(())
}

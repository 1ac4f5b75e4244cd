//! Evaluations and rollout games a second, on one thread, from the starting
//! position: cubeless, no truncation, with and without luck adjustment.

use std::time::{Duration, Instant};

use endtable::bearoff::Board;
use endtable::bearoff::plays::{Plays, ROLLS};
use endtable::rollout::backgammon::Choice;
use endtable::rollout::dice::{Dice, Stratify};
use endtable::rollout::game::{Rules, Table};
use endtable::rollout::random::Random;
use endtable::rollout::stakes::Stakes;
use endtable::rollout::{EndTable, HomeRaces, Network, Player, Rollout};

fn main() -> endtable::Result<()> {
    evaluations()?;
    let with_tables: Vec<Box<dyn EndTable>> = vec![Box::new(HomeRaces::new())];
    for (name, tables) in [
        ("to the last chequer", vec![]),
        ("to the bearoff table", with_tables),
    ] {
        let player = Player::new(Box::new(Network::built_in()?), tables);
        for (luck_adjusted, games) in [(false, 2000), (true, 150)] {
            let rules = Rules {
                stakes: Stakes::MONEY,
                luck_adjusted,
                stop_at_tables: true,
                truncate: None,
            };
            let rollout = Rollout {
                player: &player,
                rules,
                dice: Dice::new(1, Stratify::Blocks),
            };
            let choice = Choice {
                name: "start".to_owned(),
                board: Board::START,
                own_roll: true,
            };
            let mut table = Table::default();
            let mut best = f64::INFINITY;
            for run in 0..3 {
                let start = Clock::start();
                for game in run * games..(run + 1) * games {
                    rollout.game(&choice, game, &mut table)?;
                }
                best = best.min(start.seconds());
            }
            println!(
                "rollout {name}, luck adjusted: {luck_adjusted}: {:.0} games/s",
                games as f64 / best
            );
        }
    }
    Ok(())
}

/// Time that this thread has had on a processor, where the system tells it
/// (Linux), so that other work on the machine counts less; else wall time.
struct Clock(Option<Duration>, Instant);

impl Clock {
    fn start() -> Self {
        Clock(Self::on_processor(), Instant::now())
    }

    fn seconds(&self) -> f64 {
        match (self.0, Self::on_processor()) {
            (Some(start), Some(end)) => (end - start).as_secs_f64(),
            _ => self.1.elapsed().as_secs_f64(),
        }
    }

    fn on_processor() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ')
            .next()?
            .parse()
            .ok()
            .map(Duration::from_nanos)
    }
}

/// Boards as they come up: the plays of games between random players of some
/// sense would need a rollout; those of the network's own games do.
fn evaluations() -> endtable::Result<()> {
    let network = Network::built_in()?;
    let mut random = Random::new(2, 0);
    let mut plays = Plays::new();
    let mut boards = Vec::new();
    let mut board = Board::START;
    while boards.len() < 200_000 {
        let dice = random.dice();
        let list = plays.generate(&board, [dice[0].max(dice[1]), dice[0].min(dice[1])]);
        boards.extend(list.iter().map(|play| *play.next()));
        let best = list.iter().min_by(|a, b| {
            network
                .evaluate(a.next())
                .money()
                .total_cmp(&network.evaluate(b.next()).money())
        });
        board = match best {
            Some(play) if play.wins() => Board::START,
            Some(play) => *play.next(),
            None => board.swapped(),
        };
    }
    let contact = boards.iter().filter(|b| b.contact()).count();
    let (mut best, mut sum) = (f64::INFINITY, 0.0);
    for _ in 0..7 {
        let start = Clock::start();
        sum = boards
            .iter()
            .map(|board| network.evaluate(board).money())
            .sum::<f32>();
        best = best.min(start.seconds());
    }
    println!(
        "network: {:.0} evaluations/s ({} boards, {contact} with contact, checksum {sum:.3})",
        boards.len() as f64 / best,
        boards.len()
    );
    let mut generated = 0usize;
    let start = Clock::start();
    for board in &boards[..5000] {
        for (dice, _) in ROLLS {
            generated += plays.generate(board, dice).len();
        }
    }
    println!(
        "plays: {:.1} million a second",
        generated as f64 / start.seconds() / 1e6
    );
    Ok(())
}

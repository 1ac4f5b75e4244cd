//! `endtable rollout`: plays the candidate plays out and compares them.

mod choices;
mod live;
mod report;
mod saved;
mod settings;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use console::Term;
use endtable::bearoff::{Position, xgid};
use endtable::rollout::Rollout;
use endtable::rollout::allocate::Budget;
use endtable::rollout::backgammon::summaries;
use endtable::rollout::schedule::{Ending, Run};
use endtable::{Error, Result};

use crate::common::{self, Outcome, Ran};
use crate::named_tables::TableArguments;
use live::Live;
use saved::Saved;
use settings::{Allocation, Settings, Spread};

/// Roll out the candidate plays of a position
///
/// POSITION is a Position ID (with or without a Match ID), an XGID, two sides
/// such as `6:2 5:3 / 4:1`, or `start`. Without a roll, in the notation or by
/// --roll, the position itself is rolled out. Rollouts are cubeless: for
/// money, or with --match-table at the score that the notation gives.
///
/// Games end where a bearoff table knows the position exactly: in the tables of
/// --table and --tables, else in those found in ENDTABLE_PATH and the user's
/// data folder, and always in the six-point table, which is computed. Ctrl-C
/// prints (and, with --save, saves) what is known by then; the exit code is
/// then 130.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The position; left out with --extend
    #[arg(required_unless_present = "extend")]
    position: Option<String>,
    /// The roll to be played, such as 31
    #[arg(long, value_name = "DICE")]
    roll: Option<String>,
    /// The plays to compare, separated by semicolons [default: the best few at first sight]
    #[arg(long, value_name = "PLAYS")]
    plays: Option<String>,
    /// How many plays to compare at most where --plays is not given
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..))]
    candidates: u16,
    /// Which play gets the next games [default: ocba]
    #[arg(long, value_name = "RULE", value_enum)]
    allocate: Option<Allocation>,
    /// Games given to a play at a time [default: 36]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1296))]
    batch: Option<u64>,
    /// first:N, average:N or maximum:N games: of the first play, of the average one, of any one
    #[arg(long, value_name = "KIND:N", default_value = "average:1296", value_parser = settings::budget)]
    budget: Budget,
    /// A play gets no more games once its standard error is this small
    #[arg(long, value_name = "POINTS")]
    stop_se: Option<f64>,
    /// A play gets no more games while it is this many joint standard errors behind
    #[arg(long, value_name = "N")]
    stop_separation: Option<f64>,
    /// Games that each play has before a stop rule counts [default: 144]
    #[arg(long, value_name = "N")]
    min_games: Option<u64>,
    /// Begin no more games after this time; the result then depends on the machine
    #[arg(long, value_name = "SECONDS")]
    time: Option<f64>,
    /// Cut games off after N rolls and evaluate
    #[arg(long, value_name = "N")]
    truncate: Option<u32>,
    /// Leave the luck of the dice in the results: faster games, far larger errors
    #[arg(long)]
    no_luck_adjustment: bool,
    /// How the first two rolls are spread: each throw once in 36 games, or also each pair once in 1296 [default: blocks]
    #[arg(long, value_name = "KIND", value_enum)]
    stratify: Option<Spread>,
    #[command(flatten)]
    tables: TableArguments,
    /// Play without any bearoff table, to the last chequer
    #[arg(long, conflicts_with_all = ["files", "folders"])]
    no_tables: bool,
    /// A program that evaluates boards over JSON lines, instead of the built-in network
    #[arg(long, value_name = "COMMAND")]
    external: Option<String>,
    /// Match equity table; the score comes with the position
    #[arg(long, value_name = "FILE")]
    match_table: Option<PathBuf>,
    /// Refused: cubeful rollouts are not implemented
    #[arg(long)]
    cubeful: bool,
    /// Seed of the dice [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Threads [default: one for each core]; the result is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Write all games to a file, to be continued with --extend
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Continue a saved rollout; only budget, stop rules, time and threads may be given
    #[arg(long, value_name = "FILE", conflicts_with_all = ["position", "roll", "plays", "allocate", "batch",
        "truncate", "no_luck_adjustment", "stratify", "no_tables", "files", "folders", "external", "match_table", "seed"])]
    extend: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Show no live table
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    if arguments.cubeful {
        return Err(Error::invalid(
            "cubeful rollouts are not implemented: a cubeless evaluator cannot time doubles rightly; leave --cubeful out",
        )
        .into());
    }
    common::catch_interrupts();
    let (settings, known) = match &arguments.extend {
        Some(path) => Saved::read(path)?.take_apart()?,
        None => (Settings::of(arguments)?, Vec::new()),
    };
    let player = settings.player()?;
    let position = Position::parse(&settings.position)?;
    let stakes = settings.stakes(&position)?;
    let choices = choices::of(&settings, &position, &player, &stakes, arguments.candidates)?;
    let plan = settings.plan(arguments)?;
    let rollout = Rollout {
        player: &player,
        rules: settings.rules(stakes),
        dice: settings.dice(),
    };
    let run = Run {
        plan: &plan,
        threads: arguments.threads.map_or_else(
            || std::thread::available_parallelism().map_or(1, usize::from),
            usize::from,
        ),
        time: arguments.time.map(seconds).transpose()?,
        interrupt: common::stop_flag(),
    };
    let mut live = Live::new(arguments.quiet, &choices, &plan, &known);
    let found = rollout.carry_out(&choices, &run, &known, |candidates, games| {
        live.show(candidates, games)
    })?;
    live.clear();
    let rows = summaries(&found.candidates, &found.games);
    if let Some(path) = &arguments.save {
        let names = choices.iter().map(|c| c.name.clone()).collect();
        let settings = Settings {
            plays: Some(names),
            ..settings.clone()
        };
        Saved::new(settings, &found.games).write(path)?;
    }
    if arguments.json {
        common::print_json(&report::object(
            &position,
            &settings,
            &choices,
            &rows,
            &found.games,
            found.ending,
            &player,
        ))?;
    } else {
        let mut out = std::io::stdout().lock();
        let width = Term::stdout()
            .size_checked()
            .map_or(usize::MAX, |(_, width)| usize::from(width));
        writeln!(out, "{}", xgid::format(&position))?;
        for line in report::table(&choices, &rows, width) {
            writeln!(out, "{line}")?;
        }
        for line in report::ended_by(&found.games, &player) {
            writeln!(out, "{line}")?;
        }
        if let Some(note) = report::note(found.ending) {
            writeln!(out, "{note}")?;
        }
    }
    Ok(match found.ending {
        Ending::Interrupted => Outcome::Interrupted,
        Ending::Finished | Ending::OutOfTime => Outcome::Done,
    })
}

fn seconds(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::invalid(format!("--time {seconds}: expected a number of seconds")))
}

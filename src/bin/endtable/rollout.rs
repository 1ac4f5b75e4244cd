//! `endtable rollout`: plays the candidate plays out and compares them.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use endtable::bearoff::position::{Position, parse_dice};
use endtable::bearoff::{Plays, play_notation, xgid};
use endtable::rollout::allocate::{Budget, Candidate, Plan, Rule, Stop};
use endtable::rollout::backgammon::{Choice, Game, Summary, summaries};
use endtable::rollout::dice::{Dice, Stratify};
use endtable::rollout::external::External;
use endtable::rollout::game::Rules;
use endtable::rollout::schedule::{Ending, Run};
use endtable::rollout::stakes::{MatchTable, Stakes};
use endtable::rollout::statistics::Sampling;
use endtable::rollout::{BearoffTable, EndTable, Evaluator, Network, Player, Rollout};
use endtable::{Error, Result};
use serde_json::json;

use crate::common::{self, Outcome, Ran};
use crate::rollout_file::{Saved, Settings};

/// Roll out the candidate plays of a position
///
/// POSITION is a Position ID (with or without a Match ID), an XGID, two sides
/// such as `6:2 5:3 / 4:1`, or `start`. Without a roll, in the notation or by
/// --roll, the position itself is rolled out. Rollouts are cubeless: for
/// money, or with --match-table at the score that the notation gives.
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
    #[arg(long, value_name = "KIND:N", default_value = "average:1296", value_parser = budget)]
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
    /// A bearoff table (.etb or .bd) to end games with; may be given several times
    #[arg(long, value_name = "FILE")]
    table: Vec<PathBuf>,
    /// Play without any bearoff table
    #[arg(long, conflicts_with = "table")]
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
        "truncate", "no_luck_adjustment", "stratify", "no_tables", "table", "external", "match_table", "seed"])]
    extend: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Show no live table
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Allocation {
    Equal,
    HighestSe,
    Ocba,
    Lucb,
}

#[derive(Clone, Copy, ValueEnum)]
enum Spread {
    None,
    Blocks,
    Pairs,
}

fn budget(text: &str) -> std::result::Result<Budget, String> {
    let (kind, games) = text
        .split_once(':')
        .ok_or("expected first:N, average:N or maximum:N")?;
    let games: u64 = games
        .parse()
        .map_err(|_| format!("`{games}` is no number of games"))?;
    match (kind, games) {
        (_, 0..2) => Err("at least 2 games are needed for an error".to_owned()),
        ("first", n) => Ok(Budget::First(n)),
        ("average", n) => Ok(Budget::Average(n)),
        ("maximum", n) => Ok(Budget::Maximum(n)),
        _ => Err(format!("`{kind}` is none of first, average, maximum")),
    }
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
        None => (settings(arguments)?, Vec::new()),
    };
    let player = settings.player()?;
    let position = Position::parse(&settings.position)?;
    let stakes = settings.stakes(&position)?;
    let choices = match &settings.plays {
        Some(names) => named_choices(&position, settings.roll.as_deref(), names)?,
        None => first_choices(
            &position,
            settings.roll.as_deref(),
            &player,
            &stakes,
            arguments.candidates,
        )?,
    };
    let plan = plan(arguments, &settings)?;
    let stratify = match settings.stratify.as_str() {
        "none" => Stratify::None,
        "blocks" => Stratify::Blocks,
        "pairs" => Stratify::Pairs,
        other => {
            return Err(Error::unsupported(format!(
                "stratified by `{other}`, which this version does not know"
            ))
            .into());
        }
    };
    let rollout = Rollout {
        player: &player,
        rules: Rules {
            stakes,
            luck_adjusted: settings.luck_adjusted,
            stop_at_tables: true,
            truncate: settings.truncate,
        },
        dice: Dice::new(settings.seed, stratify),
    };
    let threads = arguments.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let run = Run {
        plan: &plan,
        sampling: match stratify {
            Stratify::None => Sampling::Independent,
            Stratify::Blocks | Stratify::Pairs => Sampling::Blocks,
        },
        threads,
        time: arguments.time.map(seconds).transpose()?,
        interrupt: common::stop_flag(),
    };
    let mut live = Live::new(arguments, &choices, &plan, &known);
    let found = rollout.carry_out(&choices, &run, &known, |candidates, games| {
        live.show(candidates, games)
    })?;
    live.clear();
    let rows = summaries(&found.candidates, &found.games);
    if let Some(path) = &arguments.save {
        let names = choices.iter().map(|c| c.name.clone()).collect();
        Saved::new(
            Settings {
                plays: Some(names),
                ..settings.clone()
            },
            &found.games,
        )
        .write(path)?;
    }
    if arguments.json {
        common::print_json(&object(
            &position,
            &settings,
            &choices,
            &rows,
            found.ending,
            &player,
        ))?;
    } else {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", xgid::format(&position))?;
        for line in table(&choices, &rows) {
            writeln!(out, "{line}")?;
        }
        if let Some(note) = note(found.ending) {
            writeln!(out, "{note}")?;
        }
    }
    Ok(Outcome::Done)
}

fn seconds(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::invalid(format!("--time {seconds}: expected a number of seconds")))
}

/// The settings that a saved rollout keeps.
fn settings(arguments: &Arguments) -> Result<Settings> {
    let position = arguments.position.clone().unwrap_or_default();
    let parsed = Position::parse(&position)?;
    let given = arguments.roll.as_deref().map(parse_dice).transpose()?;
    let roll = given.or(parsed.dice).map(|[a, b]| format!("{a}{b}"));
    if parsed.double_offered {
        return Err(Error::invalid(
            "a double is on offer: whether to take it is no matter of plays; give a position after the answer",
        ));
    }
    if arguments.plays.is_some() && roll.is_none() {
        return Err(Error::invalid(
            "--plays needs a roll: give --roll 31, or a notation with dice",
        ));
    }
    let plays = arguments.plays.as_deref().map(|text| {
        text.split(';')
            .map(|play| play.trim().to_owned())
            .filter(|play| !play.is_empty())
            .collect::<Vec<_>>()
    });
    let path_text = |path: &PathBuf| -> Result<String> {
        path.to_str()
            .map(str::to_owned)
            .ok_or_else(|| Error::invalid(format!("{}: the name is not UTF-8", path.display())))
    };
    Ok(Settings {
        position,
        roll,
        plays,
        seed: arguments.seed.unwrap_or(1),
        stratify: match arguments.stratify.unwrap_or(Spread::Blocks) {
            Spread::None => "none",
            Spread::Blocks => "blocks",
            Spread::Pairs => "pairs",
        }
        .to_owned(),
        luck_adjusted: !arguments.no_luck_adjustment,
        truncate: arguments.truncate,
        tables: if arguments.no_tables {
            None
        } else {
            Some(
                arguments
                    .table
                    .iter()
                    .map(path_text)
                    .collect::<Result<_>>()?,
            )
        },
        external: arguments.external.clone(),
        match_table: arguments.match_table.as_ref().map(path_text).transpose()?,
        allocate: match arguments.allocate.unwrap_or(Allocation::Ocba) {
            Allocation::Equal => "equal",
            Allocation::HighestSe => "highest-se",
            Allocation::Ocba => "ocba",
            Allocation::Lucb => "lucb",
        }
        .to_owned(),
        batch: arguments.batch.unwrap_or(36),
    })
}

fn plan(arguments: &Arguments, settings: &Settings) -> Result<Plan> {
    let rule = match settings.allocate.as_str() {
        "equal" => Rule::Equal,
        "highest-se" => Rule::HighestSe,
        "ocba" => Rule::Ocba,
        "lucb" => Rule::Lucb,
        other => {
            return Err(Error::unsupported(format!(
                "allocation `{other}` is none that this version knows"
            )));
        }
    };
    for (name, value) in [
        ("--stop-se", arguments.stop_se),
        ("--stop-separation", arguments.stop_separation),
    ] {
        if value.is_some_and(|v| !v.is_finite() || v <= 0.0) {
            return Err(Error::invalid(format!("{name}: expected a number above 0")));
        }
    }
    let mut plan = Plan::new(rule, settings.batch, arguments.budget);
    plan.stop = Stop {
        error: arguments.stop_se,
        separation: arguments.stop_separation,
        at_least: arguments.min_games.unwrap_or(144),
    };
    Ok(plan)
}

impl Settings {
    fn player(&self) -> Result<Player> {
        let evaluator: Box<dyn Evaluator> = match &self.external {
            Some(command) => Box::new(External::start(command)?),
            None => Box::new(Network::built_in()?),
        };
        let mut tables: Vec<Box<dyn EndTable>> = Vec::new();
        if let Some(paths) = &self.tables {
            for path in paths {
                tables.push(Box::new(BearoffTable::open(path.as_ref())?));
            }
            tables.push(Box::new(BearoffTable::six_points()?));
        }
        Ok(Player::new(evaluator, tables))
    }

    pub(crate) fn stakes(&self, position: &Position) -> Result<Stakes> {
        let Some(path) = &self.match_table else {
            return Ok(Stakes::MONEY);
        };
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::io("read the match equity table", e).in_file(path.as_ref()))?;
        let score = position.score.ok_or_else(|| {
            Error::invalid(
                "--match-table needs a score: give the position as XGID or with its Match ID",
            )
        })?;
        Stakes::at_score(&score, 1 << position.cube.log2, &MatchTable::parse(&text)?)
    }
}

/// The position itself, if there is no roll.
fn before_the_roll(position: &Position) -> Vec<Choice> {
    vec![Choice {
        name: "before the roll".to_owned(),
        board: position.board,
        own_roll: true,
    }]
}

fn named_choices(position: &Position, roll: Option<&str>, names: &[String]) -> Result<Vec<Choice>> {
    let Some(roll) = roll else {
        return Ok(before_the_roll(position));
    };
    let dice = parse_dice(roll)?;
    let mut plays = Plays::new();
    let legal = plays.generate(&position.board, dice);
    if legal.is_empty() {
        return Ok(vec![Choice {
            name: "pass".to_owned(),
            board: position.board.swapped(),
            own_roll: false,
        }]);
    }
    let mut choices: Vec<Choice> = Vec::new();
    for name in names {
        let play = play_notation::find(name, &position.board, dice, legal)?;
        let name = play_notation::format(&position.board, play);
        if choices.iter().any(|c| c.board == *play.next()) {
            return Err(Error::invalid(format!("--plays: `{name}` is given twice")));
        }
        choices.push(Choice {
            name,
            board: *play.next(),
            own_roll: false,
        });
    }
    match choices.is_empty() {
        true => Err(Error::invalid("--plays names no play")),
        false => Ok(choices),
    }
}

/// The plays that look best before any game.
fn first_choices(
    position: &Position,
    roll: Option<&str>,
    player: &Player,
    stakes: &Stakes,
    at_most: u16,
) -> Result<Vec<Choice>> {
    let Some(roll) = roll else {
        return Ok(before_the_roll(position));
    };
    let dice = parse_dice(roll)?;
    let mut plays = Plays::new();
    let legal = plays.generate(&position.board, dice);
    let boards: Vec<_> = legal.iter().map(|play| *play.next()).collect();
    let mut scratch = Default::default();
    player.evaluate(&boards, &mut scratch)?;
    let mut order: Vec<(usize, f32)> = scratch
        .out
        .iter()
        .map(|chances| stakes.equity(&chances.flipped()))
        .enumerate()
        .collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order.truncate(usize::from(at_most));
    if order.is_empty() {
        return named_choices(position, Some(dice_text(dice).as_str()), &[]);
    }
    Ok(order
        .into_iter()
        .map(|(i, _)| Choice {
            name: play_notation::format(&position.board, &legal[i]),
            board: boards[i],
            own_roll: false,
        })
        .collect())
}

fn dice_text([a, b]: [u8; 2]) -> String {
    format!("{a}{b}")
}

fn note(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Finished => None,
        Ending::Interrupted => Some("interrupted: what was known by then"),
        Ending::OutOfTime => Some("the time is up"),
    }
}

/// The rows that people see.
fn table(choices: &[Choice], rows: &[Summary]) -> Vec<String> {
    let width = choices
        .iter()
        .map(|c| c.name.len())
        .max()
        .unwrap_or(4)
        .max(4);
    let mut lines = vec![format!(
        "{:width$}  {:>7}  {:>18}  {:>6} {:>6} {:>6} {:>6} {:>6}  {:>16}",
        "play", "games", "equity", "win", "gammon", "backg.", "lose g", "lose b", "behind"
    )];
    for row in rows {
        let error = row
            .equity_error
            .map_or_else(|| "?".to_owned(), |e| format!("{e:.4}"));
        let behind = match row.behind_error {
            None if row.behind == 0.0 => String::new(),
            None => format!("{:.4}", row.behind),
            Some(error) => format!("{:.4} ± {error:.4}", row.behind),
        };
        let percent: Vec<String> = row
            .chances
            .iter()
            .map(|p| format!("{:6.2}", 100.0 * p))
            .collect();
        lines.push(format!(
            "{:width$}  {:>7}  {:>+8.4} ± {error:>7}  {}  {behind:>16}",
            choices[row.choice].name,
            row.games,
            row.equity,
            percent.join(" ")
        ));
    }
    lines
}

fn object(
    position: &Position,
    settings: &Settings,
    choices: &[Choice],
    rows: &[Summary],
    ending: Ending,
    player: &Player,
) -> serde_json::Value {
    let plays: Vec<_> = rows
        .iter()
        .map(|row| {
            let [
                win,
                win_gammon,
                win_backgammon,
                lose_gammon,
                lose_backgammon,
            ] = row.chances;
            json!({
                "play": choices[row.choice].name,
                "games": row.games,
                "equity": row.equity,
                "equity_se": row.equity_error,
                "equity_half_width_95": row.half_width_95,
                "win": win,
                "win_gammon": win_gammon,
                "win_backgammon": win_backgammon,
                "lose_gammon": lose_gammon,
                "lose_backgammon": lose_backgammon,
                "behind": row.behind,
                "behind_se": row.behind_error,
            })
        })
        .collect();
    json!({
        "position": xgid::format(position),
        "roll": settings.roll,
        "seed": settings.seed,
        "allocate": settings.allocate,
        "batch": settings.batch,
        "evaluators": player.names(),
        "ending": match ending {
            Ending::Finished => "finished",
            Ending::Interrupted => "interrupted",
            Ending::OutOfTime => "out of time",
        },
        "plays": plays,
    })
}

/// The table that is drawn again and again while games are played.
struct Live<'a> {
    choices: &'a [Choice],
    shown: bool,
    lines: usize,
    start: Instant,
    last: Option<Instant>,
    known: u64,
    total: u64,
}

impl<'a> Live<'a> {
    fn new(arguments: &Arguments, choices: &'a [Choice], plan: &Plan, known: &[Vec<Game>]) -> Self {
        let count = choices.len() as u64;
        let total = match plan.budget {
            Budget::Average(n) | Budget::Maximum(n) | Budget::First(n) => n * count,
        };
        Live {
            choices,
            shown: !arguments.quiet && std::io::stderr().is_terminal(),
            lines: 0,
            start: Instant::now(),
            last: None,
            known: known.iter().map(|games| games.len() as u64).sum(),
            total,
        }
    }

    fn show(&mut self, candidates: &[Candidate], games: &[Vec<Game>]) {
        let fresh = self
            .last
            .is_some_and(|last| last.elapsed() < Duration::from_millis(250));
        if !self.shown || fresh {
            return;
        }
        self.last = Some(Instant::now());
        let mut lines = table(self.choices, &summaries(candidates, games));
        let done: u64 = games.iter().map(|g| g.len() as u64).sum();
        let played = done.saturating_sub(self.known);
        let elapsed = self.start.elapsed().as_secs_f64();
        // A stop rule may end the work earlier; the budget is all that is certain.
        let left = match played {
            0 => String::new(),
            _ => format!(
                ", at most {:.0} s left",
                elapsed / played as f64 * self.total.saturating_sub(done) as f64
            ),
        };
        lines.push(format!(
            "{done} games, {:.0} a second{left}",
            played as f64 / elapsed.max(1e-9)
        ));
        self.clear();
        self.lines = lines.len();
        eprintln!("{}", lines.join("\n"));
    }

    fn clear(&mut self) {
        if self.lines > 0 {
            // Up by that many lines, then clear to the end of the screen.
            eprint!("\x1b[{}A\x1b[J", self.lines);
            self.lines = 0;
        }
    }
}

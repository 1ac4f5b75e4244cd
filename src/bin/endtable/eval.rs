//! `endtable eval`: what the open tables say of positions.

use std::io::Write;

use clap::Args;
use endtable::bearoff::evaluate::{Rated, RatedPlays};
use endtable::bearoff::position::{Dice, parse_dice};
use endtable::bearoff::{Evaluation, Position, Tables, play_notation};
use endtable::table::library;
use endtable::{Error, Result};
use serde_json::{Value, json};

use crate::chess;
use crate::common::{Failure, Outcome, Ran, positions, print_json};
use crate::named_tables::TableArguments;

/// Evaluate positions: chances, effective pip counts, cube action, plays of a roll
///
/// A position is a GNU Backgammon Position ID (with or without Match ID), an XGID, or two sides such as `6:2 5:3 / 4:1`, the
/// side on roll first, each from its own ace-point. `-` reads positions from standard input, one a line. Equities are for money
/// at a cube of 1; a position at a match score gets neither cubeful equities nor a cube action.
///
/// A FEN is a chess position: result, distance to mate, and every move with its own; the 50-move rule is ignored.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Positions; `-` reads them from standard input
    #[arg(required = true, value_name = "POSITION")]
    positions: Vec<String>,
    /// List the plays of this roll [default: that of the position]
    #[arg(long, value_name = "DICE", value_parser = parse_dice)]
    roll: Option<Dice>,
    #[command(flatten)]
    tables: TableArguments,
    /// Print one JSON object a position
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    let many = arguments.positions.len() > 1 || arguments.positions.iter().any(|p| p == "-");
    let mut outcome = Outcome::Done;
    // The tables of a game are looked for when its first position comes.
    let (mut backgammon, mut chess) = (None, None);
    let mut plays = RatedPlays::new();
    for text in positions(&arguments.positions) {
        let text = text?;
        let answered = if chess::is_fen(&text) {
            let tables = match &mut chess {
                Some(tables) => tables,
                none => none.insert(open_chess(&arguments.tables)?),
            };
            tables.answer(&text, arguments.json, true)?
        } else {
            let tables = match &mut backgammon {
                Some(tables) => tables,
                none => none.insert(open_tables(&arguments.tables)?),
            };
            let answer = Position::parse(&text)
                .and_then(|position| Answer::find(tables, position, arguments.roll, &mut plays));
            match answer {
                Ok(answer) if arguments.json => {
                    print_json(&answer.json(&text, tables, &plays))?;
                    Ok(())
                }
                Ok(answer) => {
                    answer.print(&text, tables, &plays)?;
                    Ok(())
                }
                Err(error) => Err(error),
            }
        };
        match answered {
            Ok(()) => {}
            Err(error) if !many && !arguments.json => return Err(error.into()),
            Err(error) => {
                outcome = Outcome::Differs;
                if arguments.json {
                    print_json(&json!({ "position": text, "error": error.to_string() }))?;
                } else {
                    writeln!(std::io::stdout(), "{text}\n  error: {error}\n")?;
                }
            }
        }
    }
    Ok(outcome)
}

/// The chess tables that were named, else those that are found.
fn open_chess(arguments: &TableArguments) -> Result<chess::Tables> {
    chess::Tables::open(&chess::folder(&arguments.folders, &arguments.files)?)
}

/// The bearoff tables that were named, else those that are found.
fn open_tables(arguments: &TableArguments) -> Result<Tables> {
    let mut tables = Tables::new();
    arguments.open(|path, database| tables.add(path, database))?;
    if tables.is_empty() {
        return Err(Error::invalid(format!(
            "no bearoff table to evaluate with: name one with --table or --tables, list folders in {}, or make one with `endtable make bearoff 6 -o {}`",
            library::PATH_VARIABLE,
            library::data_folder()
                .unwrap_or_default()
                .join("bearoff-6.etb")
                .display()
        )));
    }
    Ok(tables)
}

/// A position with its answer.
struct Answer {
    position: Position,
    evaluation: Evaluation,
    dice: Option<Dice>,
}

impl Answer {
    fn find(
        tables: &Tables,
        position: Position,
        roll: Option<Dice>,
        plays: &mut RatedPlays,
    ) -> Result<Self> {
        let mut evaluation = tables.evaluate(&position.board)?;
        let owner = match position.score {
            None => Some(position.cube.owner),
            Some(_) => {
                evaluation.cubeful = None;
                None
            }
        };
        let dice = roll.or(position.dice);
        if let Some(dice) = dice {
            tables.rate_plays(&position.board, dice, owner, plays)?;
        }
        Ok(Answer {
            position,
            evaluation,
            dice,
        })
    }

    fn cube_action(&self) -> Option<&'static str> {
        let cubeful = self.evaluation.cubeful?;
        cubeful
            .action(self.position.cube.owner)
            .map(|action| action.name())
    }

    fn json(&self, text: &str, tables: &Tables, plays: &RatedPlays) -> Value {
        let seen = &self.evaluation;
        let rolls = |get: fn(&endtable::bearoff::evaluate::Rolls) -> f64| {
            seen.rolls.as_ref().map(|sides| sides.each_ref().map(get))
        };
        let mut tables_used: Vec<_> = seen
            .two_sided
            .into_iter()
            .chain(seen.one_sided.into_iter().flatten())
            .collect();
        tables_used.sort();
        tables_used.dedup();
        let mut answer = json!({
            "position": text,
            "win": seen.win,
            "win_gammon": seen.win_gammon,
            "lose_gammon": seen.lose_gammon,
            "exact": seen.two_sided.is_some(),
            "equity_cubeless": seen.equity_cubeless,
            "equity_owned": seen.cubeful.map(|c| c.owned),
            "equity_centred": seen.cubeful.map(|c| c.centred),
            "equity_opponent": seen.cubeful.map(|c| c.opponent),
            "cube_action": self.cube_action(),
            "pips": self.position.board.pips(),
            "mean_rolls": rolls(|r| r.mean),
            "deviation_rolls": rolls(|r| r.deviation),
            "epc": rolls(|r| r.epc),
            "wastage": rolls(|r| r.wastage),
            "tables": tables_used.iter().map(|&id| tables.name(id)).collect::<Vec<_>>(),
        });
        if let Some([a, b]) = self.dice {
            let listed: Vec<_> = plays.as_slice().iter().map(|r| self.play_json(r)).collect();
            answer["roll"] = json!(format!("{a}{b}"));
            answer["equity_is_cubeful"] = json!(plays.is_cubeful());
            answer["plays"] = json!(listed);
        }
        answer
    }

    fn play_json(&self, rated: &Rated) -> Value {
        json!({
            "play": play_notation::format(&self.position.board, &rated.play),
            "equity": rated.equity,
            "equity_cubeless": rated.equity_cubeless,
            "win": rated.win,
            "win_gammon": rated.win_gammon,
            "lose_gammon": rated.lose_gammon,
        })
    }

    fn print(&self, text: &str, tables: &Tables, plays: &RatedPlays) -> Result<(), Failure> {
        let seen = &self.evaluation;
        let mut out = std::io::stdout().lock();
        let chance =
            |p: Option<f64>| p.map_or("unknown".to_owned(), |p| format!("{:.3} %", 100.0 * p));
        writeln!(out, "{text}")?;
        writeln!(out, "  win             {}", chance(Some(seen.win)))?;
        writeln!(out, "  win gammon      {}", chance(seen.win_gammon))?;
        writeln!(out, "  lose gammon     {}", chance(seen.lose_gammon))?;
        if let Some(equity) = seen.equity_cubeless {
            writeln!(out, "  equity cubeless {equity:+.4}")?;
        }
        if let Some(cubeful) = &seen.cubeful {
            writeln!(out, "  cube owned      {:+.4}", cubeful.owned)?;
            writeln!(out, "  cube centred    {:+.4}", cubeful.centred)?;
            writeln!(out, "  opponent's cube {:+.4}", cubeful.opponent)?;
            let owner = self.position.cube.owner;
            if let Some(action) = cubeful.action(owner) {
                writeln!(
                    out,
                    "  cube action     {} (no double {:+.4}, double/take {:+.4}, double/pass +1.0000)",
                    action.name().replace('_', " "),
                    cubeful.no_double(owner),
                    cubeful.double_take()
                )?;
            }
        }
        let from = seen
            .two_sided
            .map(|id| format!("exact, from {}", tables.name(id).display()));
        if let Some(sides) = &seen.rolls {
            writeln!(out, "                       on roll  opponent")?;
            let pips = self.position.board.pips();
            writeln!(out, "  pips               {:9} {:9}", pips[0], pips[1])?;
            for (name, get) in [
                (
                    "rolls, mean",
                    (|r| r.mean) as fn(&endtable::bearoff::evaluate::Rolls) -> f64,
                ),
                ("rolls, deviation", |r| r.deviation),
                ("effective pips", |r| r.epc),
                ("wastage", |r| r.wastage),
            ] {
                writeln!(
                    out,
                    "  {name:18} {:9.3} {:9.3}",
                    get(&sides[0]),
                    get(&sides[1])
                )?;
            }
        }
        let from = from.or_else(|| {
            let [us, them] = seen
                .one_sided?
                .map(|id| tables.name(id).display().to_string());
            Some(match us == them {
                true => format!("from {us}"),
                false => format!("from {us} and {them}"),
            })
        });
        if let Some(from) = from {
            writeln!(out, "  {from}")?;
        }
        if let Some([a, b]) = self.dice {
            let kind = if plays.is_cubeful() {
                "cubeful"
            } else {
                "cubeless"
            };
            writeln!(out, "  roll {a}{b}, {kind} equities")?;
            let best = plays.as_slice().first().map_or(0.0, |rated| rated.equity);
            for rated in plays.as_slice() {
                writeln!(
                    out,
                    "  {:24} {:+.4} ({:+.4})  win {:.3} %",
                    play_notation::format(&self.position.board, &rated.play),
                    rated.equity,
                    rated.equity - best,
                    100.0 * rated.win
                )?;
            }
        }
        writeln!(out)?;
        Ok(())
    }
}

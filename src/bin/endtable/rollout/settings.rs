//! What a rollout is started with, and what follows from it. A saved rollout
//! keeps it, so that a continued one is the same rollout.

use std::path::Path;

use clap::ValueEnum;
use endtable::bearoff::position::{Position, parse_dice};
use endtable::rollout::allocate::{Budget, Plan, Rule, Stop};
use endtable::rollout::dice::{Dice, Stratify};
use endtable::rollout::external::External;
use endtable::rollout::game::Rules;
use endtable::rollout::stakes::{MatchTable, Stakes};
use endtable::rollout::{BearoffTable, EndTable, Evaluator, Network, Player};
use endtable::{Error, Result};
use serde::{Deserialize, Serialize};

use super::Arguments;
use crate::common;

/// Everything on which the games depend, and which of them are played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) position: String,
    pub(crate) roll: Option<String>,
    pub(crate) plays: Option<Vec<String>>,
    pub(crate) seed: u64,
    pub(crate) stratify: Spread,
    pub(crate) luck_adjusted: bool,
    pub(crate) truncate: Option<u32>,
    /// Files; `None` for no table at all, not even the computed one.
    pub(crate) tables: Option<Vec<String>>,
    pub(crate) external: Option<String>,
    pub(crate) match_table: Option<String>,
    pub(crate) allocate: Allocation,
    pub(crate) batch: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Allocation {
    Equal,
    HighestSe,
    #[default]
    Ocba,
    Lucb,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Spread {
    None,
    #[default]
    Blocks,
    Pairs,
}

impl Settings {
    /// Those of a call that starts a rollout.
    pub(super) fn of(arguments: &Arguments) -> Result<Self> {
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
                .collect()
        });
        Ok(Settings {
            position,
            roll,
            plays,
            seed: arguments.seed.unwrap_or(1),
            stratify: arguments.stratify.unwrap_or_default(),
            luck_adjusted: !arguments.no_luck_adjustment,
            truncate: arguments.truncate,
            tables: match arguments.no_tables {
                true => None,
                false => Some(usable_tables(arguments)?),
            },
            external: arguments.external.clone(),
            match_table: arguments.match_table.as_deref().map(text_of).transpose()?,
            allocate: arguments.allocate.unwrap_or_default(),
            batch: arguments.batch.unwrap_or(36),
        })
    }

    /// Who plays.
    pub(super) fn player(&self) -> Result<Player> {
        let evaluator: Box<dyn Evaluator> = match &self.external {
            Some(command) => Box::new(External::start(command)?),
            None => Box::new(Network::built_in()?),
        };
        let Some(paths) = &self.tables else {
            return Ok(Player::new(evaluator, Vec::new()));
        };
        let mut tables = vec![BearoffTable::six_points()?];
        for path in paths.iter().map(Path::new) {
            tables.push(BearoffTable::from_database(path, common::open(path)?)?);
        }
        BearoffTable::sort(&mut tables);
        let tables = tables.into_iter().map(|t| Box::new(t) as Box<dyn EndTable>);
        Ok(Player::new(evaluator, tables.collect()))
    }

    /// What results are worth.
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

    /// How games are played for these stakes.
    pub(super) fn rules(&self, stakes: Stakes) -> Rules {
        Rules {
            stakes,
            luck_adjusted: self.luck_adjusted,
            stop_at_tables: true,
            truncate: self.truncate,
        }
    }

    /// The dice of all games.
    pub(super) fn dice(&self) -> Dice {
        let stratify = match self.stratify {
            Spread::None => Stratify::None,
            Spread::Blocks => Stratify::Blocks,
            Spread::Pairs => Stratify::Pairs,
        };
        Dice::new(self.seed, stratify)
    }

    /// Who gets the next games, and when to end: the part that a continued
    /// rollout may change.
    pub(super) fn plan(&self, arguments: &Arguments) -> Result<Plan> {
        let rule = match self.allocate {
            Allocation::Equal => Rule::Equal,
            Allocation::HighestSe => Rule::HighestSe,
            Allocation::Ocba => Rule::Ocba,
            Allocation::Lucb => Rule::Lucb,
        };
        for (name, value) in [
            ("--stop-se", arguments.stop_se),
            ("--stop-separation", arguments.stop_separation),
        ] {
            if value.is_some_and(|v| !v.is_finite() || v <= 0.0) {
                return Err(Error::invalid(format!("{name}: expected a number above 0")));
            }
        }
        let mut plan = Plan::new(rule, self.batch, arguments.budget);
        plan.stop = Stop {
            error: arguments.stop_se,
            separation: arguments.stop_separation,
            at_least: arguments.min_games.unwrap_or(144),
        };
        Ok(plan)
    }
}

/// The tables of the call, or of this machine, that a rollout can use.
fn usable_tables(arguments: &Arguments) -> Result<Vec<String>> {
    let mut usable = Vec::new();
    arguments.tables.open(|path, database| {
        let absolute =
            std::path::absolute(path).map_err(|e| Error::io("find the way to", e).in_file(path))?;
        let name = text_of(&absolute)?;
        BearoffTable::from_database(path, database)?;
        usable.push(name);
        Ok(())
    })?;
    Ok(usable)
}

fn text_of(path: &Path) -> Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Error::invalid(format!("{}: the name is not UTF-8", path.display())))
}

/// Reads `average:1296` and the like.
pub(super) fn budget(text: &str) -> std::result::Result<Budget, String> {
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

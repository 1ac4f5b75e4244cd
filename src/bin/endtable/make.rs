//! `endtable make`: tables from the rules of a game.

use clap::{Args, Subcommand};
use endtable::Result;
use endtable::bearoff::generate::{Form, OneSided, TwoSided};

use crate::common::{Outcome, Ran, started};
use crate::making::Making;

/// Make a table from the rules of a game
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Bearoff(Bearoff),
    TwoSided(TwoSidedArguments),
    Chess(crate::chess::Make),
}

/// One-sided bearoff: the rolls that a side needs by itself
///
/// Up to 13 points the values are exactly those of gnubg's makebearoff.
#[derive(Args)]
struct Bearoff {
    /// Points from the ace-point on, 1 to 18
    #[arg(value_parser = clap::value_parser!(u8).range(1..=18))]
    points: u8,
    /// The most chequers
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=15))]
    chequers: u8,
    /// Leave the rolls until the first chequer leaves out
    #[arg(long)]
    no_gammon: bool,
    /// Mean and standard deviation only, as makebearoff -n
    #[arg(long, conflicts_with = "exact")]
    normal: bool,
    /// Chances of 24 bits computed in double precision, instead of gnubg's rounded 16 bits
    #[arg(long)]
    exact: bool,
    #[command(flatten)]
    making: Making,
}

/// Two-sided bearoff: equities of both sides' positions, with the cube
///
/// The values are exactly those of gnubg's makebearoff.
#[derive(Args)]
struct TwoSidedArguments {
    /// Points and chequers of each side, such as 6x6
    #[arg(value_name = "PxC", value_parser = points_and_chequers)]
    size: (u8, u8),
    /// The cubeless equity only
    #[arg(long)]
    cubeless: bool,
    #[command(flatten)]
    making: Making,
}

fn points_and_chequers(text: &str) -> Result<(u8, u8), String> {
    text.split_once('x')
        .and_then(|(points, chequers)| Some((points.parse().ok()?, chequers.parse().ok()?)))
        .ok_or_else(|| format!("'{text}' is not points x chequers, such as 6x6"))
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    started();
    match &arguments.what {
        What::Bearoff(arguments) => bearoff(arguments)?,
        What::TwoSided(arguments) => two_sided(arguments)?,
        What::Chess(arguments) => return crate::chess::run_make(arguments),
    }
    Ok(Outcome::Done)
}

fn bearoff(arguments: &Bearoff) -> Result<()> {
    let form = match (arguments.exact, arguments.normal) {
        (true, _) => Form::Exact,
        (_, true) => Form::Normal,
        _ => Form::Rounded,
    };
    let gammon = !arguments.no_gammon;
    let table = OneSided::new(arguments.points, arguments.chequers, gammon, form)?;
    let making = &arguments.making;
    let schema = table.schema(&making.packing())?;
    let keep = making.prepare(table.needs()?)?;
    let records = making.compute(table.work(), |tell| table.generate(&keep, tell))?;
    making.write(&records, schema)?;
    records.discard()
}

fn two_sided(arguments: &TwoSidedArguments) -> Result<()> {
    let (points, chequers) = arguments.size;
    let table = TwoSided::new(points, chequers, !arguments.cubeless)?;
    let making = &arguments.making;
    let schema = table.schema(&making.packing())?;
    let keep = making.prepare(table.needs()?)?;
    let records = making.compute(table.positions(), |tell| table.generate(&keep, tell))?;
    making.write(&records, schema)?;
    records.discard()
}

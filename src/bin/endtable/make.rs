//! `endtable make`: tables from the rules of a game.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use endtable::Result;
use endtable::bearoff::generate::{Form, Keep, OneSided};
use endtable::table::{Summary, WriteOptions, write};

use crate::common::{
    Outcome, PackingArguments, Ran, WorkArguments, catch_interrupts, grouped, interrupted, started,
};

/// Make a table from the rules of a game
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Bearoff(Bearoff),
}

/// One-sided bearoff: the rolls that a side needs by itself
///
/// With 15 chequers and up to 13 points the values are exactly those of gnubg's makebearoff.
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
    to: To,
}

/// Where a made table goes, and how.
#[derive(Args)]
struct To {
    /// File to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    packing: PackingArguments,
    #[command(flatten)]
    work: WorkArguments,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    started();
    match &arguments.what {
        What::Bearoff(bearoff) => make_bearoff(bearoff),
    }
}

fn make_bearoff(arguments: &Bearoff) -> Ran {
    let to = &arguments.to;
    to.work.start()?;
    catch_interrupts();
    let form = match (arguments.exact, arguments.normal) {
        (true, _) => Form::Exact,
        (_, true) => Form::Normal,
        _ => Form::Rounded,
    };
    let made = OneSided::new(
        arguments.points,
        arguments.chequers,
        !arguments.no_gammon,
        form,
    )?;
    let schema = made.schema(&to.packing.packing())?;
    to.refuse_existing()?;
    let records = to.generate(made.work(), |tell| made.generate(&Keep::Memory, tell))?;
    let generated = started().elapsed().as_secs_f64();
    let raw = schema.positions * schema.record_bytes() as u64;
    let bar = to.work.progress(schema.positions, "positions written");
    let progress = |done| {
        bar.set_position(done);
        interrupted()
    };
    let options = WriteOptions {
        force: to.force,
        progress: Some(&progress),
    };
    let summary = write(&records, schema, &to.output, &options)?;
    bar.finish_and_clear();
    to.report(&summary, raw, generated);
    Ok(Outcome::Done)
}

impl To {
    /// Says before the work that it would be in vain.
    fn refuse_existing(&self) -> Result<()> {
        match self.output.exists() && !self.force {
            true => Err(endtable::Error::invalid(format!(
                "{} exists: choose another name, or --force",
                self.output.display()
            ))),
            false => Ok(()),
        }
    }

    /// Runs `generate` under a progress bar over `work` positions.
    fn generate<T>(
        &self,
        work: u64,
        generate: impl FnOnce(&dyn Fn(u64) -> Result<()>) -> Result<T>,
    ) -> Result<T> {
        let bar = self.work.progress(work, "positions computed");
        let made = generate(&|done| {
            bar.inc(done);
            interrupted()
        })?;
        bar.finish_and_clear();
        Ok(made)
    }

    fn report(&self, summary: &Summary, raw: u64, generated: f64) {
        if self.work.quiet {
            return;
        }
        let seconds = started().elapsed().as_secs_f64();
        eprintln!(
            "{} positions in {seconds:.2} s ({generated:.2} s to compute them): {} bytes, {:.2} times smaller than the {} raw",
            grouped(summary.positions),
            grouped(summary.file_bytes),
            raw as f64 / summary.file_bytes as f64,
            grouped(raw),
        );
    }
}

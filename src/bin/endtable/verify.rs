//! `endtable verify`: every checksum, every block, the content's checksum.

use std::path::PathBuf;

use clap::Args;
use endtable::bearoff::{Database, deep};
use endtable::source::FileSource;
use endtable::table;

use crate::chess;
use crate::common::{Outcome, Ran, WorkArguments, catch_interrupts, grouped, interrupted, open};

/// Check every checksum, decode every block, compare the content's checksum
#[derive(Args)]
pub(crate) struct Arguments {
    /// A table
    file: PathBuf,
    /// Compute a sample of positions again from their successors, by the plain rules; takes
    /// gnubg's databases, too; chess tables need the tables that moves lead to in their folder
    #[arg(long)]
    deep: bool,
    /// Positions to compute again
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "deep")]
    sample: u64,
    /// Where the drawing of positions starts
    #[arg(long, value_name = "N", default_value_t = 1, requires = "deep")]
    seed: u64,
    #[command(flatten)]
    work: WorkArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    arguments.work.start()?;
    catch_interrupts();
    let is_gnubg = matches!(open(&arguments.file), Ok(Database::Gnubg(_)));
    if !(arguments.deep && is_gnubg) {
        verify(arguments)?;
    }
    match arguments.deep {
        true => verify_deep(arguments),
        false => Ok(Outcome::Done),
    }
}

/// Computes positions again from those that they lead to.
fn verify_deep(arguments: &Arguments) -> Ran {
    let input = open(&arguments.file)?;
    if chess::is_chess(&input.schema()?) {
        return chess::check_deeply(&arguments.file, arguments.sample, &arguments.work);
    }
    let records = input.records();
    let bar = arguments
        .work
        .progress(arguments.sample.min(records.len()), "positions");
    let progress = |done| {
        bar.set_position(done);
        interrupted()
    };
    let checked = deep::check(
        records,
        &input.schema()?,
        arguments.sample,
        arguments.seed,
        &progress,
    )?;
    bar.finish_and_clear();
    let file = arguments.file.display();
    if let Some(first) = checked.first {
        println!(
            "{file}: {} of {} positions do not follow from their successors; the first is position {}, \
             whose value {} is {} where {} to {} follows",
            checked.different,
            checked.positions,
            first.number,
            first.value,
            first.found,
            first.expected.0,
            first.expected.1
        );
        return Ok(Outcome::Differs);
    }
    if !arguments.work.quiet {
        println!(
            "{file}: {} positions follow from their successors",
            grouped(checked.positions)
        );
    }
    Ok(Outcome::Done)
}

/// Checks the file itself.
fn verify(arguments: &Arguments) -> Ran {
    let source = FileSource::open(&arguments.file)?;
    let bar = arguments.work.progress(0, "positions");
    let verified = table::verify(
        &source,
        Some(&|done| {
            bar.set_position(done);
            interrupted()
        }),
    )?;
    bar.finish_and_clear();
    if !arguments.work.quiet {
        println!(
            "{}: sound; {} positions in {} blocks, content CRC-32 {:08x}",
            arguments.file.display(),
            grouped(verified.positions),
            grouped(verified.blocks),
            verified.content_crc32
        );
    }
    Ok(Outcome::Done)
}

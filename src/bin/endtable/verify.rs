//! `endtable verify`: every checksum, every block, the content's checksum.

use std::path::PathBuf;

use clap::Args;
use endtable::source::FileSource;
use endtable::table;

use crate::common::{Outcome, Ran, WorkArguments, catch_interrupts, grouped, interrupted};

/// Check every checksum, decode every block, compare the content's checksum
#[derive(Args)]
pub(crate) struct Arguments {
    /// A table
    file: PathBuf,
    #[command(flatten)]
    work: WorkArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    arguments.work.start()?;
    catch_interrupts();
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

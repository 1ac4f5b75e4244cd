//! `endtable transcode`: between tables of any codec and gnubg's databases.

use std::path::{Path, PathBuf};

use clap::Args;
use endtable::bearoff::gnubg::{self, Export, Kind};
use endtable::bearoff::{Database, schema};
use endtable::format::Schema;
use endtable::table::{Coarse, WriteOptions, write};
use endtable::{Error, Result};

use crate::common::{
    Outcome, PackingArguments, Ran, WorkArguments, catch_interrupts, grouped, interrupted, open,
    started,
};

/// Write a table or a gnubg database in another form
///
/// IN may be a table (.etb) with any codec or a gnubg database of any kind; it is known by its
/// content. What OUT becomes follows from its name: .etb or .bd. Both are lossless.
#[derive(Args)]
pub(crate) struct Arguments {
    /// File to read
    input: PathBuf,
    /// File to write, ending in .etb or .bd
    output: PathBuf,
    #[command(flatten)]
    packing: PackingArguments,
    #[command(flatten)]
    work: WorkArguments,
    /// Round distributions, for a smaller table: no chance is off by more than E, sums stay
    /// exact, and the table says so
    #[arg(long, value_name = "E", conflicts_with = "gnubg_raw")]
    max_error: Option<f64>,
    /// Write a one-sided .bd uncompressed
    #[arg(long)]
    gnubg_raw: bool,
    /// Replace OUT if it exists, and write a .bd that gnubg itself cannot read
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    started();
    arguments.work.start()?;
    let input = open(&arguments.input)?;
    catch_interrupts();
    let bytes = match extension(&arguments.output)? {
        Extension::Table => to_table(arguments, &input)?,
        Extension::Gnubg => to_gnubg(arguments, &input)?,
    };
    if !arguments.work.quiet {
        let seconds = started().elapsed().as_secs_f64();
        eprintln!(
            "{} positions, {} -> {} bytes ({:.2} times smaller) in {seconds:.2} s",
            grouped(input.records().len()),
            grouped(input.file_bytes()),
            grouped(bytes),
            input.file_bytes() as f64 / bytes as f64,
        );
    }
    Ok(Outcome::Done)
}

enum Extension {
    Table,
    Gnubg,
}

fn extension(path: &Path) -> Result<Extension> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("etb") => Ok(Extension::Table),
        Some("bd") => Ok(Extension::Gnubg),
        _ => Err(Error::invalid(format!(
            "{}: the name must end in .etb (a table) or .bd (a gnubg database)",
            path.display()
        ))),
    }
}

fn to_table(arguments: &Arguments, input: &Database) -> Result<u64> {
    let packing = arguments.packing.packing();
    let mut schema = match input {
        Database::Table(reader) => packing.apply(reader.schema().clone()),
        Database::Gnubg(file) => schema::schema(file.kind(), &packing)?,
    };
    if let Database::Gnubg(file) = input {
        note_origin(&mut schema, file.kind());
    }
    let bar = arguments.work.progress(schema.positions, "positions");
    let progress = |done| {
        bar.set_position(done);
        interrupted()
    };
    let options = WriteOptions {
        force: arguments.force,
        progress: Some(&progress),
    };
    let summary = match arguments.max_error {
        Some(error) => {
            let coarse = Coarse::new(input.records(), &schema, error)?;
            write(
                &coarse,
                coarse.schema().clone(),
                &arguments.output,
                &options,
            )?
        }
        None => write(input.records(), schema, &arguments.output, &options)?,
    };
    bar.finish_and_clear();
    Ok(summary.file_bytes)
}

/// Keeps the foreign header, so that one can see where a table came from.
fn note_origin(schema: &mut Schema, kind: Kind) {
    let header = kind.header();
    let text = String::from_utf8_lossy(&header);
    let text = text.trim_end_matches('\n').trim_end_matches('x');
    schema.properties = std::mem::take(&mut schema.properties).with_text("made_from", text);
}

fn to_gnubg(arguments: &Arguments, input: &Database) -> Result<u64> {
    if arguments.max_error.is_some() {
        return Err(Error::invalid(
            "--max-error: a .bd has no place for a bound of error; choose an output that ends in .etb",
        ));
    }
    let mut kind = match input {
        Database::Gnubg(file) => file.kind(),
        Database::Table(reader) => schema::kind(reader.schema())?,
    };
    if let Kind::OneSided { compressed, .. } = &mut kind {
        *compressed = !arguments.gnubg_raw;
    } else if arguments.gnubg_raw {
        return Err(Error::invalid(
            "--gnubg-raw: only one-sided distributions have a compressed form to be without",
        ));
    }
    let bar = arguments.work.progress(input.records().len(), "positions");
    let progress = |done| {
        bar.set_position(done);
        interrupted()
    };
    let export = Export {
        overwrite: arguments.force,
        beyond_gnubg: arguments.force,
    };
    gnubg::write(&arguments.output, kind, input.records(), export, &progress)?;
    bar.finish_and_clear();
    let written = std::fs::metadata(&arguments.output)
        .map_err(|e| Error::io("ask for the file's length", e).in_file(&arguments.output))?;
    Ok(written.len())
}

//! `endtable stats`: what the data is, and what each way to store it needs.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use endtable::bearoff::Database;
use endtable::bearoff::schema::{CERTAIN, Packing};
use endtable::bearoff::statistics::Distributions;
use endtable::codec;
use endtable::format::Schema;
use endtable::table::{WriteOptions, write};
use endtable::{Error, Result};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::common::{
    Outcome, Ran, WorkArguments, catch_interrupts, grouped, interrupted, open, print_json,
};

/// Count a table's values, and what each storage scheme needs for them
///
/// For one-sided databases this is the table of the post that asked for a better way to store
/// them: non-zero values, and the bytes of each scheme. The codecs are measured by encoding.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A table, or a gnubg database
    file: PathBuf,
    /// Leave out the codecs, which take the longest
    #[arg(long)]
    no_codecs: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    work: WorkArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    arguments.work.start()?;
    catch_interrupts();
    let database = open(&arguments.file)?;
    let schema = database.schema()?;
    if crate::chess::is_chess(&schema) {
        return crate::chess::stats(&arguments.file, arguments.json);
    }
    let distributions = match schema.properties.text("content") {
        Some("bearoff one-sided")
            if schema
                .columns
                .iter()
                .flat_map(|c| &c.fields)
                .all(|f| f.bits == 16) =>
        {
            Some(Distributions::count(database.records(), CERTAIN)?)
        }
        _ => None,
    };
    let fields = ranges(&database, &schema)?;
    let raw = schema.positions * schema.record_bytes() as u64;
    let mut schemes: Vec<(String, u64)> = match &distributions {
        Some(counted) => counted
            .schemes()
            .into_iter()
            .map(|s| (s.name, s.bytes))
            .collect(),
        None => vec![("raw".into(), raw)],
    };
    if !arguments.no_codecs {
        for name in codec::NAMES {
            match encoded_bytes(arguments, &database, &schema, name) {
                Ok(bytes) => schemes.push((format!("codec {name}"), bytes)),
                // A codec that is made for other tables has no size to tell.
                Err(Error::Invalid { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    if arguments.json {
        let mut report = json!({
            "positions": schema.positions,
            "fields": fields.iter().map(Range::json).collect::<Vec<_>>(),
            "schemes": schemes.iter().map(|(name, bytes)| json!({ "scheme": name, "bytes": bytes })).collect::<Vec<_>>(),
        });
        if let Some(counted) = &distributions {
            report["elements"] = json!(counted.elements());
            report["non_zero"] = json!(counted.non_zero);
            report["zero"] = json!(counted.elements() - counted.non_zero);
            report["longest_runs"] = json!(counted.longest());
            report["normal_largest_error"] = json!(counted.normal_largest_error);
            report["normal_mean_error"] = json!(counted.normal_mean_error);
        }
        print_json(&report)?;
        return Ok(Outcome::Done);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<44}{:>16}", "positions", grouped(schema.positions))?;
    if let Some(counted) = &distributions {
        let longest = counted.longest();
        writeln!(out, "{:<44}{:>16}", "elements", grouped(counted.elements()))?;
        writeln!(out, "{:<44}{:>16}", "  non-zero", grouped(counted.non_zero))?;
        writeln!(
            out,
            "{:<44}{:>16}",
            "  zero",
            grouped(counted.elements() - counted.non_zero)
        )?;
        writeln!(out, "{:<44}{:>16}", "  most in a record's win", longest[0])?;
        if counted.fields > 1 {
            writeln!(
                out,
                "{:<44}{:>16}",
                "  most in a record's gammon", longest[1]
            )?;
        }
    }
    for field in &fields {
        writeln!(
            out,
            "{:<44}{:>16}",
            format!(
                "field {}: values from {} to {}, zero",
                field.name, field.least, field.greatest
            ),
            grouped(field.zero)
        )?;
    }
    writeln!(
        out,
        "\n{:<44}{:>16}{:>14}",
        "stored as", "bytes", "a position"
    )?;
    for (name, bytes) in &schemes {
        let each = *bytes as f64 / schema.positions.max(1) as f64;
        writeln!(out, "{name:<44}{:>16}{each:>14.3}", grouped(*bytes))?;
    }
    if let Some(counted) = &distributions {
        writeln!(
            out,
            "\na normal distribution of the same mean and deviation is off by up to {:.5}, {:.6} on average",
            counted.normal_largest_error, counted.normal_mean_error
        )?;
    }
    Ok(Outcome::Done)
}

/// The values of a field.
struct Range {
    name: String,
    least: f64,
    greatest: f64,
    zero: u64,
}

impl Range {
    fn json(&self) -> Value {
        json!({ "name": self.name, "least": self.least, "greatest": self.greatest, "zero_values": self.zero })
    }
}

fn ranges(database: &Database, schema: &Schema) -> Result<Vec<Range>> {
    let width = schema.width();
    let step = 8192;
    let firsts: Vec<u64> = (0..schema.positions).step_by(step).collect();
    let of_value = || vec![(u32::MAX, 0u32, 0u64); width];
    let merged = firsts
        .into_par_iter()
        .map(|first| {
            interrupted()?;
            let count = (schema.positions - first).min(step as u64) as usize;
            let mut values = vec![0; count * width];
            database.records().read(first, &mut values)?;
            let mut seen = of_value();
            for record in values.chunks_exact(width) {
                for ((least, greatest, zero), &value) in seen.iter_mut().zip(record) {
                    *least = (*least).min(value);
                    *greatest = (*greatest).max(value);
                    *zero += u64::from(value == 0);
                }
            }
            Ok::<_, Error>(seen)
        })
        .try_reduce(of_value, |mut a, b| {
            for (a, b) in a.iter_mut().zip(b) {
                *a = (a.0.min(b.0), a.1.max(b.1), a.2 + b.2);
            }
            Ok(a)
        })?;
    let mut rest = merged.as_slice();
    let mut out = Vec::new();
    for field in schema.columns.iter().flat_map(|c| &c.fields) {
        let (head, tail) = rest.split_at(field.count as usize);
        rest = tail;
        let least = head.iter().map(|v| v.0).min().unwrap_or(0);
        let greatest = head.iter().map(|v| v.1).max().unwrap_or(0);
        out.push(Range {
            name: field.name.clone(),
            least: field.quantity(least),
            greatest: field.quantity(greatest),
            zero: head.iter().map(|v| v.2).sum(),
        });
    }
    Ok(out)
}

/// Bytes of a table with this codec, which is written and thrown away.
fn encoded_bytes(
    arguments: &Arguments,
    database: &Database,
    schema: &Schema,
    name: &str,
) -> Result<u64> {
    let folder = tempfile::tempdir().map_err(|e| Error::io("create a temporary folder", e))?;
    let bar = arguments.work.progress(schema.positions, name);
    let progress = |done| {
        bar.set_position(done);
        interrupted()
    };
    let options = WriteOptions {
        force: false,
        progress: Some(&progress),
    };
    let schema = Packing::codec(name).apply(schema.clone());
    let summary = write(
        database.records(),
        schema,
        &folder.path().join("table.etb"),
        &options,
    )?;
    bar.finish_and_clear();
    Ok(summary.file_bytes)
}

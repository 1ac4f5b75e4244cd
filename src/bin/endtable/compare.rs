//! `endtable compare`: same content, or the first difference.

use std::path::PathBuf;

use clap::Args;
use endtable::Error;
use endtable::bearoff::schema::same_meaning;
use endtable::format::Field;
use rayon::prelude::*;

use crate::common::{Outcome, Ran, WorkArguments, catch_interrupts, grouped, interrupted, open};

/// Positions that one task compares.
const STEP: u64 = 8192;

/// Say whether two files hold the same, or where they differ first
///
/// Both may be tables with any codec or gnubg databases. Exit code 1 when they differ.
#[derive(Args)]
pub(crate) struct Arguments {
    /// One file
    a: PathBuf,
    /// The other file
    b: PathBuf,
    #[command(flatten)]
    work: WorkArguments,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    arguments.work.start()?;
    catch_interrupts();
    let (a, b) = (open(&arguments.a)?, open(&arguments.b)?);
    let (schema, other) = (a.schema()?, b.schema()?);
    if !same_meaning(&schema, &other) {
        println!(
            "differ: {} positions numbered by {} against {} by {}, or other fields; `endtable info` shows both",
            grouped(schema.positions),
            schema.numbering.name,
            grouped(other.positions),
            other.numbering.name
        );
        return Ok(Outcome::Differs);
    }
    let width = schema.width();
    let bar = arguments.work.progress(schema.positions, "positions");
    let batch = STEP * 8 * rayon::current_num_threads() as u64;
    let mut next = 0;
    while next < schema.positions {
        interrupted()?;
        let end = (next + batch).min(schema.positions);
        let firsts: Vec<u64> = (next..end).step_by(STEP as usize).collect();
        let differences: Vec<Result<Option<Difference>, Error>> = firsts
            .into_par_iter()
            .map(|first| {
                let count = (end - first).min(STEP) as usize;
                let (mut x, mut y) = (vec![0; count * width], vec![0; count * width]);
                a.records().read(first, &mut x)?;
                b.records().read(first, &mut y)?;
                Ok(x.iter()
                    .zip(&y)
                    .position(|(x, y)| x != y)
                    .map(|i| Difference {
                        number: first + (i / width) as u64,
                        value: i % width,
                        a: x[i],
                        b: y[i],
                    }))
            })
            .collect();
        for difference in differences {
            if let Some(difference) = difference? {
                bar.finish_and_clear();
                let fields: Vec<&Field> = schema.columns.iter().flat_map(|c| &c.fields).collect();
                println!("differ: {}", difference.describe(&fields));
                return Ok(Outcome::Differs);
            }
        }
        next = end;
        bar.set_position(next);
    }
    bar.finish_and_clear();
    if !arguments.work.quiet {
        println!("same: {} positions", grouped(schema.positions));
    }
    Ok(Outcome::Done)
}

struct Difference {
    number: u64,
    value: usize,
    a: u32,
    b: u32,
}

impl Difference {
    fn describe(&self, fields: &[&Field]) -> String {
        let mut at = self.value;
        for field in fields {
            if at < field.count as usize {
                return format!(
                    "position {}, field '{}', value {at}: {} against {}",
                    self.number, field.name, self.a, self.b
                );
            }
            at -= field.count as usize;
        }
        format!(
            "position {}, value {}: {} against {}",
            self.number, self.value, self.a, self.b
        )
    }
}

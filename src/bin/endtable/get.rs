//! `endtable get`: the record of positions.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use endtable::bearoff::Database;
use endtable::bearoff::board::pips;
use endtable::bearoff::distribution::{effective_pips, mean_and_deviation};
use endtable::bearoff::lookup::{Positions, parse_number};
use endtable::bearoff::schema::ROLLS;
use endtable::format::{Field, Schema};
use endtable::{Error, Result};
use serde_json::{Map, Value, json};

use crate::chess;
use crate::common::{Failure, Outcome, Ran, open, positions, print_json};

/// Show the record of positions
///
/// A position is a number, or what players write: one side as `6:2 5:3 1:1` or as counts from the
/// ace-point `1,0,0,0,3,2`, two sides as `6:2 / 5:1`, a Position ID or an XGID;
/// in chess tables a FEN, which is answered with the help of the other tables in the folder. `-` reads positions
/// from standard input, one a line.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A table, or a gnubg database
    file: PathBuf,
    /// Positions, or - for standard input
    #[arg(required = true, value_name = "POSITION")]
    positions: Vec<String>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    let database = open(&arguments.file)?;
    let schema = database.schema()?;
    if chess::is_chess(&schema)
        && !arguments
            .positions
            .iter()
            .any(|p| parse_number(p).is_some())
    {
        let asked = positions(&arguments.positions);
        return chess::answer(chess::folder_of(&arguments.file), asked, arguments.json);
    }
    let domain = Positions::of(&schema);
    let mut outcome = Outcome::Done;
    let mut several = false;
    for text in positions(&arguments.positions) {
        let text = text?;
        match look_up(&database, &schema, domain.as_ref(), &text) {
            Ok(record) if arguments.json => print_json(&record.json(&text, &schema))?,
            Ok(record) => {
                if std::mem::replace(&mut several, true) {
                    writeln!(std::io::stdout())?;
                }
                record.print(&schema)?;
            }
            Err(error) if arguments.json => {
                print_json(&json!({ "position": text, "error": error.to_string() }))?;
                outcome = Outcome::Differs;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(outcome)
}

/// A record and what is known of its position.
struct Record {
    number: u64,
    notation: Option<String>,
    pips: Option<u32>,
    values: Vec<u32>,
}

fn look_up(
    database: &Database,
    schema: &Schema,
    domain: Option<&Positions>,
    text: &str,
) -> Result<Record> {
    let number = match domain {
        Some(domain) => domain.parse(text)?,
        None => parse_number(text).ok_or_else(|| {
            Error::invalid(format!(
                "'{text}' is no number, which is what this table goes by"
            ))
        })?,
    };
    let mut values = vec![0; schema.width()];
    match database {
        Database::Table(reader) => reader.get(number, &mut values)?,
        Database::Gnubg(file) => file.read(number, &mut values)?,
    }
    let side = match domain {
        Some(Positions::Side(_)) => domain.map(|d| d.on_roll(number)).transpose()?,
        _ => None,
    };
    Ok(Record {
        number,
        notation: domain.map(|d| d.format(number)).transpose()?,
        pips: side.map(|side| pips(&side)),
        values,
    })
}

impl Record {
    /// Each field with its raw values.
    fn fields<'a>(&'a self, schema: &'a Schema) -> impl Iterator<Item = (&'a Field, &'a [u32])> {
        let mut rest = self.values.as_slice();
        schema
            .columns
            .iter()
            .flat_map(|c| &c.fields)
            .map(move |field| {
                let (head, tail) = rest.split_at(field.count as usize);
                rest = tail;
                (field, head)
            })
    }

    fn json(&self, asked: &str, schema: &Schema) -> Value {
        let mut out = Map::new();
        out.insert("position".into(), json!(asked));
        out.insert("number".into(), json!(self.number));
        if let Some(notation) = &self.notation {
            out.insert("notation".into(), json!(notation));
        }
        if let Some(pips) = self.pips {
            out.insert("pips".into(), json!(pips));
        }
        for (field, raw) in self.fields(schema) {
            let numbers: Vec<f64> = raw.iter().map(|&v| field.quantity(v)).collect();
            let value = match numbers.as_slice() {
                [one] => json!(one),
                many => json!(many),
            };
            out.insert(field.name.clone(), value);
            if is_distribution(field) {
                let (mean, deviation) = mean_and_deviation(raw);
                out.insert(format!("{}_mean_rolls", field.name), json!(mean));
                out.insert(format!("{}_deviation_rolls", field.name), json!(deviation));
                if let (Some(pips), "win") = (self.pips, field.name.as_str()) {
                    let effective = effective_pips(mean);
                    out.insert("epc".into(), json!(effective));
                    out.insert("wastage".into(), json!(effective - f64::from(pips)));
                }
            }
        }
        Value::Object(out)
    }

    fn print(&self, schema: &Schema) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        write!(out, "position {}", self.number)?;
        if let Some(notation) = &self.notation {
            write!(out, ": {notation}")?;
        }
        if let Some(pips) = self.pips {
            write!(out, " ({pips} pips)")?;
        }
        writeln!(out)?;
        let (distributions, others): (Vec<_>, Vec<_>) = self
            .fields(schema)
            .partition(|(field, _)| is_distribution(field));
        if let Some(end) = distributions
            .iter()
            .filter_map(|(_, raw)| raw.iter().rposition(|&v| v != 0))
            .max()
        {
            write!(out, "rolls")?;
            for (field, _) in &distributions {
                write!(out, "{:>12}", field.name)?;
            }
            writeln!(out)?;
            for roll in 0..=end {
                write!(out, "{roll:>5}")?;
                for (field, raw) in &distributions {
                    write!(out, "{:>11.3}%", 100.0 * field.quantity(raw[roll]))?;
                }
                writeln!(out)?;
            }
        }
        for (field, raw) in &distributions {
            let (mean, deviation) = mean_and_deviation(raw);
            write!(
                out,
                "{:<8}mean {mean:.3} rolls, deviation {deviation:.3}",
                field.name
            )?;
            if let (Some(pips), "win") = (self.pips, field.name.as_str()) {
                let effective = effective_pips(mean);
                write!(
                    out,
                    ", effective pip count {effective:.3}, wastage {:.3}",
                    effective - f64::from(pips)
                )?;
            }
            writeln!(out)?;
        }
        for (field, raw) in others {
            write!(out, "{:<18}", field.name)?;
            for &value in raw {
                write!(out, " {:>10.6}", field.quantity(value))?;
            }
            match field.properties.text("unit") {
                Some(unit) => writeln!(out, " {unit}")?,
                None => writeln!(out)?,
            }
        }
        Ok(())
    }
}

/// Whether a field holds the chances of each number of rolls.
fn is_distribution(field: &Field) -> bool {
    field.count as usize == ROLLS && field.properties.text("unit") == Some("probability")
}

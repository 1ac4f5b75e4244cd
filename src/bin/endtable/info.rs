//! `endtable info`: what a table says of itself.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use endtable::bearoff::Database;
use endtable::format::{FORMAT_MAJOR, Kind, Schema};
use endtable::{Properties, Value};
use serde_json::{Map, json};

use crate::common::{Outcome, Ran, grouped, open, print_json};

/// Tell what a table says of itself
#[derive(Args)]
pub(crate) struct Arguments {
    /// A table, or a gnubg database
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    let database = open(&arguments.file)?;
    let schema = database.schema()?;
    let report = report(&database, &schema);
    if arguments.json {
        print_json(&report)?;
        return Ok(Outcome::Done);
    }
    let mut out = std::io::stdout().lock();
    let content = schema.properties.text("content").unwrap_or("records");
    match &database {
        Database::Table(reader) => {
            let header = reader.header();
            writeln!(
                out,
                "{content}, table format {FORMAT_MAJOR}.{}",
                header.minor
            )?;
        }
        Database::Gnubg(file) => {
            let header = file.kind().header();
            let text = String::from_utf8_lossy(&header);
            writeln!(
                out,
                "{content}, gnubg database {}",
                text.trim_end().trim_end_matches('x')
            )?;
        }
    }
    writeln!(out, "{:<18}{}", "positions", grouped(schema.positions))?;
    writeln!(
        out,
        "{:<18}{} ({:.3} a position; {} raw)",
        "bytes",
        grouped(database.file_bytes()),
        database.file_bytes() as f64 / schema.positions.max(1) as f64,
        grouped(schema.positions * schema.record_bytes() as u64),
    )?;
    writeln!(
        out,
        "{:<18}{} {}{}",
        "numbering",
        schema.numbering.name,
        schema.numbering.version,
        listed(&schema.numbering.params)
    )?;
    if let Database::Table(reader) = &database {
        writeln!(
            out,
            "{:<18}{} bytes",
            "block index",
            grouped(reader.index_bytes())
        )?;
        writeln!(
            out,
            "{:<18}{:08x}",
            "content CRC-32",
            reader.content_crc32()
        )?;
        for (key, value) in schema
            .properties
            .iter()
            .filter(|(key, _)| *key != "content")
        {
            writeln!(out, "{key:<18}{}", plain(value))?;
        }
        for (i, column) in schema.columns.iter().enumerate() {
            writeln!(
                out,
                "column {:<11}{} bytes, codec {} in blocks of {}, {} positions from {}{}",
                column.name,
                grouped(reader.column_bytes(i)),
                column.codec.name,
                column.block_positions,
                grouped(column.count),
                grouped(column.first),
                match &column.order {
                    Some(order) => format!(", order {}", order.name),
                    None => String::new(),
                }
            )?;
            for field in &column.fields {
                let kind = match field.kind {
                    Kind::Unsigned => "unsigned",
                    Kind::Signed => "signed",
                    Kind::Float => "float",
                };
                writeln!(
                    out,
                    "  field {:<10}{} x {kind} of {} bits{}",
                    field.name,
                    field.count,
                    field.bits,
                    listed(&field.properties)
                )?;
            }
        }
    }
    Ok(Outcome::Done)
}

fn report(database: &Database, schema: &Schema) -> serde_json::Value {
    let columns: Vec<_> = schema
        .columns
        .iter()
        .enumerate()
        .map(|(i, column)| {
            let fields: Vec<_> = column
                .fields
                .iter()
                .map(|f| {
                    let kind = match f.kind {
                        Kind::Unsigned => "unsigned",
                        Kind::Signed => "signed",
                        Kind::Float => "float",
                    };
                    json!({
                        "name": f.name, "kind": kind, "bits": f.bits, "values": f.count, "bias": f.bias,
                        "minimum": f.minimum, "maximum": f.maximum, "properties": object(&f.properties),
                    })
                })
                .collect();
            let mut out = json!({
                "name": column.name, "first_position": column.first, "positions": column.count,
                "codec": column.codec.name, "codec_version": column.codec.version,
                "block_positions": column.block_positions, "fields": fields,
            });
            if let Some(order) = &column.order {
                out["order"] = json!({ "name": order.name, "params": object(&order.params) });
            }
            if let Database::Table(reader) = database {
                out["codec_params"] = object(&column.codec.params);
                out["column_bytes"] = json!(reader.column_bytes(i));
            }
            out
        })
        .collect();
    let mut out = json!({
        "positions": schema.positions,
        "file_bytes": database.file_bytes(),
        "record_bytes": schema.record_bytes(),
        "numbering": {
            "name": schema.numbering.name,
            "version": schema.numbering.version,
            "params": object(&schema.numbering.params),
        },
        "columns": columns,
        "properties": object(&schema.properties),
    });
    match database {
        Database::Table(reader) => {
            out["format_version"] = json!(format!("{FORMAT_MAJOR}.{}", reader.header().minor));
            out["content_crc32"] = json!(format!("{:08x}", reader.content_crc32()));
            out["index_bytes"] = json!(reader.index_bytes());
        }
        Database::Gnubg(_) => out["format_version"] = json!("gnubg"),
    }
    out
}

fn object(properties: &Properties) -> serde_json::Value {
    let pairs = properties.iter().map(|(key, value)| {
        let value = match value {
            Value::Unsigned(v) => json!(v),
            Value::Signed(v) => json!(v),
            Value::Text(v) => json!(v),
            Value::Bytes(v) => json!({ "bytes": v.len() }),
        };
        (key.to_owned(), value)
    });
    serde_json::Value::Object(pairs.collect::<Map<_, _>>())
}

fn plain(value: &Value) -> String {
    match value {
        Value::Unsigned(v) => v.to_string(),
        Value::Signed(v) => v.to_string(),
        Value::Text(v) => v.clone(),
        Value::Bytes(v) => format!("({} bytes)", v.len()),
    }
}

/// The pairs in a row, each with a comma in front.
fn listed(properties: &Properties) -> String {
    properties
        .iter()
        .map(|(key, value)| format!(", {key} {}", plain(value)))
        .collect()
}

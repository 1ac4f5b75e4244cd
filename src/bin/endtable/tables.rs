//! `endtable tables`: the tables that are found without a path.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use endtable::bearoff::database::is_known;
use endtable::table::library;
use serde_json::json;

use crate::common::{Outcome, Ran, grouped, open, print_json};

/// List the tables found in ENDTABLE_PATH and in the user's data folder
///
/// Files are known by their content, whatever their names. `endtable eval` and `endtable rollout` use what is listed here.
/// Exit code 1 when one of them cannot be opened.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    let places = library::search_path();
    let mut tables = Vec::new();
    let mut outcome = Outcome::Done;
    for path in library::find(&places, is_known) {
        let opened = open(&path).and_then(|database| Ok((database.schema()?, database)));
        tables.push(match opened {
            Ok((schema, database)) => json!({
                "path": path,
                "content": schema.properties.text("content").unwrap_or("records"),
                "positions": schema.positions,
                "file_bytes": database.file_bytes(),
            }),
            Err(error) => {
                outcome = Outcome::Differs;
                json!({ "path": path, "error": error.to_string() })
            }
        });
    }
    if arguments.json {
        print_json(&json!({ "search_path": places, "tables": tables }))?;
        return Ok(outcome);
    }
    let mut out = std::io::stdout().lock();
    for table in &tables {
        let path = table["path"].as_str().unwrap_or_default();
        match table["error"].as_str() {
            Some(error) => writeln!(out, "{path}  {error}")?,
            None => writeln!(
                out,
                "{path}  {}, {} positions, {} bytes",
                table["content"].as_str().unwrap_or_default(),
                grouped(table["positions"].as_u64().unwrap_or_default()),
                grouped(table["file_bytes"].as_u64().unwrap_or_default())
            )?,
        }
    }
    if tables.is_empty() {
        let listed: Vec<String> = places
            .iter()
            .map(|p: &PathBuf| p.display().to_string())
            .collect();
        eprintln!(
            "endtable: no table in {}; put tables there, or name folders in {}",
            listed.join(", "),
            library::PATH_VARIABLE
        );
    }
    Ok(outcome)
}

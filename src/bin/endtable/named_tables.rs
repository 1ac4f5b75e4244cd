//! The bearoff tables that a verb uses: those that the call names, else those
//! that are found.

use std::path::{Path, PathBuf};

use clap::Args;
use endtable::bearoff::Database;
use endtable::bearoff::database::is_known;
use endtable::table::library;
use endtable::{Error, Result};

use crate::common::open;

/// Where tables are.
#[derive(Args)]
pub(crate) struct TableArguments {
    /// Use this table or gnubg database; may be given again
    #[arg(long = "table", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Use the tables in this folder; may be given again
    #[arg(long = "tables", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
}

impl TableArguments {
    /// Opens each table and hands it to `take`: the named files, which must
    /// open and suit, then what lies in the named folders or, where nothing
    /// is named, in those of `ENDTABLE_PATH` and the user. Of these, tables
    /// that don't suit are passed over in silence, damaged ones with a word.
    pub(crate) fn open(&self, mut take: impl FnMut(&Path, Database) -> Result<()>) -> Result<()> {
        for path in &self.files {
            take(path, open(path)?).map_err(|e| e.in_file(path))?;
        }
        for folder in &self.folders {
            if !folder.is_dir() {
                let message = format!("{}: no folder; name one with tables", folder.display());
                return Err(Error::invalid(message));
            }
        }
        let places = match self.files.is_empty() && self.folders.is_empty() {
            true => library::search_path(),
            false => self.folders.clone(),
        };
        for path in library::find(&places, is_known) {
            match open(&path).and_then(|database| take(&path, database)) {
                // Tables of other games lie in the same folders.
                Ok(()) | Err(Error::Unsupported { .. }) => {}
                Err(error) => eprintln!("endtable: passed over: {}", error.in_file(&path)),
            }
        }
        Ok(())
    }
}

//! A file of either make: a table of ours, or a database of gnubg's.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::gnubg::GnubgFile;
use super::schema::{self, Packing};
use crate::format::Schema;
use crate::table::{OpenOptions, Reader, Records, library};
use crate::{Error, Result};

/// Whether a file that begins with `start` is a database of gnubg's.
fn is_gnubg(start: &[u8]) -> bool {
    start.starts_with(b"gnubg-")
}

/// Whether a file that begins with `start` is of either make.
pub fn is_known(start: &[u8]) -> bool {
    library::is_table(start) || is_gnubg(start)
}

/// An open file, known by its content and never by its name.
#[derive(Debug)]
pub enum Database {
    /// A table of any game.
    Table(Box<Reader>),
    /// A database of gnubg's.
    Gnubg(Box<GnubgFile>),
}

impl Database {
    /// Opens `path` with positioned reads; see [`Database::open_with`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_with(path, |path| OpenOptions::new().open(path))
    }

    /// Opens `path`; a table is opened by `open_table`.
    ///
    /// Errors: [`Error::Corrupt`] when the file is of neither make; those of
    /// [`Reader`] and [`GnubgFile`].
    pub fn open_with(
        path: &Path,
        open_table: impl FnOnce(&Path) -> Result<Reader>,
    ) -> Result<Self> {
        let mut start = Vec::new();
        File::open(path)
            .and_then(|file| file.take(8).read_to_end(&mut start))
            .map_err(|e| Error::io("open the file", e).in_file(path))?;
        if is_gnubg(&start) {
            return GnubgFile::open(path).map(|file| Database::Gnubg(Box::new(file)));
        }
        if library::is_table(&start) || start.is_empty() {
            return open_table(path).map(|reader| Database::Table(Box::new(reader)));
        }
        Err(Error::corrupt(
            "H-2",
            format!(
                "neither an endtable file nor a gnubg database: it begins with '{}'; expected .etb or .bd data",
                start.escape_ascii()
            ),
        )
        .in_file(path))
    }

    /// What the records mean, in either case as the schema of a table.
    pub fn schema(&self) -> Result<Schema> {
        match self {
            Database::Table(reader) => Ok(reader.schema().clone()),
            Database::Gnubg(file) => schema::schema(file.kind(), &Packing::codec("stored")),
        }
    }

    /// Length of the file in bytes.
    pub fn file_bytes(&self) -> u64 {
        match self {
            Database::Table(reader) => reader.file_bytes(),
            Database::Gnubg(file) => file.file_bytes(),
        }
    }

    /// The records.
    pub fn records(&self) -> &dyn Records {
        match self {
            Database::Table(reader) => &**reader,
            Database::Gnubg(file) => &**file,
        }
    }
}

//! Why a position gets no answer; none of these is ever taken for a draw.

use std::path::PathBuf;

use super::Material;
use crate::Error;

/// Why a probe has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The text is no position.
    #[error("{0}")]
    Notation(String),
    /// Tables know nothing of castling.
    #[error(
        "the position has castling rights, which tables do not cover; search it until they are gone"
    )]
    CastlingRights,
    /// The rules of chess don't allow the position.
    #[error("illegal position: {0}")]
    IllegalPosition(String),
    /// More men than any table has.
    #[error("{men} men on the board; tables have at most {most}")]
    TooManyMen {
        /// Men on the board, kings included.
        men: usize,
        /// The most that a table can have.
        most: usize,
    },
    /// The folder has no table for this ending.
    #[error("no table {ending}.etb in {}; `endtable make chess {ending}` makes it", .folder.display())]
    MissingTable {
        /// The ending in the form that names its table.
        ending: Material,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// A table could not be read.
    #[error(transparent)]
    Table(#[from] Error),
}

impl From<ProbeError> for Error {
    fn from(error: ProbeError) -> Self {
        match error {
            ProbeError::Table(error) => error,
            other => Error::invalid(other.to_string()),
        }
    }
}

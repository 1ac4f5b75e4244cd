//! The one error type, sorted by whose fault it is.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::bearoff::NotCovered;

/// Shorthand for a result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, by fault: the machine, the data, this version, a limit
/// that the caller set, or the call itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed: the machine's fault.
    #[error("{}cannot {action}: {source}", Named(.path))]
    Io {
        /// The file, when one is known.
        path: Option<PathBuf>,
        /// What was tried, as an infinitive: "read 64 bytes at offset 0".
        action: String,
        /// The system's own error.
        source: io::Error,
    },
    /// The data breaks a rule of its format.
    #[error("{}corrupt{}: {message} [rule {rule}]", Named(.path), At(.offset))]
    Corrupt {
        /// The file, when one is known.
        path: Option<PathBuf>,
        /// Offset in the file, in bytes, when one is known.
        offset: Option<u64>,
        /// The rule of `spec/FORMAT.md` (or of a foreign format) that is broken.
        rule: &'static str,
        /// What was expected and what was found.
        message: String,
    },
    /// Well-formed, but made for something that this version does not know.
    #[error("{}unsupported: {message}", Named(.path))]
    Unsupported {
        /// The file, when one is known.
        path: Option<PathBuf>,
        /// What was found and what is supported.
        message: String,
    },
    /// More than the caller's [`crate::Limits`] allow.
    #[error("{}over the limit: {what} needs {needed}, {allowed} allowed; raise the limit if the file is trusted", Named(.path))]
    Limit {
        /// The file, when one is known.
        path: Option<PathBuf>,
        /// What is limited, with its unit.
        what: &'static str,
        /// How much the data asks for.
        needed: u64,
        /// How much is allowed.
        allowed: u64,
    },
    /// The call or its input is wrong.
    #[error("{message}")]
    Invalid {
        /// What was expected, what was found and what to do.
        message: String,
    },
    /// No open table covers the position.
    #[error("not covered: {0}")]
    NotCovered(NotCovered),
    /// The caller asked that the work be stopped.
    #[error("interrupted")]
    Interrupted,
}

struct Named<'a>(&'a Option<PathBuf>);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(path) => write!(f, "{}: ", path.display()),
            None => Ok(()),
        }
    }
}

struct At<'a>(&'a Option<u64>);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(offset) => write!(f, " at offset {offset}"),
            None => Ok(()),
        }
    }
}

impl Error {
    /// The data breaks `rule`.
    pub fn corrupt(rule: &'static str, message: impl Into<String>) -> Self {
        Error::Corrupt {
            path: None,
            offset: None,
            rule,
            message: message.into(),
        }
    }

    /// The data asks for something that this version does not know.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Error::Unsupported {
            path: None,
            message: message.into(),
        }
    }

    /// The call is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Error::Invalid {
            message: message.into(),
        }
    }

    /// An operation of the system failed; `action` is an infinitive.
    pub fn io(action: impl Into<String>, source: io::Error) -> Self {
        Error::Io {
            path: None,
            action: action.into(),
            source,
        }
    }

    /// Names the file, unless one is named already.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        match &mut self {
            Error::Io { path, .. }
            | Error::Corrupt { path, .. }
            | Error::Unsupported { path, .. }
            | Error::Limit { path, .. } => {
                path.get_or_insert_with(|| file.to_path_buf());
            }
            Error::Invalid { .. } | Error::NotCovered(_) | Error::Interrupted => {}
        }
        self
    }

    /// Names the offset in the file, unless one is named already.
    #[must_use]
    pub fn at(mut self, position: u64) -> Self {
        if let Error::Corrupt { offset, .. } = &mut self {
            offset.get_or_insert(position);
        }
        self
    }
}

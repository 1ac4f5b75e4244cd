//! What an untrusted file may make a reader allocate.

use crate::{Error, Result};

/// Upper bounds, in bytes, fixed when a table is opened. Each count in a file
/// is compared with the file's length and with these before memory is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Header and schema, codec models included.
    pub schema_bytes: u64,
    /// Block index.
    pub index_bytes: u64,
    /// One decoded block of one column.
    pub block_bytes: u64,
}

impl Default for Limits {
    /// Generous for every table that this version writes, small enough that a
    /// hostile file cannot exhaust a small machine.
    fn default() -> Self {
        Limits {
            schema_bytes: 64 << 20,
            index_bytes: 1 << 30,
            block_bytes: 64 << 20,
        }
    }
}

impl Limits {
    /// Checks `needed` bytes of `what` against `allowed`.
    pub(crate) fn check(what: &'static str, needed: u64, allowed: u64) -> Result<()> {
        if needed > allowed {
            return Err(Error::Limit {
                path: None,
                what,
                needed,
                allowed,
            });
        }
        Ok(())
    }
}

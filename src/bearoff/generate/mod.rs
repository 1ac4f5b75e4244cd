//! Generators: bearoff tables from the rules of the game.

mod one_sided;
mod two_sided;
mod working;

pub use one_sided::{Form, OneSided, OneSidedRecords};
pub use two_sided::{TwoSided, TwoSidedRecords};
pub use working::Keep;

use crate::table::Records;
use crate::{Error, Result};

/// What making a table takes, estimated before it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needs {
    /// Bytes of memory, without the finished layers.
    pub memory_bytes: u64,
    /// Bytes of the finished layers, wherever they are kept.
    pub layer_bytes: u64,
}

/// Refuses records that are not there.
fn check_range(records: &dyn Records, first: u64, values: usize) -> Result<()> {
    let width = records.width();
    let end = first.checked_add((values / width) as u64);
    if values.is_multiple_of(width) && end.is_some_and(|end| end <= records.len()) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "{values} values from record {first} on, of {} records of {width} values",
        records.len()
    )))
}

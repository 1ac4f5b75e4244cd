//! Numberings: bijections between positions and `0..len`. Combinatorics only.

mod flat;
mod flat_plan;
pub mod kings;
mod multiset;
mod multiset_plan;
mod pair;
mod pair_plan;

use std::sync::Arc;

use crate::codec::Plan;
use crate::{Error, Properties, Result};

pub use flat::Flat;
pub use kings::{Kings, Tight};
pub use multiset::{MAX_CHEQUERS, MAX_POINTS, Multiset};
pub use pair::Pair;

/// A numbering as a table names it; the games add typed faces.
pub trait Numbering: Plan {
    /// The name in the file.
    fn name(&self) -> &'static str;

    /// Version of the named numbering; another version numbers otherwise.
    fn version(&self) -> u16;

    /// Parameters as stored in the file.
    fn params(&self) -> Properties;

    /// How many positions are numbered.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The numbering that a table names, from its name, version and parameters.
///
/// Errors: [`Error::Unsupported`] for a name or version that is not known
/// here, [`Error::Corrupt`] for parameters that the numbering does not allow.
pub fn open(name: &str, version: u16, params: &Properties) -> Result<Arc<dyn Numbering>> {
    match (name, version) {
        (Flat::NAME, 1) => Ok(Arc::new(Flat::from_params(params)?)),
        (Multiset::NAME, 1) => Ok(Arc::new(Multiset::from_params(params)?)),
        (Pair::NAME, 1) => Ok(Arc::new(Pair::from_params(params)?)),
        (Kings::NAME, 1) => Ok(Arc::new(Kings::from_params(params)?)),
        (Kings::NAME, 2) => Ok(Arc::new(Tight::from_params(params)?)),
        _ => Err(Error::unsupported(format!(
            "numbering `{name}` version {version}; this version knows {} 1, {} 1, {} 1, {} 1 and 2: \
             read the table with a newer endtable",
            Flat::NAME,
            Multiset::NAME,
            Pair::NAME,
            Kings::NAME
        ))),
    }
}

/// The unsigned parameter `key`, or an error of the file's.
fn required(params: &Properties, key: &str) -> Result<u64> {
    params.unsigned(key).ok_or_else(|| {
        Error::corrupt(
            "N-1",
            format!("the numbering has no unsigned parameter `{key}`"),
        )
    })
}

/// A parameter from a file that the constructor refused is the file's fault.
fn blame_file<T>(made: Result<T>) -> Result<T> {
    made.map_err(|error| match error {
        Error::Invalid { message } => Error::corrupt("N-2", message),
        other => other,
    })
}

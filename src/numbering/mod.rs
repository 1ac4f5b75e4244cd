//! Numberings: bijections between positions and `0..len`. Combinatorics only.

mod flat;
mod flat_plan;
mod grouped;
mod grouped_learn;
mod grouped_plan;
pub mod kings;
mod multiset;
mod multiset_plan;
mod pair;
mod pair_plan;
mod tiled;

use std::sync::Arc;

use crate::codec::Plan;
use crate::{Error, Properties, Result};

pub use flat::Flat;
pub use grouped::Grouped;
pub use grouped_learn::OrderLearner;
pub use kings::{Kings, Tight};
pub use multiset::{MAX_CHEQUERS, MAX_POINTS, Multiset};
pub use pair::Pair;
pub use tiled::Tiled;

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

    /// The order `name` of a part of the numbers.
    ///
    /// Errors: [`Error::Unsupported`] for a name that is not known here,
    /// [`Error::Corrupt`] for parameters that the order does not allow.
    fn order(&self, name: &str, _params: &Properties) -> Result<Arc<dyn Order>> {
        Err(unknown_order(self.name(), name))
    }

    /// What learns an order for a column of the numbers from `first` to the last, if
    /// there is such a thing.
    fn order_learner(&self, _first: u64) -> Option<OrderLearner> {
        None
    }
}

/// Another order of a range of numbers, in which a column may be stored: a
/// bijection between those numbers and as many *rows*, which are the same
/// numbers. Its plan tells of rows what that of the numbering tells of numbers.
pub trait Order: Plan {
    /// The name in the file.
    fn name(&self) -> &'static str;

    /// Parameters as stored in the file.
    fn params(&self) -> Properties;

    /// The numbers that it orders.
    fn range(&self) -> std::ops::Range<u64>;

    /// The row of a number of the range; any other number is its own.
    fn row_of(&self, number: u64) -> u64;

    /// The inverse of [`Order::row_of`].
    fn number_of(&self, row: u64) -> u64;
}

/// The error of an order that a numbering does not have.
fn unknown_order(numbering: &str, order: &str) -> Error {
    if [Grouped::NAME, Tiled::NAME].contains(&order) {
        return Error::corrupt(
            "N-3",
            format!("the numbering `{numbering}` has no order `{order}`"),
        );
    }
    Error::unsupported(format!(
        "order `{order}` of numbering `{numbering}`; this version knows `{}` of `{}` and `{}` of `{}`: \
         read the table with a newer endtable",
        Grouped::NAME,
        Multiset::NAME,
        Tiled::NAME,
        Pair::NAME
    ))
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

//! Numberings: bijections between positions and `0..len`. Combinatorics only.

use crate::Properties;
use crate::codec::Plan;

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

//! Finished records that can be read in number order.

use crate::Result;

/// The records of a finished table, `width` values each.
pub trait Records: Sync {
    /// Fills `out` with the records from number `first` on; its length is a
    /// multiple of the width. Several threads may read at once.
    fn read(&self, first: u64, out: &mut [u32]) -> Result<()>;
}

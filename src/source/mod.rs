//! Where a table's bytes come from: positioned reads from a file, a memory map
//! or memory.
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

mod file;
mod held;
mod memory;
pub(crate) mod positioned;
mod prefetch;

pub use file::{FileSource, MapSource};
pub(crate) use held::Held;
pub use memory::MemorySource;
pub(crate) use prefetch::prefetch;

use std::path::Path;

use crate::Result;

/// Bytes at offsets; shared by threads.
pub trait Source: Send + Sync {
    /// Length in bytes, fixed when the source was opened.
    fn len(&self) -> u64;

    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `out` with the bytes from `offset` on; an error when the source
    /// ends before that.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<()>;

    /// All bytes, when they lie in memory anyway.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }

    /// Name of the file for error messages.
    fn path(&self) -> Option<&Path> {
        None
    }
}

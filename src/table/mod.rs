//! Tables: writing, reading at random, and checking them. Joins format, codec,
//! numbering and source, and knows no game.

mod cache;
mod canonical;
mod coarse;
mod encode;
mod layout;
pub mod library;
mod order;
mod ordered;
mod reader;
mod verify;
mod writer;

pub use cache::{BlockCache, CacheStatistics};
pub use coarse::Coarse;
pub use reader::{Chunk, Chunks, OpenOptions, Reader};
pub use verify::{Verified, verify, verify_within};
pub use writer::{Summary, WriteOptions, Writer, write};

use crate::Result;

/// Finished records, readable by number: what a generator or an importer hands
/// to [`write()`], and what a [`Reader`] is.
pub trait Records: Sync {
    /// How many records there are.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values in a record.
    fn width(&self) -> usize;

    /// Fills `out` (a whole number of records) with the records from number
    /// `first` on, as raw values. Threads call it for ranges of their own.
    fn read(&self, first: u64, out: &mut [u32]) -> Result<()>;
}

//! GNU Backgammon's bearoff databases (`.bd`): reading and writing.
//!
//! The files are known by their content, never by their name. The layout:
//! a 40-byte ASCII header, then records without any checksum, so that a file
//! is held against everything that can be held against it: its exact length
//! when it is opened, and each offset, run and reserved byte when it is read.

mod file;
mod header;
mod record;
mod write;

pub use file::GnubgFile;
pub use header::Kind;
pub use write::{Export, write};

//! The bytes of a table that are not blocks: header, schema, block index and
//! footer, as `spec/FORMAT.md` lays them out. Slices only.
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

mod bytes;
mod footer;
mod header;
mod index;
mod schema;

pub use footer::{FOOTER_BYTES, Footer};
pub use header::{FORMAT_MAJOR, FORMAT_MINOR, HEADER_BYTES, Header};
pub use index::BlockIndex;
pub use schema::{
    CodecId, Column, Field, Kind, MOST_BLOCK_POSITIONS, NumberingId, OrderId, Schema,
};

/// Bytes of a block's checksum, which follows its payload.
pub const BLOCK_CHECKSUM_BYTES: usize = 4;

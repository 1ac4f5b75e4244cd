//! Codecs: the values of one block to bytes and back. Slices only.
//!
//! A block is `count` records of `width` values each; a value is an unsigned
//! number of at most 32 bits (signed and floating fields are mapped onto
//! those by [`crate::format`]).

use crate::{Properties, Result};

/// What a codec must know of the column that it serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Bits of each value of a record, 1 to 32; its length is the width.
    pub bits: Vec<u8>,
    /// Records in a full block.
    pub block_positions: u32,
}

impl Shape {
    /// Values in a record.
    pub fn width(&self) -> usize {
        self.bits.len()
    }
}

/// What a numbering knows about which records resemble each other: for each
/// slot of a block, up to [`Plan::kinds`] earlier slots of the same block.
pub trait Plan: Send + Sync {
    /// How many references a slot may have; the k-th always means the same
    /// relation (such as "highest chequer one pip lower").
    fn kinds(&self) -> usize;

    /// Fills `out` with `count × kinds()` slots for the block that starts at
    /// number `first`, slot-major; [`NO_SLOT`] where the relation leads out of
    /// the block or does not exist. Every other entry is less than its slot.
    fn references(&self, first: u64, count: usize, out: &mut Vec<u16>);
}

/// "No reference" in a [`Plan`].
pub const NO_SLOT: u16 = u16::MAX;

/// How a codec reaches one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// One record is decoded alone, straight from the block's bytes.
    Slot,
    /// Records are decoded in order, up to the one that is wanted.
    Block,
}

/// A way to turn a block's values into bytes and back.
pub trait Codec: Send + Sync {
    /// The name in the file.
    fn name(&self) -> &'static str;

    /// Parameters and model as stored in the file.
    fn params(&self) -> Properties;

    /// How one record is reached.
    fn access(&self) -> Access;

    /// Appends the bytes of a block that starts at number `first`.
    /// `values.len()` is a multiple of the width, at most a full block.
    fn encode(&self, first: u64, values: &[u32], plan: &dyn Plan, out: &mut Vec<u8>) -> Result<()>;

    /// Decodes the first `out.len() / width` of the block's `count` records.
    /// Any bytes may come in: the answer is values within their bit lengths or
    /// an error, never a panic.
    fn decode(&self, first: u64, count: usize, bytes: &[u8], plan: &dyn Plan, out: &mut [u32]) -> Result<()>;

    /// Decodes the record in `slot` into `out` (one record), for
    /// [`Access::Slot`] codecs without touching the others.
    fn decode_slot(
        &self,
        first: u64,
        count: usize,
        slot: usize,
        bytes: &[u8],
        plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()>;
}

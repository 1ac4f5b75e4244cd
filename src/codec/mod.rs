//! Codecs: the values of one block to bytes and back. Slices only.
//!
//! A block is `count` records of `width` values each; a value is an unsigned
//! number of at most 32 bits (signed and floating fields are mapped onto
//! those by [`crate::format`]).
#![cfg_attr(
    not(test),
    deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used)
)]

mod context;
mod lz4;
mod packed;
mod planes;
pub mod rans;
mod small;
mod stored;
mod zstd;

#[cfg(target_arch = "x86_64")]
pub use packed::Lanes;

use std::sync::Arc;

use crate::{Error, Properties, Result};

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

    /// Bytes of each value in canonical form.
    fn value_bytes(&self) -> impl Iterator<Item = usize> + '_ {
        self.bits.iter().map(|bits| usize::from(bits.div_ceil(8)))
    }

    /// Bytes of a record in canonical form.
    fn record_bytes(&self) -> usize {
        self.value_bytes().sum()
    }

    /// The greatest value that `bits` bits hold.
    fn largest(bits: u8) -> u32 {
        u32::MAX >> (32 - u32::from(bits.clamp(1, 32)))
    }
}

/// What a numbering knows about which records resemble each other.
pub trait Plan: Send + Sync {
    /// How many references a slot may have, at most [`MAX_KINDS`]; the k-th
    /// always means the same relation (such as "highest chequer one pip lower").
    fn kinds(&self) -> usize {
        0
    }

    /// Classes that [`Slot::class`] tells apart, at most 16.
    fn classes(&self) -> usize {
        1
    }

    /// Anchors that each of [`Slot::anchors`] tells apart, at most 65,536.
    fn anchors(&self) -> [usize; 2] {
        [1, 1]
    }

    /// Describes the records from number `first` on, one for each of `out`.
    fn describe(&self, _first: u64, out: &mut [Slot]) {
        out.fill(Slot::default());
    }

    /// The numbering's knowledge of rows of records, for codec `context`.
    fn rows(&self) -> Option<&dyn Rows> {
        None
    }
}

/// A numbering whose records come in rows that it knows much about. A row has 64
/// slots, and a number for each slot of [`Rows::slots`].
pub trait Rows: Send + Sync {
    /// The slots that have numbers, of every row alike: `0..64` or a part of it.
    fn slots(&self) -> std::ops::Range<usize>;

    /// Which of a record's values is coded first.
    fn first_value(&self) -> usize;

    /// What is known of the row that starts at number `first`, a multiple of the
    /// numbers of a row.
    fn row(&self, first: u64) -> Row;

    /// For each slot of a row the least of `values` over the slots that it is
    /// linked to (`i16::MAX` without any): what the value coded first says about
    /// the other one. `None` when the numbering knows no such links.
    fn outlook(&self, row: &Row, values: &[i16; 64]) -> Option<[i16; 64]>;
}

/// Bit sets over the 64 slots of a row; the arrays go by value of the record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Row {
    /// Slots that stand for a position; all others hold 0.
    pub present: [u64; 2],
    /// Two properties of slots that their values depend on.
    pub hints: [[u64; 2]; 2],
    /// Slots that links do not pass.
    pub blocked: u64,
}

/// The most references of a [`Slot`].
pub const MAX_KINDS: usize = 15;

/// What a [`Plan`] tells of one record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Slot {
    /// How many records back the reference of each kind is; 0 where the
    /// relation does not exist. The codec leaves out what lies before its block.
    pub back: [u16; MAX_KINDS + 1],
    /// Records of an anchor resemble each other wherever they are; a codec
    /// may choose between two ways to see it.
    pub anchors: [u16; 2],
    /// Records of a class depend on their references in the same way.
    pub class: u8,
    /// Whether the record probably equals the one before it. Such a record has
    /// no other references.
    pub tied: bool,
}

/// How a codec reaches one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// One record is decoded alone, straight from the block's bytes.
    Slot,
    /// Records are decoded in order, up to the one that is wanted.
    Block,
}

/// Decodes the record in a slot into a buffer as wide as a record, from bytes that
/// begin with a block which [`Codec::check`] found right. `false` where only
/// [`Codec::decode_slot`] can, which then names what is wrong.
pub type ReadRecord = fn(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool;

/// A way to turn a block's values into bytes and back.
pub trait Codec: Send + Sync {
    /// The name in the file.
    fn name(&self) -> &'static str;

    /// The version in the file.
    fn version(&self) -> u16 {
        1
    }

    /// Parameters and model as stored in the file.
    fn params(&self) -> Properties;

    /// How one record is reached.
    fn access(&self) -> Access;

    /// For [`Access::Slot`] codecs, about how many bytes of a block lie before its
    /// records: readers ask for the memory of a record before they know where it
    /// is.
    fn head_bytes(&self) -> usize {
        0
    }

    /// Appends the bytes of a block that starts at number `first`.
    /// `values.len()` is a multiple of the width, at most a full block.
    fn encode(&self, first: u64, values: &[u32], plan: &dyn Plan, out: &mut Vec<u8>) -> Result<()>;

    /// Decodes the first `out.len() / width` of the block's `count` records.
    /// Any bytes may come in: the answer is values within their bit lengths or
    /// an error, never a panic.
    fn decode(
        &self,
        first: u64,
        count: usize,
        bytes: &[u8],
        plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()>;

    /// Checks a block of `count` records as far as [`Codec::reader`] needs it.
    fn check(&self, _count: usize, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    /// A quick way to decode one record, where there is one.
    fn reader(&self) -> Option<ReadRecord> {
        None
    }

    /// Where there is one, a way that is quicker still for the blocks that it serves, as
    /// it is compiled into the look-up.
    #[cfg(target_arch = "x86_64")]
    fn lanes(&self) -> Option<Lanes> {
        None
    }

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
    ) -> Result<()> {
        let mut records = vec![0; (slot + 1) * out.len()];
        self.decode(first, count, bytes, plan, &mut records)?;
        out.copy_from_slice(records.get(slot * out.len()..).unwrap_or_default());
        Ok(())
    }

    /// Decodes value `value` of the record in `slot` into its place in `out` (one
    /// record); the other places are undefined afterwards. For codecs that
    /// decode in order and can stop there.
    #[allow(clippy::too_many_arguments)]
    fn decode_value(
        &self,
        first: u64,
        count: usize,
        slot: usize,
        _value: usize,
        bytes: &[u8],
        plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        self.decode_slot(first, count, slot, bytes, plan, out)
    }
}

/// A block to learn from, before anything is encoded.
#[derive(Debug, Clone)]
pub struct SampleBlock {
    /// Number of its first record.
    pub first: u64,
    /// Its records' values.
    pub values: Vec<u32>,
}

/// The names of the codecs that take any column, fastest first.
pub const NAMES: [&str; 5] = ["stored", "lz4", "packed", "zstd", "small"];

/// The codec for one or two values a record under a numbering with [`Rows`].
pub const CONTEXT: &str = context::NAME;

/// Values of a column that training the codec `name` wants to see, at most.
pub fn sample_values(name: &str) -> usize {
    match name {
        zstd::NAME => 8 << 20,
        small::NAME => 16 << 20,
        context::NAME => 16 << 20,
        _ => 0,
    }
}

/// Records of `width` values in a block where the user does not choose: for each
/// codec what was measured to give the best look-up time and size together.
pub fn default_block_positions(name: &str, width: usize) -> u32 {
    match name {
        // 24 make the smallest file, by one per cent, and look-ups as quick; but the block
        // index, which they wait for, too, takes 0.3 MB more of a processor's cache.
        packed::NAME if width >= 16 => 40,
        packed::NAME => 32,
        small::NAME => 10,
        // Three rows of 64 or four of 48.
        context::NAME => 192,
        _ => 64,
    }
}

/// How many times as many records are in a block of a column whose order puts equal
/// ones side by side.
pub const ORDERED_BLOCK_FACTOR: u32 = 4;

/// Whether the codec `name` stores equal records that are side by side in next to no
/// bytes, and the others no worse.
pub fn profits_from_order(name: &str) -> bool {
    name == small::NAME
}

/// Whether the codec `name` is any good for the bits of floating numbers.
pub fn suits_floats(name: &str) -> bool {
    name != small::NAME
}

/// Positions of each side in a tile of pairs, at most, where the user does not choose.
pub const DEFAULT_TILE_SIDE: u64 = 14;

/// The codec `name` for encoding. `options` are codec-specific wishes, such as
/// `level` for `zstd`; models are trained on `sample`, which may be empty.
pub fn build(
    name: &str,
    shape: &Shape,
    options: &Properties,
    plan: &dyn Plan,
    sample: &[SampleBlock],
) -> Result<Arc<dyn Codec>> {
    Ok(match name {
        stored::NAME => Arc::new(stored::Stored::new(shape.clone())),
        lz4::NAME => Arc::new(lz4::Lz4::new(shape.clone())),
        packed::NAME => Arc::new(packed::Packed::new(shape.clone())),
        zstd::NAME => Arc::new(zstd::Zstd::train(shape.clone(), options, sample)?),
        small::NAME => Arc::new(small::Small::train(shape, plan, sample)?),
        context::NAME => Arc::new(context::Context::train(shape, options, plan, sample)?),
        _ => {
            return Err(Error::invalid(format!(
                "no codec is called '{name}'; there are {}",
                NAMES.join(", ")
            )));
        }
    })
}

/// The codec in which decoded blocks are best kept in memory: `packed`, which
/// takes a third of their plain size, and whose records are read alone.
pub fn for_memory(shape: &Shape) -> Arc<dyn Codec> {
    Arc::new(packed::Packed::new(shape.clone()))
}

/// The codec that a file names, for decoding.
pub fn open(
    name: &str,
    version: u16,
    params: &Properties,
    shape: &Shape,
) -> Result<Arc<dyn Codec>> {
    let codec: Arc<dyn Codec> = match name {
        stored::NAME => Arc::new(stored::Stored::new(shape.clone())),
        lz4::NAME => Arc::new(lz4::Lz4::new(shape.clone())),
        packed::NAME => Arc::new(packed::Packed::new(shape.clone())),
        zstd::NAME => Arc::new(zstd::Zstd::open(shape.clone(), params)?),
        small::NAME => Arc::new(small::Small::open(shape, params)?),
        context::NAME => Arc::new(context::Context::open(shape, params)?),
        _ => {
            return Err(Error::unsupported(format!(
                "codec '{name}'; this version knows {}: update endtable",
                NAMES.join(", ")
            )));
        }
    };
    if codec.version() != version {
        return Err(Error::unsupported(format!(
            "codec '{name}' of version {version}; this version knows {}: update endtable",
            codec.version()
        )));
    }
    Ok(codec)
}

/// The error of a payload that has another length than its contents say.
fn length_error(rule: &'static str, expected: usize, found: usize) -> Error {
    Error::corrupt(
        rule,
        format!("the block's payload has {found} bytes, {expected} expected"),
    )
}

#[cfg(test)]
mod tests;

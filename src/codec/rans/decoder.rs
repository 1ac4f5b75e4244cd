//! Reading: bytes to symbols and raw bits. Any bytes may come in.

use super::table::{Bucket, Table};
use super::{LOWER, PROBABILITY_BITS, TOTAL};
use crate::{Error, Result};

/// What one step of the decoder found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded {
    /// The symbol.
    pub symbol: u8,
    /// The byte that its table holds for it.
    pub tag: u8,
}

/// The most tables of [`Tables`].
pub const SIDE_BY_SIDE: usize = 64;
/// Symbols of each of them.
pub const SIDE_SYMBOLS: usize = 32;

/// Up to [`SIDE_BY_SIDE`] tables of [`SIDE_SYMBOLS`] symbols side by side in memory, as
/// a decoder that changes tables with every symbol wants them.
#[derive(Debug, Clone)]
pub struct Tables {
    /// All of them, so that an index below their number needs no check.
    buckets: Box<[Bucket; SIDE_BY_SIDE * SIDE_SYMBOLS]>,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            buckets: Box::new([Bucket::default(); SIDE_BY_SIDE * SIDE_SYMBOLS]),
        }
    }
}

impl Tables {
    /// All of `tables`, in order. What others hold decodes as symbol 0 and garbage.
    ///
    /// Errors: [`Error::Corrupt`] for too many tables or other numbers of symbols.
    pub fn new<'a>(tables: impl IntoIterator<Item = &'a Table>) -> Result<Self> {
        let mut all = Self::default();
        let mut places = all.buckets.chunks_exact_mut(SIDE_SYMBOLS);
        for table in tables {
            match places.next() {
                Some(place) if table.buckets.len() == SIDE_SYMBOLS => {
                    place.copy_from_slice(&table.buckets);
                }
                _ => {
                    return Err(Error::corrupt(
                        "RANS-1",
                        format!(
                            "side by side are at most {SIDE_BY_SIDE} tables of {SIDE_SYMBOLS} symbols"
                        ),
                    ));
                }
            }
        }
        Ok(all)
    }
}

/// Reads what an [`Encoder`](super::Encoder) wrote. Any bytes may come in: beyond their end it
/// reads zeros, and [`Decoder::finish`] tells.
#[derive(Debug, Clone, Copy)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    state: u32,
    /// Bytes of words read, the state's included.
    front: usize,
    /// Raw bits read.
    back: usize,
}

impl<'a> Decoder<'a> {
    /// Starts at the front of `bytes`, which are one block exactly.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let Some(head) = bytes.first_chunk::<4>() else {
            return Err(Error::corrupt(
                "RANS-3",
                format!("a block has 4 bytes or more; found {}", bytes.len()),
            ));
        };
        Ok(Self {
            bytes,
            state: u32::from_le_bytes(*head),
            front: 4,
            back: 0,
        })
    }

    /// The next symbol.
    #[inline(always)]
    pub fn symbol(&mut self, table: &Table) -> Decoded {
        let slot = self.state & (TOTAL - 1);
        let bucket = table.buckets.get((slot >> table.bucket_bits) as usize);
        let low = slot & ((1 << table.bucket_bits) - 1);
        self.step(bucket.copied().unwrap_or_default(), low)
    }

    /// The next symbol, by one of many tables, of which a number beyond the last is
    /// taken modulo [`SIDE_BY_SIDE`].
    #[inline(always)]
    #[allow(clippy::indexing_slicing)] // below the array's length by its remainder
    pub fn symbol_of(&mut self, tables: &Tables, table: usize) -> Decoded {
        const BITS: u32 = PROBABILITY_BITS - SIDE_SYMBOLS.ilog2();
        let slot = self.state & (TOTAL - 1);
        let bucket = table * SIDE_SYMBOLS + (slot >> BITS) as usize;
        let bucket = tables.buckets[bucket % (SIDE_BY_SIDE * SIDE_SYMBOLS)];
        self.step(bucket, slot & ((1 << BITS) - 1))
    }

    #[inline(always)]
    fn step(&mut self, bucket: Bucket, low: u32) -> Decoded {
        let side = bucket.side(low);
        let index = u32::from((low as u16).wrapping_add((side >> 16) as u16));
        let frequency = u32::from(side as u16);
        let state = frequency
            .wrapping_mul(self.state >> PROBABILITY_BITS)
            .wrapping_add(index);
        let word = match self.bytes.get(self.front..self.front + 2) {
            Some(w) => w.try_into().map_or(0, u16::from_le_bytes),
            None => 0,
        };
        let refill = state < LOWER;
        self.state = if refill {
            state << 16 | u32::from(word)
        } else {
            state
        };
        self.front += usize::from(refill) * 2;
        Decoded {
            symbol: (side >> 32) as u8,
            tag: (side >> 40) as u8,
        }
    }

    /// The next `bits` (at most 32) raw bits.
    #[inline(always)]
    pub fn raw(&mut self, bits: u32) -> u32 {
        let end = self.bytes.len().wrapping_sub(self.back / 8);
        let window = match self.bytes.get(end.wrapping_sub(8)..end) {
            Some(w) => w.try_into().map_or(0, u64::from_be_bytes),
            None => self.raw_near_front(),
        };
        let value = window >> (self.back % 8) & ((1u64 << bits) - 1);
        self.back += bits as usize;
        value as u32
    }

    #[cold]
    fn raw_near_front(&self) -> u64 {
        let first = self.back / 8;
        (0..8).fold(0, |window, k| {
            let byte = self
                .bytes
                .len()
                .checked_sub(first + k + 1)
                .and_then(|at| self.bytes.get(at));
            window | u64::from(byte.copied().unwrap_or(0)) << (8 * k)
        })
    }

    /// After the last symbol: whether the bytes were used up and the state is
    /// the encoder's first.
    pub fn finish(&self) -> Result<()> {
        let used = self.front + self.back.div_ceil(8);
        if self.state == LOWER && used == self.bytes.len() {
            return Ok(());
        }
        Err(Error::corrupt(
            "RANS-4",
            format!(
                "a block ends in state {LOWER} after {} bytes; found state {} after {used}",
                self.bytes.len(),
                self.state
            ),
        ))
    }
}

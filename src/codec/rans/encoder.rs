//! Writing: symbols and raw bits to bytes.

use super::{LOWER, PROBABILITY_BITS};
use crate::{Error, Result};

/// The encoder's view of a [`Table`](super::Table).
#[derive(Debug, Clone)]
pub struct EncoderTable {
    pub(super) start: Vec<u32>,
    pub(super) slots: Vec<u16>,
    pub(super) frequencies: Vec<u16>,
}

/// Collects symbols and raw bits in the order of decoding and writes them all
/// at the end: rANS encodes backward.
#[derive(Debug, Default)]
pub struct Encoder {
    symbols: Vec<(u32, u8)>,
    raw: Vec<u8>,
    raw_bits: u32,
    pending: u64,
    words: Vec<u16>,
}

impl Encoder {
    /// An empty encoder, to be used for any number of blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `symbol` of table number `table`.
    pub fn symbol(&mut self, table: u32, symbol: u8) {
        self.symbols.push((table, symbol));
    }

    /// Appends the `bits` (at most 32) low bits of `value` as they are.
    pub fn raw(&mut self, value: u32, bits: u32) {
        let mask = (1u64 << bits) - 1;
        self.pending |= (u64::from(value) & mask) << self.raw_bits;
        self.raw_bits += bits;
        while self.raw_bits >= 8 {
            self.raw.push(self.pending as u8);
            self.pending >>= 8;
            self.raw_bits -= 8;
        }
    }

    /// Appends the bytes of what was collected to `out` and starts anew.
    /// A symbol that its table gives the frequency 0 is an error.
    #[allow(clippy::indexing_slicing)] // symbols, buckets and slots that were counted here
    pub fn finish(&mut self, tables: &[EncoderTable], out: &mut Vec<u8>) -> Result<()> {
        if self.raw_bits > 0 {
            self.raw.push(self.pending as u8);
        }
        let mut state = LOWER;
        self.words.clear();
        let mut bad = None;
        for &(table, symbol) in self.symbols.iter().rev() {
            let Some(t) = tables.get(table as usize) else {
                bad = Some((table, symbol));
                break;
            };
            let frequency = t
                .frequencies
                .get(usize::from(symbol))
                .map_or(0, |&f| u32::from(f));
            if frequency == 0 {
                bad = Some((table, symbol));
                break;
            }
            // In 64 bits: a frequency of TOTAL gives 2^32.
            if u64::from(state) >= u64::from(frequency) << (32 - PROBABILITY_BITS) {
                self.words.push(state as u16);
                state >>= 16;
            }
            let index = t.start[usize::from(symbol)] + state % frequency;
            state = ((state / frequency) << PROBABILITY_BITS) + u32::from(t.slots[index as usize]);
        }
        if bad.is_none() {
            out.extend_from_slice(&state.to_le_bytes());
            for &word in self.words.iter().rev() {
                out.extend_from_slice(&word.to_le_bytes());
            }
            out.extend(self.raw.iter().rev());
        }
        self.symbols.clear();
        self.raw.clear();
        self.raw_bits = 0;
        self.pending = 0;
        match bad {
            None => Ok(()),
            Some((table, symbol)) => Err(Error::invalid(format!(
                "symbol {symbol} can't be encoded with table {table}: its frequency is 0"
            ))),
        }
    }
}

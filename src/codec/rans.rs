//! Range asymmetric numeral systems (rANS): symbols with static frequencies,
//! many tables interleaved over one state, plus raw bits.
//!
//! J. Duda, "Asymmetric numeral systems" (2013). A table's slots are found by
//! the alias method (A. J. Walker, 1977): one small entry instead of a table of
//! all slots, so that dozens of tables stay in the first-level cache.
//!
//! The state is 32 bits and never below 2^16; the words are 16 bits, little
//! endian, read forward from the front of the bytes. Raw bits are read
//! backward from their end, least significant bit first. See `spec/small.md`.

use crate::{Error, Result};

/// Frequencies of a table sum to 2 to this power.
pub const PROBABILITY_BITS: u32 = 12;
/// What the frequencies of a table sum to.
pub const TOTAL: u32 = 1 << PROBABILITY_BITS;
/// The state's lower bound, and what it must be after the last symbol.
const LOWER: u32 = 1 << 16;

/// One bucket of an alias table: its own symbol, then the one that fills it up.
/// From the lowest bits: frequency (16 bits), bias (16), symbol (8), tag (8),
/// and in the first number the divider (16). Slots of the bucket below the
/// divider belong to the own symbol; the bias is added (wrapping) to the slot
/// within the bucket to give the index within the symbol's frequency.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(16))]
struct Bucket([u64; 2]);

impl Bucket {
    fn new(divider: usize, sides: [(u16, u16, usize, u8); 2]) -> Self {
        let mut packed = sides.map(|(frequency, bias, symbol, tag)| {
            u64::from(frequency)
                | u64::from(bias) << 16
                | (symbol as u64) << 32
                | u64::from(tag) << 40
        });
        packed[0] |= (divider as u64) << 48;
        Self(packed)
    }

    /// The number of the side to which slot `low` of the bucket belongs.
    #[inline(always)]
    fn side(self, low: u32) -> u64 {
        let [own, other] = self.0;
        if u64::from(low) >= own >> 48 {
            other
        } else {
            own
        }
    }
}

/// A table of frequencies of at most `2^log_symbols` symbols.
#[derive(Debug, Clone)]
pub struct Table {
    buckets: Vec<Bucket>,
    /// Bits of a slot within its bucket.
    bucket_bits: u32,
    frequencies: Vec<u16>,
}

/// What one step of the decoder found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded {
    /// The symbol.
    pub symbol: u8,
    /// The byte that its table holds for it.
    pub tag: u8,
}

impl Table {
    /// A table from frequencies that sum to [`TOTAL`]; their number is a power
    /// of two from 2 to 256. `tags` gives each symbol a byte that the decoder
    /// returns with it (missing ones are 0). A symbol of frequency 0 can't be
    /// encoded.
    #[allow(clippy::indexing_slicing)] // symbols, buckets and slots that were counted here
    pub fn new(frequencies: &[u16], tags: &[u8]) -> Result<Self> {
        let symbols = frequencies.len();
        if !symbols.is_power_of_two() || !(2..=256).contains(&symbols) {
            return Err(Error::corrupt(
                "RANS-1",
                format!("a table has 2 to 256 symbols, a power of two; found {symbols}"),
            ));
        }
        let sum: u32 = frequencies.iter().map(|&f| u32::from(f)).sum();
        if sum != TOTAL {
            return Err(Error::corrupt(
                "RANS-2",
                format!("frequencies sum to {TOTAL}; found {sum}"),
            ));
        }
        let capacity = TOTAL as usize / symbols;
        let tag = |s: usize| tags.get(s).copied().unwrap_or(0);
        let mut buckets = vec![Bucket::default(); symbols];
        // What of each symbol isn't placed yet, and how much of it is.
        let mut left: Vec<usize> = frequencies.iter().map(|&f| usize::from(f)).collect();
        let mut placed = vec![0usize; symbols];
        let mut small: Vec<usize> = (0..symbols).rev().filter(|&s| left[s] < capacity).collect();
        let mut large: Vec<usize> = (0..symbols)
            .rev()
            .filter(|&s| left[s] >= capacity)
            .collect();
        while let Some(own) = small.pop() {
            // All below capacity would contradict the sum.
            let Some(&other) = large.last() else { break };
            let divider = left[own];
            let taken = capacity - divider;
            let bias = (placed[other] as u16).wrapping_sub(divider as u16);
            buckets[own] = Bucket::new(
                divider,
                [
                    (frequencies[own], placed[own] as u16, own, tag(own)),
                    (frequencies[other], bias, other, tag(other)),
                ],
            );
            placed[own] += divider;
            placed[other] += taken;
            left[own] = 0;
            left[other] -= taken;
            if left[other] < capacity {
                large.pop();
                small.push(other);
            }
        }
        for own in large {
            let side = (frequencies[own], placed[own] as u16, own, tag(own));
            buckets[own] = Bucket::new(capacity, [side; 2]);
        }
        let bucket_bits = capacity.trailing_zeros();
        Ok(Self {
            buckets,
            bucket_bits,
            frequencies: frequencies.to_vec(),
        })
    }

    /// The frequencies that the table was made from.
    pub fn frequencies(&self) -> &[u16] {
        &self.frequencies
    }

    /// The inverse that an encoder needs.
    #[allow(clippy::indexing_slicing)] // symbols, buckets and slots that were counted here
    pub fn encoder(&self) -> EncoderTable {
        let mut start = vec![0u32; self.frequencies.len()];
        let mut sum = 0;
        for (s, &f) in start.iter_mut().zip(&self.frequencies) {
            *s = sum;
            sum += u32::from(f);
        }
        let mut slots = vec![0u16; TOTAL as usize];
        for slot in 0..TOTAL {
            let bucket = self.buckets[(slot >> self.bucket_bits) as usize];
            let low = slot & ((1 << self.bucket_bits) - 1);
            let side = bucket.side(low);
            let index = u32::from((low as u16).wrapping_add((side >> 16) as u16));
            slots[(start[usize::from((side >> 32) as u8)] + index) as usize] = slot as u16;
        }
        EncoderTable {
            start,
            slots,
            frequencies: self.frequencies.clone(),
        }
    }
}

/// Tables of equally many symbols, side by side in memory for the decoder.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    buckets: Vec<Bucket>,
    bucket_bits: u32,
}

impl Tables {
    /// All of `tables`, in order. Errors unless they have equally many symbols.
    pub fn new<'a>(tables: impl IntoIterator<Item = &'a Table>) -> Result<Self> {
        let mut all = Self::default();
        for table in tables {
            if !all.buckets.is_empty() && all.bucket_bits != table.bucket_bits {
                return Err(Error::invalid(
                    "tables of different numbers of symbols side by side",
                ));
            }
            all.bucket_bits = table.bucket_bits;
            all.buckets.extend_from_slice(&table.buckets);
        }
        Ok(all)
    }
}

/// The encoder's view of a [`Table`].
#[derive(Debug, Clone)]
pub struct EncoderTable {
    start: Vec<u32>,
    slots: Vec<u16>,
    frequencies: Vec<u16>,
}

/// Scales counts to frequencies that sum to [`TOTAL`], none of them 0, so that
/// every symbol can be encoded. At most 256 counts; deterministic.
#[allow(clippy::indexing_slicing)] // symbols, buckets and slots that were counted here
pub fn normalise(counts: &[u64]) -> Vec<u16> {
    let symbols = counts.len() as u64;
    let spare = u64::from(TOTAL) - symbols;
    let sum: u128 = counts.iter().map(|&c| u128::from(c)).sum::<u128>().max(1);
    let mut out: Vec<u16> = counts
        .iter()
        .map(|&c| 1 + (u128::from(c) * u128::from(spare) / sum) as u16)
        .collect();
    let given: u64 = out.iter().map(|&f| u64::from(f)).sum();
    let mut rest = u64::from(TOTAL) - given;
    // What rounding left goes to the most frequent ones, first ones first.
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&s| (std::cmp::Reverse(counts[s]), s));
    while rest > 0 {
        for &s in order.iter().take(rest.min(symbols) as usize) {
            out[s] += 1;
            rest -= 1;
        }
    }
    out
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

/// Reads what an [`Encoder`] wrote. Any bytes may come in: beyond their end it
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
        self.step(&table.buckets, table.bucket_bits, 0)
    }

    /// The next symbol, by one of many tables. A table that does not exist
    /// gives symbol 0 and what follows is garbage.
    #[inline(always)]
    pub fn symbol_of(&mut self, tables: &Tables, table: usize) -> Decoded {
        let first = table << (PROBABILITY_BITS - tables.bucket_bits);
        self.step(&tables.buckets, tables.bucket_bits, first)
    }

    #[inline(always)]
    fn step(&mut self, buckets: &[Bucket], bucket_bits: u32, first: usize) -> Decoded {
        let slot = self.state & (TOTAL - 1);
        let low = slot & ((1 << bucket_bits) - 1);
        let bucket = buckets
            .get(first + (slot >> bucket_bits) as usize)
            .copied()
            .unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn alias_slots_cover_each_symbol_exactly() {
        for counts in [
            vec![1u64; 32],
            vec![0, 5, 1_000_000, 3],
            (0..64).map(|k| k * k * k).collect(),
        ] {
            let frequencies = normalise(&counts);
            let table = Table::new(&frequencies, &[]).unwrap();
            let mut slots = table.encoder().slots;
            slots.sort_unstable();
            assert!(slots.iter().enumerate().all(|(k, &s)| k == usize::from(s)));
        }
    }

    #[test]
    fn tables_that_break_a_rule_are_refused() {
        assert!(Table::new(&[4096], &[]).is_err());
        assert!(Table::new(&[4000, 95], &[]).is_err());
        assert!(Table::new(&[2000, 2000, 96], &[]).is_err());
        assert!(Table::new(&[4096, 0], &[]).is_ok());
    }

    #[test]
    fn a_certain_symbol_costs_nothing() {
        let tables = [Table::new(&[4096, 0], &[7, 9]).unwrap()];
        let mut encoder = Encoder::new();
        (0..1000).for_each(|_| encoder.symbol(0, 0));
        let mut bytes = Vec::new();
        encoder.finish(&[tables[0].encoder()], &mut bytes).unwrap();
        assert_eq!(bytes.len(), 4);
        let mut decoder = Decoder::new(&bytes).unwrap();
        (0..1000)
            .for_each(|_| assert_eq!(decoder.symbol(&tables[0]), Decoded { symbol: 0, tag: 7 }));
        decoder.finish().unwrap();
        encoder.symbol(0, 1);
        assert!(encoder.finish(&[tables[0].encoder()], &mut bytes).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(
            counts in proptest::collection::vec(0u64..10_000, 16),
            items in proptest::collection::vec((0u32..2, 0u8..16, any::<u32>(), 0u32..=32), 0..300),
            garbage in proptest::collection::vec(any::<u8>(), 0..64),
        ) {
            let uniform = vec![1u64; 16];
            let tables: Vec<Table> =
                [&counts, &uniform].iter().map(|c| Table::new(&normalise(c), &[]).unwrap()).collect();
            let inverse: Vec<EncoderTable> = tables.iter().map(Table::encoder).collect();
            let mut encoder = Encoder::new();
            for &(table, symbol, value, bits) in &items {
                encoder.symbol(table, symbol);
                encoder.raw(value, bits);
            }
            let mut bytes = Vec::new();
            encoder.finish(&inverse, &mut bytes).unwrap();
            let mut decoder = Decoder::new(&bytes).unwrap();
            for &(table, symbol, value, bits) in &items {
                prop_assert_eq!(decoder.symbol(&tables[table as usize]).symbol, symbol);
                prop_assert_eq!(u64::from(decoder.raw(bits)), u64::from(value) & ((1u64 << bits) - 1));
            }
            prop_assert!(decoder.finish().is_ok());
            // Any bytes: the decoder goes on without a panic.
            if let Ok(mut decoder) = Decoder::new(&garbage) {
                for &(table, _, _, bits) in &items {
                    decoder.symbol(&tables[table as usize]);
                    decoder.raw(bits);
                }
                let _ = decoder.finish();
            }
        }
    }
}

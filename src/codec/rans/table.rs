//! Tables of frequencies, in the form that the decoder wants.

use super::{EncoderTable, TOTAL};
use crate::{Error, Result};

/// One bucket of an alias table: its own symbol, then the one that fills it up.
/// From the lowest bits: frequency (16 bits), bias (16), symbol (8), tag (8),
/// and in the first number the divider (16). Slots of the bucket below the
/// divider belong to the own symbol; the bias is added (wrapping) to the slot
/// within the bucket to give the index within the symbol's frequency.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(16))]
pub(super) struct Bucket(pub(super) [u64; 2]);

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
    pub(super) fn side(self, low: u32) -> u64 {
        let [own, other] = self.0;
        // A branch would be taken at random.
        std::hint::select_unpredictable(u64::from(low) >= own >> 48, other, own)
    }
}

/// A table of frequencies of at most `2^log_symbols` symbols.
#[derive(Debug, Clone)]
pub struct Table {
    pub(super) buckets: Vec<Bucket>,
    /// Bits of a slot within its bucket.
    pub(super) bucket_bits: u32,
    frequencies: Vec<u16>,
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

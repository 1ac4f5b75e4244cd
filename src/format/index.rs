//! The block index of one column: where each block begins, in O(1).
//!
//! Offsets of blocks grow almost linearly. The index keeps one knot in
//! `2^group_log2` blocks and, for each block, its distance from the straight
//! line between two knots in a few bits.

use super::bytes::{Cursor, Sink};
use crate::{Error, Result};

/// Length of the fixed part of an index in bytes.
const FIXED_BYTES: usize = 24;
/// Group sizes that the writer tries.
const GROUPS: std::ops::RangeInclusive<u8> = 0..=9;
/// Bits of a distance, at most: two of them are read in one word.
const MOST_DELTA_BITS: u8 = 28;
/// Zero bytes kept behind the distances so that eight can be read anywhere.
const PADDING: usize = 8;
/// Blocks whose offsets are kept as 32 bits and the first one's 64: no block has
/// 2^16 bytes where there are so many.
const NEAR: u64 = 1 << 14;

/// Offsets of one column's blocks, as kept in the file and in memory.
#[derive(Debug, Clone)]
pub struct BlockIndex {
    region_offset: u64,
    region_bytes: u64,
    blocks: u64,
    bias: u32,
    group_log2: u8,
    delta_bits: u8,
    /// Knots, relative to the region: one for each group and one behind.
    knots: Vec<u64>,
    /// `blocks` distances of `delta_bits` bits each, then [`PADDING`] zeros.
    deltas: Vec<u8>,
    /// Offset in the file of each block and of what follows the last one, relative
    /// to that of the first in [`NEAR`] blocks; modulo 2^32 where the file is wrong.
    near: Vec<u32>,
    far: Vec<u64>,
}

impl BlockIndex {
    /// Works out where each block is, from `deltas` as the field describes them.
    fn assemble(
        region_offset: u64,
        region_bytes: u64,
        blocks: u64,
        fit: Fit,
        deltas: Vec<u8>,
    ) -> Self {
        let origin = region_offset.wrapping_sub(u64::from(fit.bias));
        let mask = (1u64 << fit.delta_bits) - 1;
        let mut near = Vec::with_capacity(blocks as usize + 1);
        let mut far = Vec::new();
        let mut base = 0;
        for block in 0..=blocks {
            let bit = block * u64::from(fit.delta_bits);
            let window = deltas
                .get((bit / 8) as usize..)
                .and_then(<[u8]>::first_chunk::<8>);
            let word = window.map_or(0, |window| u64::from_le_bytes(*window));
            let line = fit.line(block as usize) as u64;
            let offset = match block == blocks {
                true => region_offset.wrapping_add(region_bytes),
                false => origin
                    .wrapping_add(line)
                    .wrapping_add(word >> (bit % 8) & mask),
            };
            if block % NEAR == 0 {
                base = offset;
                far.push(base);
            }
            near.push(offset.wrapping_sub(base) as u32);
        }
        BlockIndex {
            near,
            far,
            region_offset,
            region_bytes,
            blocks,
            bias: fit.bias,
            group_log2: fit.group_log2,
            delta_bits: fit.delta_bits,
            knots: fit.knots,
            deltas,
        }
    }

    /// Builds the index of a region at `region_offset` from the lengths of its
    /// blocks, in bytes and with their checksums.
    pub fn new(region_offset: u64, lengths: &[u32]) -> Self {
        let mut offsets = Vec::with_capacity(lengths.len());
        let mut region_bytes = 0u64;
        for &length in lengths {
            offsets.push(region_bytes);
            region_bytes += u64::from(length);
        }
        let mut best: Option<(u64, Fit)> = None;
        for group_log2 in GROUPS {
            let fit = Fit::new(&offsets, region_bytes, group_log2);
            let bytes = fit.knots.len() as u64 * 8
                + (offsets.len() as u64 * u64::from(fit.delta_bits)).div_ceil(8);
            if fit.delta_bits <= MOST_DELTA_BITS
                && best.as_ref().is_none_or(|(least, _)| bytes < *least)
            {
                best = Some((bytes, fit));
            }
        }
        let fit = best.map(|(_, fit)| fit).unwrap_or_default();
        let mut deltas =
            vec![0u8; packed_bytes(offsets.len() as u64, fit.delta_bits) as usize + PADDING];
        for (i, &offset) in offsets.iter().enumerate() {
            let delta = (offset as i64 - fit.line(i) + i64::from(fit.bias)) as u64;
            let bit = i * usize::from(fit.delta_bits);
            if let Some(window) = deltas
                .get_mut(bit / 8..)
                .and_then(<[u8]>::first_chunk_mut::<8>)
            {
                let word = u64::from_le_bytes(*window) | delta << (bit % 8);
                *window = word.to_le_bytes();
            }
        }
        BlockIndex::assemble(
            region_offset,
            region_bytes,
            offsets.len() as u64,
            fit,
            deltas,
        )
    }

    /// Offset of the first byte behind the column's blocks.
    pub fn region_end(&self) -> u64 {
        self.region_offset + self.region_bytes
    }

    /// Offset of the column's first block.
    pub fn region_offset(&self) -> u64 {
        self.region_offset
    }

    /// Length of the column's blocks in bytes, checksums included.
    pub fn region_bytes(&self) -> u64 {
        self.region_bytes
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Length of the index in the file in bytes.
    pub fn bytes(&self) -> u64 {
        (FIXED_BYTES + self.knots.len() * 8 + self.deltas.len() - PADDING) as u64
    }

    /// Offset in the file of a block and its length but for a few bytes, in few
    /// instructions; anything, or `None`, where the index is wrong.
    #[inline(always)]
    pub(crate) fn estimate(&self, block: u64) -> Option<(u64, usize)> {
        let far = self.far.get((block / NEAR) as usize)?;
        let [near, next] = self.near.get(block as usize..)?.first_chunk::<2>()?;
        let length = next.wrapping_sub(*near);
        Some((far.wrapping_add(u64::from(*near)), length as usize))
    }

    /// Offset in the file of block `block`, or of what follows the last one.
    fn offset(&self, block: u64) -> Option<u64> {
        match block == self.blocks {
            true => Some(self.region_end()),
            false => {
                let far = self.far.get((block / NEAR) as usize)?;
                Some(far.wrapping_add(u64::from(*self.near.get(block as usize)?)))
            }
        }
    }

    /// Offset in the file and length in bytes, checksum included, of a block;
    /// `None` for a block that is not there or a hostile index.
    pub(crate) fn find(&self, block: u64) -> Option<(u64, usize)> {
        if block >= self.blocks {
            return None;
        }
        let (start, end) = (self.offset(block)?, self.offset(block + 1)?);
        let inside = self.region_offset <= start && start < end && end <= self.region_end();
        inside.then(|| (start, (end - start) as usize))
    }

    /// Offset in the file and length in bytes, checksum included, of a block; an
    /// error for a block that is not there or a hostile index.
    pub fn locate(&self, block: u64) -> Result<(u64, usize)> {
        self.find(block).ok_or_else(|| {
            let message = format!(
                "the index gives no place to block {block} of {}",
                self.blocks
            );
            Error::corrupt("I-5", message)
        })
    }

    /// Appends the index's bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut sink = Sink::new();
        sink.u64(self.region_offset);
        sink.u64(self.region_bytes);
        sink.u32(self.bias);
        sink.u8(self.group_log2);
        sink.u8(self.delta_bits);
        sink.u16(0);
        for &knot in &self.knots {
            sink.u64(knot);
        }
        out.append(&mut sink.bytes);
        out.extend_from_slice(
            self.deltas
                .get(..self.deltas.len() - PADDING)
                .unwrap_or_default(),
        );
    }

    /// Reads the indexes of columns with `blocks` blocks each, which together
    /// fill `bytes`. The regions must follow each other from `from` to `to`.
    pub fn parse_all(bytes: &[u8], blocks: &[u64], from: u64, to: u64) -> Result<Vec<Self>> {
        let mut cursor = Cursor::new(bytes, "I-1");
        let mut expected = from;
        let mut out = Vec::with_capacity(blocks.len());
        for &count in blocks {
            let index = Self::parse(&mut cursor, count)?;
            if index.region_offset != expected {
                return Err(Error::corrupt(
                    "I-4",
                    format!(
                        "blocks begin at {}, {expected} expected",
                        index.region_offset
                    ),
                ));
            }
            expected = index
                .region_offset
                .checked_add(index.region_bytes)
                .filter(|end| *end <= to)
                .ok_or_else(|| {
                    Error::corrupt(
                        "I-4",
                        format!(
                            "{} bytes of blocks at {} reach over the index at {to}",
                            index.region_bytes, index.region_offset
                        ),
                    )
                })?;
            out.push(index);
        }
        if cursor.remaining() != 0 {
            return Err(Error::corrupt(
                "I-1",
                format!("{} bytes too many in the index", cursor.remaining()),
            ));
        }
        if expected != to {
            return Err(Error::corrupt(
                "I-4",
                format!("blocks end at {expected}, {to} expected"),
            ));
        }
        Ok(out)
    }

    fn parse(cursor: &mut Cursor<'_>, blocks: u64) -> Result<Self> {
        let region_offset = cursor.u64()?;
        let region_bytes = cursor.u64()?;
        let bias = cursor.u32()?;
        let group_log2 = cursor.u8()?;
        let delta_bits = cursor.u8()?;
        let reserved = cursor.u16()?;
        if group_log2 > 16 || delta_bits > MOST_DELTA_BITS {
            return Err(Error::corrupt(
                "I-2",
                format!(
                    "groups of 2^{group_log2} blocks and {delta_bits} bits a distance; at most 2^16 and {MOST_DELTA_BITS} allowed"
                ),
            ));
        }
        if reserved != 0 {
            return Err(Error::corrupt(
                "I-3",
                "reserved bytes of the index are not zero",
            ));
        }
        let knots = knot_count(blocks, group_log2);
        // A hostile count fails here, before anything is allocated for it.
        let knot_bytes = knots
            .checked_mul(8)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(usize::MAX);
        let knots: Vec<u64> = cursor
            .take(knot_bytes)?
            .chunks_exact(8)
            .filter_map(|chunk| chunk.first_chunk::<8>())
            .map(|chunk| u64::from_le_bytes(*chunk))
            .collect();
        if !knots.is_sorted() {
            return Err(Error::corrupt("I-6", "the knots of the index descend"));
        }
        let delta_bytes = usize::try_from(packed_bytes(blocks, delta_bits)).unwrap_or(usize::MAX);
        let mut deltas = cursor.take(delta_bytes)?.to_vec();
        deltas.extend_from_slice(&[0; PADDING]);
        let fit = Fit {
            group_log2,
            bias,
            delta_bits,
            knots,
        };
        Ok(BlockIndex::assemble(
            region_offset,
            region_bytes,
            blocks,
            fit,
            deltas,
        ))
    }
}

/// Knots and widths for one group size.
#[derive(Default)]
struct Fit {
    group_log2: u8,
    bias: u32,
    delta_bits: u8,
    knots: Vec<u64>,
}

impl Fit {
    fn new(offsets: &[u64], end: u64, group_log2: u8) -> Self {
        let size = 1usize << group_log2;
        let mut knots: Vec<u64> = offsets.iter().step_by(size).copied().collect();
        // The knot behind the last group: its end, drawn out to a full group.
        let partial = (offsets.len() + size - 1) % size + 1;
        let last = knots.last().copied().unwrap_or(0);
        knots.push(last + (end - last) * size as u64 / partial as u64);
        let mut fit = Fit {
            group_log2,
            bias: 0,
            delta_bits: 0,
            knots,
        };
        let (mut low, mut high) = (0i64, 0i64);
        for (i, &offset) in offsets.iter().enumerate() {
            let delta = offset as i64 - fit.line(i);
            low = low.min(delta);
            high = high.max(delta);
        }
        fit.bias = (-low) as u32;
        fit.delta_bits = (u64::BITS - ((high - low) as u64).leading_zeros()) as u8;
        fit
    }

    /// The straight line between the knots around block `i`.
    fn line(&self, i: usize) -> i64 {
        let group = i >> self.group_log2;
        let within = i & ((1 << self.group_log2) - 1);
        match self.knots.get(group..).and_then(<[u64]>::first_chunk::<2>) {
            Some([from, to]) => (from + within as u64 * ((to - from) >> self.group_log2)) as i64,
            None => 0,
        }
    }
}

fn knot_count(blocks: u64, group_log2: u8) -> u64 {
    blocks.div_ceil(1 << group_log2).saturating_add(1)
}

fn packed_bytes(blocks: u64, delta_bits: u8) -> u64 {
    // At most 2^63 blocks of 32 bits; u128 keeps a hostile product whole.
    u64::try_from((u128::from(blocks) * u128::from(delta_bits)).div_ceil(8)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn offsets(lengths: &[u32]) -> Vec<u64> {
        let mut at = 100;
        lengths
            .iter()
            .map(|&n| {
                let here = at;
                at += u64::from(n);
                here
            })
            .collect()
    }

    proptest! {
        #[test]
        fn every_block_is_found(lengths in proptest::collection::vec(5u32..3000, 0..2000)) {
            let index = BlockIndex::new(100, &lengths);
            let mut bytes = Vec::new();
            index.write(&mut bytes);
            prop_assert_eq!(bytes.len() as u64, index.bytes());
            let read = BlockIndex::parse_all(&bytes, &[lengths.len() as u64], 100, index.region_end()).unwrap();
            for (i, (&length, offset)) in lengths.iter().zip(offsets(&lengths)).enumerate() {
                prop_assert_eq!(read[0].locate(i as u64).unwrap(), (offset, length as usize));
            }
            prop_assert!(read[0].locate(lengths.len() as u64).is_err());
        }
    }

    #[test]
    fn a_hostile_count_takes_no_memory() {
        let index = BlockIndex::new(0, &[10, 20]);
        let mut bytes = Vec::new();
        index.write(&mut bytes);
        assert!(BlockIndex::parse_all(&bytes, &[u64::MAX / 2], 0, 30).is_err());
    }
}

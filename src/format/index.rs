//! The block index of one column: where each block begins, in O(1).
//!
//! Offsets of blocks grow almost linearly. The index keeps one knot in
//! `2^group_log2` blocks and, for each block, its distance from the straight
//! line between two knots in a few bits.

use std::sync::atomic::{AtomicU32, Ordering};

use super::bytes::{Cursor, Sink};
use crate::{Error, Result};

/// Group sizes that the writer tries.
const GROUPS: std::ops::RangeInclusive<u8> = 0..=9;
/// Bits of a distance, at most: two of them are read in one word.
const MOST_DELTA_BITS: u8 = 28;
/// Zero bytes kept behind the distances so that eight can be read anywhere.
const PADDING: usize = 8;
/// Blocks whose offsets share a 64-bit one where not all can, at most; logarithm.
const MOST_NEAR_LOG2: u32 = 14;
/// The bits of a near offset. The two above them are marks: of a block that no reader has
/// found right so far, and of one that is right, but not quick.
const NEAR: u32 = (1 << 30) - 1;
const SLOW: u32 = 1 << 30;
const UNCHECKED: u32 = 1 << 31;

/// Where one column's blocks are, as kept in memory, and which of them a reader found right.
#[derive(Debug)]
pub struct BlockIndex {
    region_offset: u64,
    region_bytes: u64,
    blocks: u64,
    /// Offset in the file of each block and of what follows the last one, less
    /// `region_offset`, or else less that of the first in `2^near_log2` blocks; with marks.
    near: Vec<AtomicU32>,
    /// Those first ones; none where near offsets reach all over the region.
    far: Vec<u64>,
    near_log2: u32,
}

impl BlockIndex {
    /// Appends the index of a region at `region_offset` as it is in the file, from
    /// the lengths of the region's blocks in bytes, checksums included. Answers how
    /// long the region is.
    pub fn write(region_offset: u64, lengths: &[u32], out: &mut Vec<u8>) -> u64 {
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
        let delta_bytes = packed_bytes(offsets.len() as u64, fit.delta_bits) as usize;
        let mut deltas = vec![0u8; delta_bytes + PADDING];
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
        let mut sink = Sink::new();
        sink.u64(region_offset);
        sink.u64(region_bytes);
        sink.u32(fit.bias);
        sink.u8(fit.group_log2);
        sink.u8(fit.delta_bits);
        sink.u16(0);
        for &knot in &fit.knots {
            sink.u64(knot);
        }
        out.append(&mut sink.bytes);
        out.extend_from_slice(deltas.get(..delta_bytes).unwrap_or_default());
        region_bytes
    }

    /// Bytes of memory that an index of so many blocks takes, about.
    pub fn memory_bytes(blocks: u64) -> u64 {
        blocks.saturating_mul(size_of::<u32>() as u64)
    }

    /// Offset of the first byte behind the column's blocks.
    pub fn region_end(&self) -> u64 {
        self.region_offset + self.region_bytes
    }

    /// Length of the column's blocks in bytes, checksums included.
    pub fn region_bytes(&self) -> u64 {
        self.region_bytes
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Offset in the file of a block and its length, in few instructions; the length
    /// may be any where blocks share an offset with few others, and both where the
    /// file is wrong.
    #[inline(always)]
    pub(crate) fn estimate(&self, block: u64) -> Option<(u64, usize)> {
        let next = self.near(block.wrapping_add(1))? & NEAR;
        let near = self.near(block)? & NEAR;
        let length = next.wrapping_sub(near) as usize;
        Some((self.far(block)?.wrapping_add(u64::from(near)), length))
    }

    /// As [`BlockIndex::estimate`] for a block marked as right and quick, in the fewest
    /// instructions; `None` for others.
    ///
    /// # Safety
    /// There must be such a block.
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(crate) unsafe fn estimate_quick(&self, block: u64) -> Option<(u64, usize)> {
        // SAFETY: there is one more entry than blocks.
        let [near, next] =
            unsafe { [block as usize, block as usize + 1].map(|at| self.near.get_unchecked(at)) };
        let near = near.load(Ordering::Relaxed);
        let next = next.load(Ordering::Relaxed) & NEAR;
        let length = next.wrapping_sub(near) as usize;
        (near <= NEAR).then_some((self.region_offset + u64::from(near), length))
    }

    /// Whether a block was marked as right.
    #[inline(always)]
    pub(crate) fn is_checked(&self, block: u64) -> bool {
        self.near(block).is_some_and(|near| near & UNCHECKED == 0)
    }

    /// Marks a block as right, and whether it is quick: nothing but its place need be
    /// known to read a record of it. No block of a large region is.
    pub(crate) fn set_checked(&self, block: u64, quick: bool) {
        if let Some(near) = self.near.get(block as usize) {
            if !quick || !self.far.is_empty() {
                near.fetch_or(SLOW, Ordering::Relaxed);
            }
            near.fetch_and(!UNCHECKED, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn near(&self, block: u64) -> Option<u32> {
        let near = self.near.get(block as usize)?;
        Some(near.load(Ordering::Relaxed))
    }

    /// What a block's near offset is to be added to.
    #[inline(always)]
    fn far(&self, block: u64) -> Option<u64> {
        match self.far.is_empty() {
            true => Some(self.region_offset),
            false => self.far.get((block >> self.near_log2) as usize).copied(),
        }
    }

    /// Offset in the file of block `block`, or of what follows the last one.
    fn offset(&self, block: u64) -> Option<u64> {
        let near = self.near(block)? & NEAR;
        Some(self.far(block)?.wrapping_add(u64::from(near)))
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

    /// Reads the indexes of columns with `blocks` blocks each, which together
    /// fill `bytes`. The regions must follow each other from `from` to `to`.
    pub fn parse_all(bytes: &[u8], blocks: &[u64], from: u64, to: u64) -> Result<Vec<Self>> {
        let mut cursor = Cursor::new(bytes, "I-1");
        let mut expected = from;
        let mut out = Vec::with_capacity(blocks.len());
        for &count in blocks {
            let index = Self::parse(&mut cursor, count, expected, to)?;
            expected = index.region_end();
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

    /// Reads one index whose region is to begin at `from` and to end at `most` at the
    /// latest.
    fn parse(cursor: &mut Cursor<'_>, blocks: u64, from: u64, most: u64) -> Result<Self> {
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
        if region_offset != from {
            return Err(Error::corrupt(
                "I-4",
                format!("blocks begin at {region_offset}, {from} expected"),
            ));
        }
        let end = region_offset.checked_add(region_bytes);
        if end.is_none_or(|end| end > most) {
            return Err(Error::corrupt(
                "I-4",
                format!(
                    "{region_bytes} bytes of blocks at {region_offset} reach over the index at {most}"
                ),
            ));
        }
        if blocks > region_bytes {
            return Err(Error::corrupt(
                "I-5",
                format!("{region_bytes} bytes have no room for {blocks} blocks"),
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
        let stored = Stored {
            origin: region_offset.wrapping_sub(u64::from(bias)),
            end: region_offset + region_bytes,
            blocks,
            group_log2,
            delta_bits,
            knots,
            deltas,
        };
        let (near_log2, far) = match region_bytes <= u64::from(NEAR) {
            true => (0, Vec::new()),
            false => stored.far(),
        };
        Ok(BlockIndex {
            region_offset,
            region_bytes,
            blocks,
            near: stored.near(region_offset, near_log2, &far),
            far,
            near_log2,
        })
    }
}

/// An index as it is in the file. Sums wrap, for the file may be wrong.
struct Stored {
    /// What a line begins at besides its knot.
    origin: u64,
    /// Offset in the file of what follows the last block.
    end: u64,
    blocks: u64,
    group_log2: u8,
    delta_bits: u8,
    knots: Vec<u64>,
    /// With [`PADDING`].
    deltas: Vec<u8>,
}

impl Stored {
    /// Where the line of a group begins, and its slope.
    fn line(&self, group: usize) -> (u64, u64) {
        let pair = self.knots.get(group..).and_then(<[u64]>::first_chunk::<2>);
        let [from, to] = pair.copied().unwrap_or_default();
        let slope = to.wrapping_sub(from) >> self.group_log2;
        (self.origin.wrapping_add(from), slope)
    }

    /// How far a block is from its line.
    #[inline]
    fn delta(&self, block: u64) -> u64 {
        let bit = block * u64::from(self.delta_bits);
        let window = self.deltas.get((bit / 8) as usize..);
        let window = window.and_then(<[u8]>::first_chunk::<8>);
        let word = window.map_or(0, |window| u64::from_le_bytes(*window));
        word >> (bit % 8) & ((1 << self.delta_bits) - 1)
    }

    /// Offset in the file of a block, or of what follows the last one.
    fn offset(&self, block: u64) -> u64 {
        if block >= self.blocks {
            return self.end;
        }
        let (from, slope) = self.line((block >> self.group_log2) as usize);
        let within = block & ((1 << self.group_log2) - 1);
        from.wrapping_add(within.wrapping_mul(slope))
            .wrapping_add(self.delta(block))
    }

    /// [`BlockIndex::near_log2`] and [`BlockIndex::far`].
    fn far(&self) -> (u32, Vec<u64>) {
        let starts = |log2: u32| (0..=self.blocks).step_by(1 << log2);
        let fits = |log2: &u32| {
            starts(*log2).all(|start| {
                let last = (start + (1 << log2) - 1).min(self.blocks);
                let span = self.offset(last).wrapping_sub(self.offset(start));
                span <= u64::from(NEAR)
            })
        };
        let near_log2 = (0..=MOST_NEAR_LOG2).rev().find(fits).unwrap_or(0);
        let far = starts(near_log2).map(|start| self.offset(start));
        (near_log2, far.collect())
    }

    /// [`BlockIndex::near`].
    fn near(&self, region_offset: u64, near_log2: u32, far: &[u64]) -> Vec<AtomicU32> {
        let mut near = Vec::with_capacity(self.blocks as usize + 1);
        let (mut line, mut slope) = (0, 0);
        for block in 0..=self.blocks {
            if block & ((1 << self.group_log2) - 1) == 0 {
                (line, slope) = self.line((block >> self.group_log2) as usize);
            }
            let offset = match block == self.blocks {
                true => self.end,
                false => line.wrapping_add(self.delta(block)),
            };
            line = line.wrapping_add(slope);
            let first = far.get((block >> near_log2) as usize).copied();
            let offset = offset.wrapping_sub(first.unwrap_or(region_offset)) as u32;
            near.push(AtomicU32::new(offset & NEAR | UNCHECKED));
        }
        near
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

    /// Checks that the blocks of a region at offset 100 are found.
    fn check(lengths: &[u32]) {
        let mut bytes = Vec::new();
        let end = 100 + BlockIndex::write(100, lengths, &mut bytes);
        let blocks = lengths.len() as u64;
        let read = BlockIndex::parse_all(&bytes, &[blocks], 100, end).unwrap();
        assert_eq!(read[0].region_end(), end);
        for (i, (&length, offset)) in lengths.iter().zip(offsets(lengths)).enumerate() {
            let found = read[0].locate(i as u64).unwrap();
            assert_eq!(found, (offset, length as usize), "block {i}");
        }
        assert!(read[0].locate(blocks).is_err());
    }

    proptest! {
        #[test]
        fn every_block_is_found(lengths in proptest::collection::vec(5u32..3000, 0..2000)) {
            check(&lengths);
        }
    }

    #[test]
    fn offsets_of_large_blocks_need_more_than_32_bits() {
        check(&vec![300_000; 40_000]);
        check(&(0..40_000).map(|i| 250_000 + i).collect::<Vec<_>>());
        check(&[u32::MAX; 5]);
    }

    #[test]
    fn a_hostile_count_takes_no_memory() {
        let mut bytes = Vec::new();
        BlockIndex::write(0, &[10, 20], &mut bytes);
        assert!(BlockIndex::parse_all(&bytes, &[u64::MAX / 2], 0, 30).is_err());
        // Blocks without distances take no room in the index.
        let mut bytes = Vec::new();
        BlockIndex::write(0, &[30; 1 << 16], &mut bytes);
        assert!(BlockIndex::parse_all(&bytes, &[1 << 16], 0, 30 << 16).is_ok());
        bytes[8..16].copy_from_slice(&60_000u64.to_le_bytes());
        assert!(BlockIndex::parse_all(&bytes, &[1 << 16], 0, 60_000).is_err());
    }
}

//! A model laid out for decoding, so that little depends on the slot before.
#![allow(
    clippy::indexing_slicing,
    reason = "of arrays, each index masked to their length; `near` has an entry for each group of a checked model's pivots"
)]

use super::model::{
    Distribution, ESCAPE, FAR, FAR_CLASSES, LANDMARK, Model, NEAR_CLASSES, NEAR_GROUPS, SYMBOLS,
    difference,
};
use super::range::Decoder;

/// Cells of both classes, rounded up to a power of two.
const CELLS: usize = 4096;
/// Features of the second group, rounded up.
const FAR_SLOTS: usize = 4096;
const _: () = assert!(NEAR_CLASSES * FAR_CLASSES <= CELLS && FAR <= FAR_SLOTS);

/// A symbol in 64 bits: from below, 16 each, where it starts in the range, its
/// share of it, and its difference or one of the two codes below.
type Entry = u64;
const TO_LANDMARK: i16 = i16::MAX;
const ESCAPED: i16 = i16::MAX - 1;

/// Sixteen-bit lanes of a 64-bit number: one in each, and the highest bit.
const ONES: u64 = 0x0001_0001_0001_0001;
const HIGHS: u64 = 0x8000_8000_8000_8000;

/// Symbols of a distribution, the most frequent first. Where the first eight
/// end is in lanes, to be compared with a place at once: which one it is can
/// hardly be predicted, so that branches would cost more.
#[repr(align(64))]
struct Search {
    ends: [u64; 2],
    entries: [Entry; SYMBOLS],
}

impl Search {
    fn new(distribution: &Distribution) -> Self {
        let mut search = Search {
            ends: [HIGHS - ONES; 2],
            entries: [0; SYMBOLS],
        };
        let mut start = 0;
        for (i, (symbol, frequency)) in distribution.pairs().enumerate().take(SYMBOLS) {
            let what = match usize::from(symbol) {
                LANDMARK => TO_LANDMARK,
                ESCAPE => ESCAPED,
                _ => difference(symbol),
            };
            let entry = start | u64::from(frequency) << 16 | u64::from(what as u16) << 32;
            // What lies behind the last is never found.
            search.entries[i..].fill(entry);
            start += u64::from(frequency);
            if let Some(ends) = search.ends.get_mut(i / 4) {
                let shift = 16 * (i % 4);
                *ends = *ends & !(0xffff << shift) | start << shift;
            }
        }
        search
    }

    /// The symbol that covers a place, which is below [`TOTAL`].
    #[inline(always)]
    fn find(&self, place: u32) -> Entry {
        let lanes = (u64::from(place) * ONES) | HIGHS;
        // The highest bit of a lane stays where the place is not below the end.
        let behind = self.ends.map(|ends| ((lanes - ends) & HIGHS) >> 15);
        // Products beyond the highest lane are not wanted.
        let count = ((behind[0] + behind[1]).wrapping_mul(ONES) >> 48) as usize;
        let mut at = count & (SYMBOLS - 1);
        if count == 8 {
            let ends_behind = |entry: Entry| {
                let (start, size) = (entry & 0xffff, entry >> 16 & 0xffff);
                u64::from(place) < start + size
            };
            while !ends_behind(self.entries[at]) && at < SYMBOLS - 1 {
                at += 1;
            }
        }
        self.entries[at]
    }
}

/// The tables of one value of a record.
pub(super) struct Lookup {
    pub(super) most: i16,
    landmark: i16,
    raw_bits: u32,
    /// The classes of the first group: a byte for each class of the left
    /// neighbour.
    near: Vec<u64>,
    far: Box<[u8; FAR_SLOTS]>,
    /// The distribution of each pair of classes.
    cells: Box<[u8; CELLS]>,
    /// The first symbol of each distribution: where it ends, and its difference.
    firsts: Box<[(u16, i16); 256]>,
    searches: Box<[Search]>,
}

impl Lookup {
    pub(super) fn new(model: &Model) -> Self {
        let mut near = Vec::with_capacity(model.near.len() / 5);
        for group in model.near.chunks_exact(5 * NEAR_GROUPS) {
            for rest in 0..NEAR_GROUPS {
                let class = |left: usize| u64::from(group[left * NEAR_GROUPS + rest]) << (8 * left);
                near.push((0..5).map(class).sum());
            }
        }
        let mut far = Box::new([0; FAR_SLOTS]);
        far[..FAR].copy_from_slice(&model.far);
        let mut cells = Box::new([0; CELLS]);
        cells[..model.joint.len()].copy_from_slice(&model.joint);
        let searches: Box<[Search]> = model.distributions.iter().map(Search::new).collect();
        let mut firsts = Box::new([(0, 0); 256]);
        for (first, search) in firsts.iter_mut().zip(&searches) {
            let entry = search.entries[0];
            *first = ((entry >> 16) as u16, (entry >> 32) as i16);
        }
        Lookup {
            most: model.most as i16,
            landmark: model.landmark,
            raw_bits: model.raw_bits(),
            near,
            far,
            cells,
            firsts,
            searches,
        }
    }

    /// Classes of a group of features.
    #[inline(always)]
    pub(super) fn near(&self, group: usize) -> u64 {
        self.near.get(group).copied().unwrap_or(0)
    }

    /// Reads a value, from 1 to the greatest whatever the bytes are.
    #[inline(always)]
    pub(super) fn take(
        &self,
        near: u64,
        left: usize,
        far: usize,
        pivot: i16,
        coder: &mut Decoder<'_>,
    ) -> i16 {
        let near = (near >> ((8 * left) & 63)) as u8;
        let far = self.far[far & (FAR_SLOTS - 1)];
        let cell = (usize::from(near) * FAR_CLASSES + usize::from(far)) & (CELLS - 1);
        let distribution = usize::from(self.cells[cell]);
        let (end, first) = self.firsts[distribution];
        let difference = if coder.take_first(u32::from(end)) {
            first
        } else {
            let entry = self.searches[distribution].find(coder.place());
            coder.take((entry & 0xffff) as u32, (entry >> 16 & 0xffff) as u32);
            (entry >> 32) as i16
        };
        let value = match difference {
            TO_LANDMARK => self.landmark,
            ESCAPED => coder.bits(self.raw_bits) as i16,
            _ => pivot + difference,
        };
        // Damaged bytes may lead out of range.
        if (value - 1) as u16 >= self.most as u16 {
            return value.clamp(1, self.most.max(1));
        }
        value
    }
}

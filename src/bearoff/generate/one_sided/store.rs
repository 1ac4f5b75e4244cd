//! Finished layers of one part, win or gammon, as segments of the working
//! store: where each group of rows begins (u32, little-endian), then the rows.

use std::borrow::Cow;

use super::super::working::Working;
use crate::{Error, Result};

/// Rows of a layer whose first one can be found without the others.
pub(crate) const GROUP: usize = 64;

/// Rows of a part of a layer, one after another.
pub(crate) struct Packed {
    pub(crate) bytes: Vec<u8>,
    /// Where each [`GROUP`] begins.
    pub(crate) groups: Vec<u32>,
}

impl Packed {
    pub(crate) fn with_capacity(rows: usize, typical_bytes: usize) -> Self {
        Packed {
            bytes: Vec::with_capacity(rows * typical_bytes),
            groups: Vec::with_capacity(rows.div_ceil(GROUP)),
        }
    }
}

/// Which layer: total of chequers and pip count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) total: u8,
    pub(crate) pips: usize,
}

/// Where the layers of one part are.
pub(crate) struct Store {
    /// Segment of the first key.
    base: usize,
    pips: usize,
    /// By key: where each [`GROUP`] begins behind the groups.
    groups: Vec<Vec<u32>>,
}

impl Store {
    /// How many segments a part has with up to `total` chequers and `pips`
    /// pips.
    pub(crate) fn segments(total: u8, pips: usize) -> usize {
        (usize::from(total) + 1) * (pips + 1)
    }

    /// No layer yet; the segments are those from `base` on.
    pub(crate) fn new(total: u8, pips: usize, base: usize) -> Self {
        let groups = vec![Vec::new(); Self::segments(total, pips)];
        Store { base, pips, groups }
    }

    fn at(&self, key: Key) -> usize {
        usize::from(key.total) * (self.pips + 1) + key.pips
    }

    /// Whether a layer is there already.
    pub(crate) fn has(&self, working: &Working, key: Key) -> bool {
        working.has(self.base + self.at(key))
    }

    /// Takes a finished layer in.
    pub(crate) fn put(&mut self, working: &mut Working, key: Key, parts: &[Packed]) -> Result<()> {
        let mut groups = Vec::with_capacity(parts.iter().map(|part| part.groups.len()).sum());
        let mut base = 0;
        for part in parts {
            groups.extend(part.groups.iter().map(|group| base + group));
            base += part.bytes.len() as u32;
        }
        let index: Vec<u8> = groups
            .iter()
            .flat_map(|group| group.to_le_bytes())
            .collect();
        let mut payload = vec![index.as_slice()];
        payload.extend(parts.iter().map(|part| part.bytes.as_slice()));
        let at = self.at(key);
        working.put(self.base + at, &payload)?;
        self.groups[at] = groups;
        Ok(())
    }

    /// Finds the groups of a layer of `rows` rows that is there already.
    pub(crate) fn take_over(&mut self, working: &Working, key: Key, rows: usize) -> Result<()> {
        let at = self.at(key);
        let index = working.read(self.base + at, 0..rows.div_ceil(GROUP) * 4)?;
        let groups: Vec<u32> = index
            .chunks_exact(4)
            .map(|group| u32::from_le_bytes([group[0], group[1], group[2], group[3]]))
            .collect();
        let bytes = working.len(self.base + at) - index.len();
        if !groups.is_sorted() || groups.last().is_some_and(|&last| last as usize > bytes) {
            return Err(Error::corrupt(
                "working-groups",
                "the groups of a layer are out of order",
            ));
        }
        self.groups[at] = groups;
        Ok(())
    }

    /// The bytes of the rows from group `first` to before group `end`.
    pub(crate) fn rows<'a>(
        &self,
        working: &'a Working,
        key: Key,
        first: usize,
        end: usize,
    ) -> Result<Cow<'a, [u8]>> {
        let at = self.at(key);
        let groups = &self.groups[at];
        let place = |group: usize| match groups.get(group) {
            Some(&begin) => 4 * groups.len() + begin as usize,
            None => working.len(self.base + at),
        };
        working.read(self.base + at, place(first)..place(end))
    }
}

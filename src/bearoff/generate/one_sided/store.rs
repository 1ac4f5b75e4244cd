//! Finished layers, packed, in memory or in a working file.

use crate::Result;

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
    pub(crate) pips: u16,
}

/// A finished layer.
#[derive(Default)]
struct Layer {
    bytes: Vec<u8>,
    /// Where each [`GROUP`] begins in the layer.
    groups: Vec<u32>,
}

/// All finished layers of one part (win or gammon).
pub(crate) struct Store {
    layers: Vec<Layer>,
    pips: usize,
}

impl Store {
    /// No layer yet, for up to `total` chequers and `pips` pips.
    pub(crate) fn new(total: u8, pips: usize) -> Self {
        let mut layers = Vec::new();
        layers.resize_with((usize::from(total) + 1) * (pips + 1), Layer::default);
        Store { layers, pips }
    }

    fn at(&self, key: Key) -> usize {
        usize::from(key.total) * (self.pips + 1) + usize::from(key.pips)
    }

    /// Takes a finished layer in.
    pub(crate) fn put(&mut self, key: Key, parts: &[Packed]) -> Result<()> {
        let mut layer = Layer {
            bytes: Vec::with_capacity(parts.iter().map(|part| part.bytes.len()).sum()),
            groups: Vec::with_capacity(parts.iter().map(|part| part.groups.len()).sum()),
        };
        for part in parts {
            let base = layer.bytes.len() as u32;
            layer
                .groups
                .extend(part.groups.iter().map(|group| base + group));
            layer.bytes.extend_from_slice(&part.bytes);
        }
        let at = self.at(key);
        self.layers[at] = layer;
        Ok(())
    }

    /// The bytes of the rows from group `first` to before group `end`.
    pub(crate) fn groups(&self, key: Key, first: usize, end: usize) -> Result<&[u8]> {
        let layer = &self.layers[self.at(key)];
        let start = layer
            .groups
            .get(first)
            .map_or(layer.bytes.len(), |&at| at as usize);
        let end = layer
            .groups
            .get(end)
            .map_or(layer.bytes.len(), |&at| at as usize);
        Ok(&layer.bytes[start..end])
    }
}

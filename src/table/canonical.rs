//! The canonical form of records: each raw value in as few whole bytes as its
//! bit length needs, little-endian, in record order.

use crate::format::Column;

/// Bytes of each value of a column's record.
#[derive(Debug, Clone)]
pub(super) enum Canonical {
    /// All values have two bytes.
    Pairs,
    /// Bytes of each value.
    Mixed(Vec<u8>),
}

impl Canonical {
    pub(super) fn of(column: &Column) -> Self {
        let bytes: Vec<u8> = column
            .value_bits()
            .iter()
            .map(|bits| bits.div_ceil(8))
            .collect();
        match bytes.iter().all(|&b| b == 2) {
            true => Canonical::Pairs,
            false => Canonical::Mixed(bytes),
        }
    }

    /// Appends the canonical form of `values`, one or more records.
    pub(super) fn append(&self, values: &[u32], out: &mut Vec<u8>) {
        match self {
            Canonical::Pairs => {
                let start = out.len();
                out.resize(start + 2 * values.len(), 0);
                for (pair, value) in out[start..].as_chunks_mut::<2>().0.iter_mut().zip(values) {
                    *pair = (*value as u16).to_le_bytes();
                }
            }
            Canonical::Mixed(bytes) => {
                for record in values.chunks_exact(bytes.len()) {
                    for (value, &n) in record.iter().zip(bytes) {
                        out.extend_from_slice(&value.to_le_bytes()[..usize::from(n)]);
                    }
                }
            }
        }
    }
}

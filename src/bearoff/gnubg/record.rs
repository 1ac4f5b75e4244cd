//! Records as bytes and back, for each kind of database.

use super::header::{Kind, ROLLS};
use crate::{Error, Result};

/// An entry of a compressed database's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Where the record's values begin, in values from the index's end.
    pub(crate) offset: u32,
    /// The non-zero run of `win` and that of `gammon`, empty without one.
    pub(crate) runs: [Run; 2],
}

/// A run of values: `first..first + count` of the 32.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u8,
    pub(crate) count: u8,
}

impl Run {
    /// The run from the first to the last value that is not zero.
    fn of(values: &[u32]) -> Run {
        let Some(first) = values.iter().position(|&v| v != 0) else {
            return Run::default();
        };
        let last = values.iter().rposition(|&v| v != 0).unwrap_or(first);
        Run {
            first: first as u8,
            count: (last - first + 1) as u8,
        }
    }

    fn range(self) -> std::ops::Range<usize> {
        let first = usize::from(self.first);
        first..first + usize::from(self.count)
    }
}

impl Entry {
    /// Reads an entry of 6 or 8 bytes.
    pub(crate) fn parse(number: u64, bytes: &[u8]) -> Result<Entry> {
        let mut runs = [Run::default(); 2];
        for (run, pair) in runs.iter_mut().zip(bytes[4..].chunks_exact(2)) {
            *run = Run {
                count: pair[0],
                first: pair[1],
            };
            if usize::from(run.first) + usize::from(run.count) > ROLLS {
                return Err(Error::corrupt(
                    "gnubg-run",
                    format!(
                        "the index of position {number} has a run of {} values from {} on, \
                         where there are {ROLLS}",
                        run.count, run.first
                    ),
                ));
            }
        }
        let offset = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        Ok(Entry { offset, runs })
    }

    /// Values of the record.
    pub(crate) fn count(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.count)).sum()
    }

    /// Where the next record's values begin.
    pub(crate) fn end(&self) -> u64 {
        u64::from(self.offset) + self.count()
    }

    /// Spreads the record's runs, of which `bytes` holds exactly the values.
    pub(crate) fn expand(&self, number: u64, bytes: &[u8], out: &mut [u32]) -> Result<()> {
        out.fill(0);
        let mut values = bytes
            .chunks_exact(2)
            .map(|b| u32::from(u16::from_le_bytes([b[0], b[1]])));
        for (run, half) in self.runs.iter().zip(out.chunks_exact_mut(ROLLS)) {
            let half = &mut half[run.range()];
            half.iter_mut()
                .zip(&mut values)
                .for_each(|(to, from)| *to = from);
            if half.first() == Some(&0) || half.last() == Some(&0) {
                return Err(Error::corrupt(
                    "gnubg-run",
                    format!(
                        "a run of position {number} begins or ends with a zero; \
                         runs reach from the first to the last value that is not zero"
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// Records of a fixed length: `bytes` to values.
pub(crate) fn decode(kind: Kind, first: u64, bytes: &[u8], out: &mut [u32]) -> Result<()> {
    match kind {
        Kind::OneSided { .. } | Kind::TwoSided { .. } => {
            for (to, b) in out.iter_mut().zip(bytes.chunks_exact(2)) {
                *to = u32::from(u16::from_le_bytes([b[0], b[1]]));
            }
        }
        Kind::Normal { .. } => {
            for (to, b) in out.iter_mut().zip(bytes.chunks_exact(4)) {
                *to = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            }
        }
        Kind::Hypergammon { .. } => {
            let records = bytes.chunks_exact(28).zip(out.chunks_exact_mut(9));
            for ((record, out), number) in records.zip(first..) {
                for (to, b) in out.iter_mut().zip(record.chunks_exact(3)) {
                    *to = u32::from_le_bytes([b[0], b[1], b[2], 0]);
                }
                if record[27] != 0 {
                    return Err(Error::corrupt(
                        "gnubg-pad",
                        format!("the last byte of record {number} is {}, not 0", record[27]),
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Appends records of a fixed length.
pub(crate) fn encode(kind: Kind, first: u64, values: &[u32], out: &mut Vec<u8>) -> Result<()> {
    match kind {
        Kind::OneSided { .. } | Kind::TwoSided { .. } => {
            check(kind, first, values, 16)?;
            out.extend(values.iter().flat_map(|&v| (v as u16).to_le_bytes()));
        }
        Kind::Normal { .. } => out.extend(values.iter().flat_map(|&v| v.to_le_bytes())),
        Kind::Hypergammon { .. } => {
            check(kind, first, values, 24)?;
            for record in values.chunks_exact(9) {
                for v in record {
                    out.extend_from_slice(&v.to_le_bytes()[..3]);
                }
                out.push(0);
            }
        }
    }
    Ok(())
}

/// Appends the entries of compressed records, the first at `offset` values,
/// and their values. Answers where the next record's values begin.
pub(crate) fn compress(
    kind: Kind,
    first: u64,
    values: &[u32],
    index: &mut Vec<u8>,
    data: &mut Vec<u8>,
) -> Result<()> {
    check(kind, first, values, 16)?;
    for record in values.chunks_exact(kind.width()) {
        // Offsets depend on all records before: the writer puts them in.
        index.extend_from_slice(&[0; 4]);
        for half in record.chunks_exact(ROLLS) {
            let run = Run::of(half);
            index.extend_from_slice(&[run.count, run.first]);
            data.extend(
                half[run.range()]
                    .iter()
                    .flat_map(|&v| (v as u16).to_le_bytes()),
            );
        }
    }
    Ok(())
}

/// Refuses values that do not fit into `bits` bits.
fn check(kind: Kind, first: u64, values: &[u32], bits: u32) -> Result<()> {
    match values.iter().position(|&v| v >> bits != 0) {
        None => Ok(()),
        Some(at) => Err(Error::invalid(format!(
            "value {} of position {} is {}: gnubg's file has room for {bits} bits",
            at % kind.width(),
            first + (at / kind.width()) as u64,
            values[at]
        ))),
    }
}

//! An open database, read at positions.

use std::fmt;
use std::path::Path;

use super::header::{HEADER_BYTES, Kind};
use super::record::{self, Entry};
use crate::source::{FileSource, Source};
use crate::table::Records;
use crate::{Error, Result};

/// An open database of any [`Kind`].
///
/// Reading takes `&self` and moves no file position, so that threads do not
/// disturb each other.
pub struct GnubgFile {
    source: Box<dyn Source>,
    kind: Kind,
    positions: u64,
    bytes: u64,
}

impl GnubgFile {
    /// Opens a database whatever its name.
    ///
    /// Errors: [`Error::Io`]; [`Error::Corrupt`] for a header that is not
    /// gnubg's and for a file that is longer or shorter than its header says.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_source(Box::new(FileSource::open(path)?))
    }

    /// Opens a database wherever its bytes are. Errors: as [`Self::open`].
    pub fn from_source(source: Box<dyn Source>) -> Result<Self> {
        let kind = Kind::read(&*source).map_err(|e| name_file(e, &*source))?;
        let opened = GnubgFile {
            positions: kind.positions()?,
            bytes: source.len(),
            kind,
            source,
        };
        match opened.check_length() {
            Ok(()) => Ok(opened),
            Err(e) => Err(name_file(e, &*opened.source)),
        }
    }

    /// Compares the file's length with what header and index say.
    fn check_length(&self) -> Result<()> {
        let shortest = self.kind.file_bytes(0)?;
        let wrong = |expected: u64, what: &str| {
            Err(Error::corrupt(
                "gnubg-length",
                format!(
                    "{} bytes where {what} says {expected}: the file is {}",
                    self.bytes,
                    if self.bytes < expected {
                        "cut short"
                    } else {
                        "too long"
                    }
                ),
            ))
        };
        if !self.kind.is_compressed() {
            return if self.bytes == shortest {
                Ok(())
            } else {
                wrong(shortest, "its header")
            };
        }
        if self.bytes < shortest {
            return wrong(shortest, "its header (before any value)");
        }
        let index = self.entries(0, 1)?;
        if index[0].offset != 0 {
            return Err(offset_error(0, index[0].offset, 0).at(HEADER_BYTES));
        }
        let last = self.entries(self.positions - 1, 1)?;
        let expected = self.kind.file_bytes(last[0].end())?;
        if self.bytes == expected {
            Ok(())
        } else {
            wrong(expected, "its index")
        }
    }

    /// What the database holds.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many positions it has.
    pub fn positions(&self) -> u64 {
        self.positions
    }

    /// Values in a record; see [`Kind::width`].
    pub fn width(&self) -> usize {
        self.kind.width()
    }

    /// Bytes of the file.
    pub fn file_bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `out` with the records from number `first` on.
    ///
    /// A value is what the file holds: `win` then `gammon` in 1/65535, bit
    /// patterns of `f32`, equities, or hypergammon's 24-bit numbers.
    ///
    /// Errors: [`Error::Invalid`] for numbers that are not there or a length
    /// of `out` that is no multiple of the width; [`Error::Corrupt`] for an
    /// index or runs that contradict themselves; [`Error::Io`].
    pub fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        self.read_here(first, out)
            .map_err(|e| name_file(e, &*self.source))
    }

    fn read_here(&self, first: u64, out: &mut [u32]) -> Result<()> {
        let width = self.width();
        let count = (out.len() / width) as u64;
        if !out.len().is_multiple_of(width)
            || first
                .checked_add(count)
                .is_none_or(|end| end > self.positions)
        {
            return Err(Error::invalid(format!(
                "{} values from position {first} on, in a database of {} positions of {width} values",
                out.len(),
                self.positions
            )));
        }
        if count == 0 {
            return Ok(());
        }
        if self.kind.is_compressed() {
            return self.read_runs(first, count, out);
        }
        let stride = self.kind.stride();
        let offset = HEADER_BYTES + first * stride;
        let bytes = self.bytes_at(offset, count * stride)?;
        record::decode(self.kind, first, &bytes, out).map_err(|e| e.at(offset))
    }

    fn read_runs(&self, first: u64, count: u64, out: &mut [u32]) -> Result<()> {
        // One entry more where there is one: each record must begin where
        // the one before it ends.
        let entries = self.entries(first, (count + 1).min(self.positions - first))?;
        let entry_at = |number: u64| HEADER_BYTES + number * self.kind.stride();
        for (pair, number) in entries.windows(2).zip(first + 1..) {
            if u64::from(pair[1].offset) != pair[0].end() {
                let error = offset_error(number, pair[1].offset, pair[0].end());
                return Err(error.at(entry_at(number)));
            }
        }
        let entries = &entries[..count as usize];
        let start = u64::from(entries[0].offset);
        let values = entries.iter().map(Entry::count).sum::<u64>();
        let data_at = self.kind.file_bytes(start)?;
        if data_at + 2 * values > self.bytes {
            let error = Error::corrupt(
                "gnubg-index",
                format!(
                    "the index of position {first} leads to bytes {data_at} and on, beyond the file's {}",
                    self.bytes
                ),
            );
            return Err(error.at(entry_at(first)));
        }
        let bytes = self.bytes_at(data_at, 2 * values)?;
        let mut rest = bytes.as_slice();
        for ((entry, out), number) in entries
            .iter()
            .zip(out.chunks_exact_mut(self.width()))
            .zip(first..)
        {
            let (run, after) = rest.split_at(2 * entry.count() as usize);
            entry
                .expand(number, run, out)
                .map_err(|e| e.at(self.bytes - rest.len() as u64))?;
            rest = after;
        }
        Ok(())
    }

    /// `count` entries of the index from position `first` on.
    fn entries(&self, first: u64, count: u64) -> Result<Vec<Entry>> {
        let stride = self.kind.stride();
        let offset = HEADER_BYTES + first * stride;
        self.bytes_at(offset, count * stride)?
            .chunks_exact(stride as usize)
            .zip(first..)
            .map(|(bytes, number)| {
                Entry::parse(number, bytes).map_err(|e| e.at(HEADER_BYTES + number * stride))
            })
            .collect()
    }

    /// Bytes that the length check has found to be there.
    fn bytes_at(&self, offset: u64, count: u64) -> Result<Vec<u8>> {
        let count = usize::try_from(count).map_err(|_| {
            Error::invalid(format!("{count} bytes in one read: ask for fewer records"))
        })?;
        let mut bytes = vec![0; count];
        self.source.read_at(offset, &mut bytes)?;
        Ok(bytes)
    }
}

fn offset_error(number: u64, found: u32, expected: u64) -> Error {
    Error::corrupt(
        "gnubg-index",
        format!(
            "the values of position {number} begin at {found} by the index, \
             but those before it end at {expected}"
        ),
    )
}

fn name_file(error: Error, source: &dyn Source) -> Error {
    match source.path() {
        Some(path) => error.in_file(path),
        None => error,
    }
}

impl fmt::Debug for GnubgFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GnubgFile")
            .field("path", &self.source.path())
            .field("kind", &self.kind)
            .field("positions", &self.positions)
            .finish_non_exhaustive()
    }
}

impl Records for GnubgFile {
    fn len(&self) -> u64 {
        self.positions
    }

    fn width(&self) -> usize {
        self.kind.width()
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        GnubgFile::read(self, first, out)
    }
}

//! The 48 bytes at the end of a table.

use super::bytes::{Cursor, Sink};
use crate::{Error, Result};

/// Length of the footer in bytes.
pub const FOOTER_BYTES: usize = 48;
/// Bytes of the footer that its checksum covers.
const COVERED_BYTES: usize = 32;
/// Last bytes of a whole table.
const END_MAGIC: [u8; 8] = *b"\x1aend.ETB";

/// What the end of a table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footer {
    /// Length of the whole file in bytes.
    pub file_bytes: u64,
    /// Offset of the block index in bytes.
    pub index_offset: u64,
    /// Length of the block index in bytes; the footer follows it.
    pub index_bytes: u64,
    /// CRC-32 of the content: all records in number order in canonical form.
    pub content_crc32: u32,
}

impl Footer {
    /// The footer's bytes; `parts` are header, schema and index.
    pub fn to_bytes(self, parts: &[&[u8]]) -> Vec<u8> {
        let mut sink = Sink::new();
        sink.u64(self.file_bytes);
        sink.u64(self.index_offset);
        sink.u64(self.index_bytes);
        sink.u32(self.content_crc32);
        sink.u32(0);
        let crc = checksum(parts, &sink.bytes);
        sink.u32(crc);
        sink.u32(0);
        sink.bytes.extend_from_slice(&END_MAGIC);
        sink.bytes
    }

    /// Reads a footer from the last [`FOOTER_BYTES`] bytes of a file of
    /// `file_bytes` bytes and checks that it fits that length.
    pub fn parse(bytes: &[u8], file_bytes: u64) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "F-1");
        let footer = Footer {
            file_bytes: cursor.u64()?,
            index_offset: cursor.u64()?,
            index_bytes: cursor.u64()?,
            content_crc32: cursor.u32()?,
        };
        let reserved = cursor.u32()?;
        let _checksum = cursor.u32()?;
        let reserved = reserved | cursor.u32()?;
        if cursor.take(8)? != END_MAGIC {
            return Err(Error::corrupt(
                "F-2",
                format!(
                    "the file ends after {file_bytes} bytes without an end mark: it is truncated; fetch or make it again"
                ),
            ));
        }
        if footer.file_bytes != file_bytes {
            return Err(Error::corrupt(
                "F-3",
                format!(
                    "{} bytes expected, the file has {file_bytes}; fetch or make it again",
                    footer.file_bytes
                ),
            ));
        }
        if reserved != 0 {
            return Err(Error::corrupt(
                "F-4",
                "reserved bytes of the footer are not zero",
            ));
        }
        let end = footer
            .index_offset
            .checked_add(footer.index_bytes)
            .and_then(|end| end.checked_add(FOOTER_BYTES as u64));
        if end != Some(file_bytes) {
            return Err(Error::corrupt(
                "F-5",
                format!(
                    "the index ({} bytes at {}) does not end where the footer begins",
                    footer.index_bytes, footer.index_offset
                ),
            ));
        }
        Ok(footer)
    }

    /// Compares the checksum of everything that is not a block; `bytes` is the
    /// footer, `parts` are header, schema and index.
    pub fn check(bytes: &[u8], parts: &[&[u8]]) -> Result<()> {
        let mut cursor = Cursor::new(bytes, "F-1");
        let covered = cursor.take(COVERED_BYTES)?;
        let stated = cursor.u32()?;
        let found = checksum(parts, covered);
        if stated != found {
            return Err(Error::corrupt(
                "F-6",
                format!(
                    "checksum of header, schema, index and footer is {found:08x}, {stated:08x} stated; fetch or make the file again"
                ),
            ));
        }
        Ok(())
    }
}

fn checksum(parts: &[&[u8]], footer: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.update(footer);
    hasher.finalize()
}

//! The 32 bytes at the front of a table.

use super::bytes::{Cursor, Sink};
use crate::{Error, Result};

/// Major version that this library reads and writes.
pub const FORMAT_MAJOR: u16 = 1;
/// Minor version that this library writes, and the newest that it knows whole.
pub const FORMAT_MINOR: u16 = 0;
/// Length of the header in bytes.
pub const HEADER_BYTES: usize = 32;

/// First bytes of a table: one with the high bit set, the name, and line ends
/// that a transfer in text mode would damage.
const MAGIC: [u8; 8] = *b"\x89ETB\r\n\x1a\n";
/// Flags that a reader must know, all reserved so far.
const CRITICAL_FLAGS: u16 = 0x00ff;

/// What the front of a table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Minor version of the writer.
    pub minor: u16,
    /// Least minor version that a reader needs.
    pub minimum_reader: u16,
    /// Positions in the table.
    pub positions: u64,
    /// Length of the schema in bytes; it follows the header.
    pub schema_bytes: u32,
}

impl Header {
    /// The header's bytes.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut sink = Sink::new();
        sink.bytes.extend_from_slice(&MAGIC);
        sink.u16(FORMAT_MAJOR);
        sink.u16(self.minor);
        sink.u16(self.minimum_reader);
        sink.u16(0);
        sink.u64(self.positions);
        sink.u32(self.schema_bytes);
        sink.u32(crc32fast::hash(&sink.bytes));
        sink.bytes
    }

    /// Reads a header from the first [`HEADER_BYTES`] bytes of a file.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "H-1");
        if cursor.remaining() >= MAGIC.len() && !bytes.starts_with(&MAGIC) {
            return Err(Error::corrupt(
                "H-2",
                "not an endtable file: the first 8 bytes are not its magic; to read a gnubg database, transcode it first",
            ));
        }
        cursor.take(MAGIC.len())?;
        let major = cursor.u16()?;
        let minor = cursor.u16()?;
        let minimum_reader = cursor.u16()?;
        let flags = cursor.u16()?;
        let positions = cursor.u64()?;
        let schema_bytes = cursor.u32()?;
        let stated = cursor.u32()?;
        let found = crc32fast::hash(bytes.get(..HEADER_BYTES - 4).unwrap_or_default());
        if stated != found {
            return Err(Error::corrupt(
                "H-3",
                format!(
                    "header checksum is {found:08x}, {stated:08x} stated; fetch or make the file again"
                ),
            ));
        }
        if major == FORMAT_MAJOR && minimum_reader > minor {
            return Err(Error::corrupt(
                "H-6",
                format!("minor version {minor} cannot need a reader of {minimum_reader}"),
            ));
        }
        if major != FORMAT_MAJOR || minimum_reader > FORMAT_MINOR {
            return Err(Error::unsupported(format!(
                "format {major}.{minor}, which needs a reader of {major}.{minimum_reader}; this one reads {FORMAT_MAJOR}.{FORMAT_MINOR}: update endtable"
            )));
        }
        if flags & CRITICAL_FLAGS != 0 {
            return Err(Error::unsupported(format!(
                "header flags {flags:#06x}; this version knows none: update endtable"
            )));
        }
        if positions > i64::MAX as u64 {
            return Err(Error::corrupt(
                "H-4",
                format!("{positions} positions, at most 2^63 - 1 allowed"),
            ));
        }
        Ok(Header {
            minor,
            minimum_reader,
            positions,
            schema_bytes,
        })
    }
}

//! A table in memory.

use std::io;

use super::Source;
use crate::{Error, Result};

/// Bytes that the program holds, such as a `Vec<u8>` or an embedded
/// `&'static [u8]`.
#[derive(Debug, Clone)]
pub struct MemorySource<B> {
    bytes: B,
}

impl<B: AsRef<[u8]>> MemorySource<B> {
    /// A source of these bytes.
    pub fn new(bytes: B) -> Self {
        MemorySource { bytes }
    }
}

impl<B: AsRef<[u8]> + Send + Sync> Source for MemorySource<B> {
    fn len(&self) -> u64 {
        self.bytes.as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        copy_at(self.bytes.as_ref(), offset, out)
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self.bytes.as_ref())
    }
}

/// Copies from `bytes` at `offset`, or says that they end too soon.
pub(super) fn copy_at(bytes: &[u8], offset: u64, out: &mut [u8]) -> Result<()> {
    let part = usize::try_from(offset)
        .ok()
        .and_then(|from| bytes.get(from..))
        .and_then(|rest| rest.get(..out.len()));
    match part {
        Some(part) => {
            out.copy_from_slice(part);
            Ok(())
        }
        None => Err(Error::io(
            format!(
                "read {} bytes at offset {offset} of {}",
                out.len(),
                bytes.len()
            ),
            io::ErrorKind::UnexpectedEof.into(),
        )),
    }
}

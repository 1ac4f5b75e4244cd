//! A table in a file: positioned reads, or a memory map.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::Source;
use super::memory::copy_at;
use super::positioned::read_exact_at;
use crate::{Error, Result};

/// A file read with positioned reads, which threads share without a lock.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    path: PathBuf,
    len: u64,
}

impl FileSource {
    /// Opens `path` for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (file, len) = open(path)?;
        Ok(FileSource {
            file,
            path: path.to_owned(),
            len,
        })
    }
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, out, offset).map_err(|e| {
            Error::io(format!("read {} bytes at offset {offset}", out.len()), e).in_file(&self.path)
        })
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

/// A file mapped into memory: the fastest source, at the price of the promise
/// in [`MapSource::open`].
#[derive(Debug)]
pub struct MapSource {
    map: memmap2::Mmap,
    path: PathBuf,
}

impl MapSource {
    /// Maps `path`.
    ///
    /// # Safety
    /// Until the source is dropped, nobody may change or shorten the file:
    /// the mapped bytes would change under the program, or reading them would
    /// end it. Use [`FileSource`] where that cannot be promised.
    #[allow(unsafe_code)]
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (file, _) = open(path)?;
        // SAFETY: the caller promises that the file stays as it is.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(|e| {
            Error::io(
                "map the file into memory (the file source reads it without)",
                e,
            )
            .in_file(path)
        })?;
        #[cfg(unix)]
        // Advice only: a kernel that declines it reads ahead for nothing.
        let _ = map.advise(memmap2::Advice::Random);
        Ok(MapSource {
            map,
            path: path.to_owned(),
        })
    }
}

impl Source for MapSource {
    fn len(&self) -> u64 {
        self.map.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        copy_at(&self.map, offset, out).map_err(|e| e.in_file(&self.path))
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(&self.map)
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

fn open(path: &Path) -> Result<(File, u64)> {
    let file = File::open(path).map_err(|e| Error::io("open the file", e).in_file(path))?;
    let meta = file
        .metadata()
        .map_err(|e| Error::io("ask for the file's length", e).in_file(path))?;
    if meta.is_dir() {
        return Err(Error::invalid(format!(
            "{}: is a folder, a file is expected",
            path.display()
        )));
    }
    Ok((file, meta.len()))
}

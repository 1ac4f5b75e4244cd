//! Writing a database, byte for byte as gnubg's own programs would.

use std::fs::File;
use std::io;
use std::path::Path;

use rayon::prelude::*;

use super::header::{HEADER_BYTES, Kind};
use super::record;
use crate::source::positioned::write_all_at;
use crate::table::Records;
use crate::{Error, Result};

/// Records that one thread turns into bytes at a time.
const CHUNK: u64 = 1 << 13;

/// What [`write()`] may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Export {
    /// Replace a file that exists.
    pub overwrite: bool,
    /// Write a file that gnubg itself could not read.
    pub beyond_gnubg: bool,
}

/// Writes the database of `kind` with `records` to `out`: first to a
/// temporary file beside it, which takes its place when it is whole.
///
/// `progress` is told how many records are written; its error stops the work.
///
/// Errors: [`Error::Invalid`] when `out` exists, when the file would be
/// beyond gnubg (both unless allowed) or the format, and for values that do
/// not fit; [`Error::Io`]; and whatever `records` or `progress` answer.
pub fn write(
    out: &Path,
    kind: Kind,
    records: &dyn Records,
    options: Export,
    progress: &dyn Fn(u64) -> Result<()>,
) -> Result<()> {
    if out.exists() && !options.overwrite {
        return Err(exists(out));
    }
    let shortest = kind.file_bytes(0)?;
    check_gnubg(shortest, options)?;
    let folder = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".endtable-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder
        .tempfile_in(folder)
        .map_err(|e| Error::io("create a file here", e).in_file(folder))?;
    let mut writer = Writer {
        file: temporary.as_file(),
        kind,
        values: 0,
        options,
    };
    writer.all(records, progress).map_err(|e| match e {
        Error::Io { path: None, .. } => e.in_file(out),
        other => other,
    })?;
    temporary
        .as_file()
        .sync_all()
        .map_err(|e| Error::io("write", e).in_file(out))?;
    let moved = if options.overwrite {
        temporary.persist(out)
    } else {
        temporary.persist_noclobber(out)
    };
    match moved {
        Ok(_) => Ok(()),
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(out)),
        Err(e) => Err(Error::io("move the finished file into place", e.error).in_file(out)),
    }
}

fn exists(out: &Path) -> Error {
    Error::invalid(format!(
        "{} exists: choose another name, or force it",
        out.display()
    ))
}

/// gnubg finds records with 32-bit byte offsets.
fn check_gnubg(bytes: u64, options: Export) -> Result<()> {
    if bytes <= 1 << 32 || options.beyond_gnubg {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the file would have {bytes} bytes, and gnubg's 32-bit offsets end at {}: gnubg would read \
         wrong records; force it if another program is to read the file",
        1u64 << 32
    )))
}

struct Writer<'a> {
    file: &'a File,
    kind: Kind,
    /// Values written, for a compressed database.
    values: u64,
    options: Export,
}

/// What one chunk turns into; the index is empty without compression.
#[derive(Default)]
struct Chunk {
    index: Vec<u8>,
    data: Vec<u8>,
}

impl Writer<'_> {
    fn all(&mut self, records: &dyn Records, progress: &dyn Fn(u64) -> Result<()>) -> Result<()> {
        self.put(&self.kind.header(), 0)?;
        let positions = self.kind.positions()?;
        let group = CHUNK * 4 * rayon::current_num_threads() as u64;
        let mut done = 0;
        while done < positions {
            let end = positions.min(done + group);
            let starts: Vec<u64> = (done..end).step_by(CHUNK as usize).collect();
            let chunks = starts
                .into_par_iter()
                .map(|first| self.chunk(records, first, CHUNK.min(end - first)))
                .collect::<Result<Vec<_>>>()?;
            for (chunk, first) in chunks.into_iter().zip((done..).step_by(CHUNK as usize)) {
                self.place(first, chunk)?;
            }
            done = end;
            progress(done)?;
        }
        Ok(())
    }

    fn chunk(&self, records: &dyn Records, first: u64, count: u64) -> Result<Chunk> {
        let mut values = vec![0; count as usize * self.kind.width()];
        records.read(first, &mut values)?;
        let mut chunk = Chunk::default();
        if self.kind.is_compressed() {
            record::compress(self.kind, first, &values, &mut chunk.index, &mut chunk.data)?;
        } else {
            record::encode(self.kind, first, &values, &mut chunk.data)?;
        }
        Ok(chunk)
    }

    fn place(&mut self, first: u64, mut chunk: Chunk) -> Result<()> {
        let stride = self.kind.stride();
        let fixed_at = HEADER_BYTES + first * stride;
        if !self.kind.is_compressed() {
            return self.put(&chunk.data, fixed_at);
        }
        let data_at = self.kind.file_bytes(self.values)?;
        for entry in chunk.index.chunks_exact_mut(stride as usize) {
            let offset = u32::try_from(self.values).map_err(|_| {
                Error::invalid(
                    "gnubg's compressed format counts values in 32 bits, and there are more: \
                     write the raw form",
                )
            })?;
            entry[..4].copy_from_slice(&offset.to_le_bytes());
            self.values += entry[4..]
                .iter()
                .step_by(2)
                .map(|&count| u64::from(count))
                .sum::<u64>();
        }
        check_gnubg(self.kind.file_bytes(self.values)?, self.options)?;
        self.put(&chunk.index, fixed_at)?;
        self.put(&chunk.data, data_at)
    }

    fn put(&self, bytes: &[u8], offset: u64) -> Result<()> {
        write_all_at(self.file, bytes, offset)
            .map_err(|e| Error::io(format!("write {} bytes at offset {offset}", bytes.len()), e))
    }
}

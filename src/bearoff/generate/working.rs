//! Finished layers while a table is made, in memory or in a working file.
//!
//! A working file is a header and then segments, each with its own checksum,
//! so that a run which was killed goes on after the last whole one. It begins
//! with `endtable working file`, a line that says what is made (another table
//! is never continued), and padding up to 256 bytes. A segment is its id
//! (u32), the CRC-32 of id, length and payload (u32), the payload's length
//! (u64) and the payload; all numbers are little-endian.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::source::positioned::{read_exact_at, write_all_at};
use crate::{Error, Result};

const HEADER_BYTES: u64 = 256;
const SEGMENT_BYTES: u64 = 16;

/// Where finished layers are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Keep {
    /// In memory.
    #[default]
    Memory,
    /// In a working file, which must not exist.
    File(PathBuf),
    /// In a working file, whose layers are taken over if it exists.
    Resume(PathBuf),
}

/// Segments by id.
pub(crate) struct Working {
    backing: Backing,
    segments: Vec<Option<Segment>>,
}

enum Backing {
    Memory(Vec<Vec<u8>>),
    File { file: File, path: PathBuf, end: u64 },
}

#[derive(Clone, Copy)]
struct Segment {
    /// Offset of the payload, or its place in memory.
    at: u64,
    bytes: u64,
}

impl Working {
    /// A place for segments with ids below `ids`, of the table `what`.
    ///
    /// Errors: [`Error::Invalid`] when the file exists or holds another
    /// table's layers, [`Error::Io`].
    pub(crate) fn new(keep: &Keep, ids: usize, what: &str) -> Result<Self> {
        let segments = vec![None; ids];
        match keep {
            Keep::Memory => Ok(Working {
                backing: Backing::Memory(Vec::new()),
                segments,
            }),
            Keep::File(path) => Self::create(path, segments, what).map_err(|e| e.in_file(path)),
            Keep::Resume(path) => Self::resume(path, segments, what).map_err(|e| e.in_file(path)),
        }
    }

    fn create(path: &Path, segments: Vec<Option<Segment>>, what: &str) -> Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|e| match e.kind() {
                io::ErrorKind::AlreadyExists => Error::invalid(format!(
                    "{} exists: an earlier run was interrupted; continue it with --resume, or remove the file",
                    path.display()
                )),
                _ => Error::io("create the working file", e),
            })?;
        Self::start(file, path, segments, what)
    }

    /// A file without any segment yet.
    fn start(file: File, path: &Path, segments: Vec<Option<Segment>>, what: &str) -> Result<Self> {
        write_all_at(&file, &header(what), 0)
            .map_err(|e| Error::io("write the working file", e))?;
        let backing = Backing::File {
            file,
            path: path.to_owned(),
            end: HEADER_BYTES,
        };
        Ok(Working { backing, segments })
    }

    fn resume(path: &Path, segments: Vec<Option<Segment>>, what: &str) -> Result<Self> {
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Self::create(path, segments, what);
            }
            Err(e) => return Err(Error::io("open the working file", e)),
        };
        let bytes = file
            .metadata()
            .map_err(|e| Error::io("find the length", e))?
            .len();
        if bytes < HEADER_BYTES {
            // The run was killed before it had done anything.
            file.set_len(0).map_err(|e| Error::io("begin again", e))?;
            return Self::start(file, path, segments, what);
        }
        let mut found = [0; HEADER_BYTES as usize];
        read_exact_at(&file, &mut found, 0).map_err(|e| Error::io("read the header", e))?;
        if found != header(what) {
            return Err(Error::invalid(format!(
                "{} is no working file of this table ({what}): give the same options as before, \
                 or remove it",
                path.display()
            )));
        }
        let backing = Backing::File {
            file,
            path: path.to_owned(),
            end: HEADER_BYTES,
        };
        let mut working = Working { backing, segments };
        working.take_over(bytes)?;
        Ok(working)
    }

    /// Finds the whole segments; the first that is not ends the file.
    fn take_over(&mut self, bytes: u64) -> Result<()> {
        let Backing::File { file, end, .. } = &mut self.backing else {
            return Ok(());
        };
        let mut buffer = vec![0; 1 << 20];
        while *end + SEGMENT_BYTES <= bytes {
            let mut head = [0; SEGMENT_BYTES as usize];
            read_exact_at(file, &mut head, *end).map_err(|e| Error::io("read", e))?;
            let [id, crc] = [0, 4]
                .map(|i| u32::from_le_bytes([head[i], head[i + 1], head[i + 2], head[i + 3]]));
            let mut length = [0; 8];
            length.copy_from_slice(&head[8..]);
            let length = u64::from_le_bytes(length);
            let at = *end + SEGMENT_BYTES;
            let Some(next) = at.checked_add(length).filter(|&next| next <= bytes) else {
                break;
            };
            let mut found = checksum(id, length);
            for start in (at..next).step_by(buffer.len()) {
                let part = &mut buffer[..(next - start).min(1 << 20) as usize];
                read_exact_at(file, part, start).map_err(|e| Error::io("read", e))?;
                found.update(part);
            }
            let Some(segment) = self
                .segments
                .get_mut(id as usize)
                .filter(|_| found.finalize() == crc)
            else {
                break;
            };
            *segment = Some(Segment { at, bytes: length });
            *end = next;
        }
        file.set_len(*end)
            .map_err(|e| Error::io("cut a broken end off", e))
    }

    /// Whether a segment is there.
    pub(crate) fn has(&self, id: usize) -> bool {
        self.segments[id].is_some()
    }

    /// Adds a segment, given in parts.
    pub(crate) fn put(&mut self, id: usize, parts: &[&[u8]]) -> Result<()> {
        let bytes: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let at = match &mut self.backing {
            Backing::Memory(payloads) => {
                payloads.push(parts.concat());
                payloads.len() as u64 - 1
            }
            Backing::File { file, path, end } => {
                let mut crc = checksum(id as u32, bytes);
                parts.iter().for_each(|part| crc.update(part));
                let mut buffer = Vec::with_capacity((SEGMENT_BYTES + bytes) as usize);
                buffer.extend((id as u32).to_le_bytes());
                buffer.extend(crc.finalize().to_le_bytes());
                buffer.extend(bytes.to_le_bytes());
                parts.iter().for_each(|part| buffer.extend_from_slice(part));
                write_all_at(file, &buffer, *end)
                    .map_err(|e| Error::io("write the working file", e).in_file(path))?;
                let at = *end + SEGMENT_BYTES;
                *end = at + bytes;
                at
            }
        };
        self.segments[id] = Some(Segment { at, bytes });
        Ok(())
    }

    /// Length of a segment in bytes; one that is not there has none.
    pub(crate) fn len(&self, id: usize) -> usize {
        self.segments[id].map_or(0, |segment| segment.bytes as usize)
    }

    /// Bytes of a segment, which must have them.
    pub(crate) fn read(&self, id: usize, range: Range<usize>) -> Result<Cow<'_, [u8]>> {
        let missing = || Error::invalid(format!("segment {id} has no bytes {range:?}"));
        let segment = self.segments[id].ok_or_else(missing)?;
        match &self.backing {
            Backing::Memory(payloads) => {
                let bytes = payloads[segment.at as usize]
                    .get(range.clone())
                    .ok_or_else(missing)?;
                Ok(Cow::Borrowed(bytes))
            }
            Backing::File { file, path, .. } => {
                let mut bytes = vec![0; range.len()];
                read_exact_at(file, &mut bytes, segment.at + range.start as u64)
                    .map_err(|e| Error::io("read the working file", e).in_file(path))?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Removes the working file: the table is finished.
    pub(crate) fn discard(self) -> Result<()> {
        match self.backing {
            Backing::Memory(_) => Ok(()),
            Backing::File { file, path, .. } => {
                drop(file);
                std::fs::remove_file(&path)
                    .map_err(|e| Error::io("remove the working file", e).in_file(&path))
            }
        }
    }
}

fn header(what: &str) -> [u8; HEADER_BYTES as usize] {
    let mut header = [b' '; HEADER_BYTES as usize];
    let text = format!("endtable working file 1\n{what}\n");
    for (to, from) in header.iter_mut().zip(text.bytes()) {
        *to = from;
    }
    header
}

fn checksum(id: u32, bytes: u64) -> crc32fast::Hasher {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&id.to_le_bytes());
    crc.update(&bytes.to_le_bytes());
    crc
}

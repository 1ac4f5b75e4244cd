//! Where tables lie on this machine, so that nobody types paths.
//!
//! `ENDTABLE_PATH` lists files and folders as `PATH` does; the user's own data
//! folder comes after it. Files are known by their first bytes, never by name.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The variable that lists files and folders with tables.
pub const PATH_VARIABLE: &str = "ENDTABLE_PATH";

/// Folders within folders that are searched.
const DEPTH: usize = 4;

/// First bytes of a file that tell its make.
pub const MAGIC_BYTES: usize = 8;

/// The files and folders of `ENDTABLE_PATH`, then the user's data folder:
/// `$XDG_DATA_HOME/endtable` or `~/.local/share/endtable`, on macOS
/// `~/Library/Application Support/endtable`, on Windows
/// `%LOCALAPPDATA%\endtable`. None of them needs to exist.
pub fn search_path() -> Vec<PathBuf> {
    let listed = env::var_os(PATH_VARIABLE).unwrap_or_default();
    env::split_paths(&listed)
        .filter(|path| !path.as_os_str().is_empty())
        .chain(data_folder())
        .collect()
}

/// The user's own folder for tables, where the system has such a thing.
pub fn data_folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let home = || set("HOME").map(PathBuf::from);
    let base = if cfg!(windows) {
        set("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else {
        // The XDG rule: a relative path there is to be ignored.
        set("XDG_DATA_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| home().map(|home| home.join(".local/share")))
    };
    base.map(|base| base.join("endtable"))
}

/// The files among `places` (files and folders, searched four folders deep)
/// whose first bytes `wanted` takes, each once, in the order of `places` and
/// by name within a folder. What cannot be read is passed over.
pub fn find(places: &[PathBuf], wanted: impl Fn(&[u8]) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in places {
        visit(place, DEPTH, &wanted, &mut found);
    }
    found
}

/// Whether a file that begins with `start` is a table of this format.
pub fn is_table(start: &[u8]) -> bool {
    start.starts_with(b"\x89ETB")
}

fn visit(path: &Path, depth: usize, wanted: &dyn Fn(&[u8]) -> bool, found: &mut Vec<PathBuf>) {
    let Ok(meta) = fs::metadata(path) else {
        return;
    };
    if meta.is_dir() {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let Ok(entries) = fs::read_dir(path) else {
            return;
        };
        let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        inside.sort();
        for path in inside {
            visit(&path, depth, wanted, found);
        }
    } else if meta.is_file() {
        let mut start = Vec::with_capacity(MAGIC_BYTES);
        let read =
            File::open(path).and_then(|file| file.take(MAGIC_BYTES as u64).read_to_end(&mut start));
        if read.is_ok() && wanted(&start) && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_content_in_a_fixed_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("deep/er")).unwrap();
        fs::create_dir_all(at("1/2/3/4")).unwrap();
        fs::write(at("b.txt"), b"\x89ETB\r\n\x1a\n and more").unwrap();
        fs::write(at("a.etb"), b"not a table").unwrap();
        fs::write(at("empty.etb"), b"").unwrap();
        fs::write(at("deep/er/c"), b"\x89ETB\r\n\x1a\n").unwrap();
        fs::write(at("1/2/3/4/too-deep"), b"\x89ETB\r\n\x1a\n").unwrap();
        let places = [at("missing"), folder.path().to_owned(), at("b.txt")];
        assert_eq!(find(&places, is_table), [at("b.txt"), at("deep/er/c")]);
        let first = [at("deep"), folder.path().to_owned()];
        assert_eq!(find(&first, is_table), [at("deep/er/c"), at("b.txt")]);
    }
}

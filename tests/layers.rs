//! Who may know whom: the rules of the layers, checked on the source itself.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules, and the other modules that each may name.
const MAY_KNOW: [(&str, &[&str]); 8] = [
    ("format", &[]),
    ("codec", &[]),
    // A numbering tells codecs which records resemble each other.
    ("numbering", &["codec"]),
    ("source", &[]),
    ("table", &["format", "codec", "numbering", "source"]),
    (
        "bearoff",
        &["format", "codec", "numbering", "source", "table"],
    ),
    (
        "chess",
        &["format", "codec", "numbering", "source", "table"],
    ),
    ("rollout", &["format", "numbering", "table", "bearoff"]),
];

#[test]
fn modules_know_only_whom_they_may() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for (module, allowed) in MAY_KNOW {
        for file in files(&source.join(module)) {
            if file.ends_with("tests.rs") {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            // Tests may reach across; they come last in a file.
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            seen += 1;
            for (other, _) in MAY_KNOW {
                if other != module && !allowed.contains(&other) && names(code, other) {
                    wrong.push(format!("{} names `{other}`", file.display()));
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether code, comments apart, names a module of the crate.
fn names(code: &str, module: &str) -> bool {
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    let path = format!("crate::{module}::");
    // `use crate::{Error, table::Reader}` names a module in braces.
    let braced = code.split("use crate::{").skip(1).any(|rest| {
        let list = rest.split(';').next().unwrap_or_default();
        list.split([',', '{', '}'])
            .any(|item| item.trim() == module || item.trim().starts_with(&format!("{module}::")))
    });
    braced || code.contains(&path) || code.contains(&format!("use crate::{module};"))
}

#[test]
fn a_forbidden_name_is_found() {
    assert!(names("use crate::table::Reader;", "table"));
    assert!(names("use crate::{Error, table::Reader};", "table"));
    assert!(names("fn f() { crate::table::write() }", "table"));
    assert!(!names(
        "/// See crate::table::write.\nuse crate::Error;",
        "table"
    ));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => out.extend(files(&path)),
            false if path.extension().is_some_and(|e| e == "rs") => out.push(path),
            false => {}
        }
    }
    out
}

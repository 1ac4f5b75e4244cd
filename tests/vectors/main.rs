//! The tables of `spec/vectors`: good ones read right from every source and by
//! the independent decoder, bad ones break exactly the rule of their name.

#[path = "../support/mod.rs"]
mod support;

mod bad;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use endtable::source::{MemorySource, Source};
use endtable::table;
use endtable::{Error, Result};
use support::raw::{Raw, VALUES};
use support::{Case, golden, open, read_all, sources};

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("spec/vectors")
        .join(kind)
}

/// The tables of a folder, in order.
fn tables(kind: &str) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = fs::read_dir(folder(kind))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "etb"))
        .collect();
    out.sort();
    assert!(!out.is_empty());
    out
}

fn stem(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

/// Raw values of a good table as its CSV file lists them.
fn expected(path: &Path) -> Vec<u32> {
    let text = fs::read_to_string(path.with_extension("csv")).unwrap();
    let mut out = Vec::new();
    for (number, line) in text.lines().skip(1).enumerate() {
        let mut cells = line.split(',');
        assert_eq!(cells.next().unwrap(), number.to_string(), "{path:?}");
        out.extend(cells.map(|cell| cell.parse::<u32>().unwrap()));
    }
    out
}

#[test]
fn good_tables_read_right_from_every_source() {
    for path in tables("good") {
        let values = expected(&path);
        for (kind, source) in sources(&path) {
            let reader = open(Arc::clone(&source)).unwrap();
            let width = reader.width();
            let what = format!("{} from {kind}", path.display());
            assert_eq!(reader.len() as usize * width, values.len(), "{what}");
            assert_eq!(read_all(&reader).unwrap(), values, "{what}");
            // Backwards, so that nothing helps the look-ups.
            let mut record = vec![0; width];
            let step = 1 + reader.len() as usize / 4000;
            for number in (0..reader.len()).rev().step_by(step) {
                reader.get(number, &mut record).unwrap();
                let from = number as usize * width;
                assert_eq!(record, values[from..from + width], "{what}, {number}");
            }
            let verified = table::verify(&*source, None).unwrap();
            let case = Case {
                name: String::new(),
                schema: reader.schema().clone(),
                values: values.clone(),
            };
            let crc = crc32fast::hash(&case.content());
            assert_eq!(reader.content_crc32(), crc, "{what}");
            assert_eq!(verified.content_crc32, crc, "{what}");
            assert_eq!(verified.positions, reader.len(), "{what}");
        }
    }
}

#[test]
fn the_writer_still_makes_the_golden_tables() {
    for case in golden() {
        let path = folder("good").join(&case.name).with_extension("etb");
        assert_eq!(expected(&path), case.values, "{path:?}");
        // Other versions of LZ4 and zstd may compress otherwise.
        let ours = |codec: &str| ["stored", "packed"].contains(&codec);
        if case.schema.columns.iter().all(|c| ours(&c.codec.name)) {
            assert!(case.bytes() == fs::read(&path).unwrap(), "{path:?}");
        }
    }
}

#[test]
fn a_table_of_another_maker_reads_right() {
    // Put together from the specification, by no code of the library.
    let bytes = fs::read(folder("good").join("handmade.etb")).unwrap();
    assert_eq!(bytes, Raw::good().bytes());
    let reader = open(Arc::new(MemorySource::new(bytes))).unwrap();
    assert_eq!(read_all(&reader).unwrap(), VALUES);
}

/// What a look-up of every record says.
fn look_up(source: Arc<dyn Source>) -> Result<()> {
    let reader = open(source)?;
    let mut record = vec![0; reader.width()];
    for number in 0..reader.len() {
        reader.get(number, &mut record)?;
    }
    Ok(())
}

/// The rule of a bad table's name: `H-3` of `H-3-checksum`.
fn rule(name: &str) -> &str {
    match name.match_indices('-').nth(1) {
        Some((at, _)) if !name.starts_with("unsupported") => &name[..at],
        _ => "unsupported",
    }
}

#[test]
fn bad_tables_break_the_rule_of_their_name() {
    for path in tables("bad") {
        let rule = rule(stem(&path));
        for (kind, source) in sources(&path) {
            let what = format!("{} from {kind}", path.display());
            let found = |result: Result<()>| match result {
                Ok(()) => "nothing",
                Err(Error::Corrupt { rule, path, .. }) => {
                    assert_eq!(path.is_some(), source.path().is_some(), "{what}");
                    rule
                }
                Err(Error::Unsupported { message, .. }) => {
                    assert!(message.contains("endtable"), "{what}: {message}");
                    "unsupported"
                }
                Err(e) => panic!("{what}: {e}"),
            };
            let verified = table::verify(&*source, None).map(|_| ());
            assert_eq!(found(verified), rule, "verify, {what}");
            let looked = found(look_up(Arc::clone(&source)));
            if bad::VERIFY_ONLY.contains(&rule) {
                assert_eq!(looked, "nothing", "look-up, {what}");
            } else {
                assert_eq!(looked, rule, "look-up, {what}");
            }
        }
    }
}

#[test]
fn every_rule_has_a_bad_table() {
    let text = fs::read_to_string(folder("../FORMAT.md")).unwrap();
    let rules: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
        .map(|(rule, _)| rule)
        .filter(|rule| {
            rule.split_once('-').is_some_and(|(letter, number)| {
                "HSNFIBP".contains(letter) && letter.len() == 1 && number.parse::<u8>().is_ok()
            })
        })
        // Nothing but H-1 can make a footer short.
        .filter(|rule| *rule != "F-1")
        .collect();
    assert!(rules.len() > 40, "{rules:?}");
    let tables = tables("bad");
    let have: BTreeSet<&str> = tables.iter().map(|path| rule(stem(path))).collect();
    // C-1 is a rule of kings.md.
    let others = ["unsupported", "C-1"];
    let have: BTreeSet<&str> = have.into_iter().filter(|r| !others.contains(r)).collect();
    assert_eq!(rules, have);
}

#[test]
fn bad_tables_are_what_the_generator_makes() {
    let made = bad::all();
    assert_eq!(made.len(), tables("bad").len());
    for (name, bytes) in made {
        let path = folder("bad").join(name).with_extension("etb");
        assert!(fs::read(&path).unwrap() == bytes, "{path:?}");
    }
}

/// Reads each file with the independent decoder: for each the exit code and
/// message of `check` and, when that is 0, the content in hexadecimal.
const DECODE: &str = r#"
import contextlib, io, sys
sys.path.insert(0, sys.argv[1])
import decoder
for path in sys.argv[2:]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = decoder.main([path, "check"])
    content = b""
    if code == 0:
        table = decoder.Table(path)
        content = b"".join(table.canonical(record) for record in table.records())
    print(code, content.hex(), out.getvalue().strip(), sep="\t")
"#;

/// What [`DECODE`] prints of the tables of a folder that it could read; the
/// others are named on the terminal.
fn decoded(kind: &str) -> Vec<(PathBuf, i32, String, String)> {
    // Straight to the terminal: the test harness would hide `eprintln!`.
    let skip = |what: &str| drop(writeln!(std::io::stderr(), "SKIPPED: decoder.py {what}"));
    let paths = tables(kind);
    let ran = Command::new("python3")
        .args(["-B", "-c", DECODE])
        .arg(folder("..").canonicalize().unwrap())
        .args(&paths)
        .output();
    let Ok(output) = ran else {
        skip("over all tables: `python3` is not installed");
        return Vec::new();
    };
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), paths.len(), "{text}");
    let mut out = Vec::new();
    for (path, line) in paths.into_iter().zip(lines) {
        let cells: Vec<&str> = line.split('\t').collect();
        if cells[2].contains("No module named") {
            skip(cells[2]);
            continue;
        }
        let code = cells[0].parse().unwrap();
        out.push((path, code, cells[1].to_owned(), cells[2].to_owned()));
    }
    out
}

#[test]
fn the_independent_decoder_agrees_on_good_tables() {
    for (path, code, content, message) in decoded("good") {
        let source: Arc<dyn Source> = Arc::new(MemorySource::new(fs::read(&path).unwrap()));
        let case = Case {
            name: String::new(),
            schema: open(source).unwrap().schema().clone(),
            values: expected(&path),
        };
        assert_eq!(code, 0, "{message}");
        let wanted: String = case.content().iter().map(|b| format!("{b:02x}")).collect();
        assert!(content == wanted, "{path:?}");
    }
}

#[test]
fn the_independent_decoder_agrees_on_bad_tables() {
    for (path, code, _, message) in decoded("bad") {
        let (wanted, words) = match rule(stem(&path)) {
            "unsupported" => (3, "unsupported: ".to_owned()),
            rule => (1, format!("[rule {rule}]")),
        };
        assert_eq!(code, wanted, "{message}");
        assert!(message.contains(&words), "{path:?}: {message}");
    }
}

/// Writes the tables that are not there yet; it never replaces a good one.
///
/// `cargo test --test vectors make_missing -- --ignored`
#[test]
#[ignore = "writes to spec/vectors"]
fn make_missing_tables() {
    let csv = |path: &Path, case: &Case| {
        let fields = case.schema.columns.iter().flat_map(|c| &c.fields);
        let names = fields.flat_map(|f| (0..f.count).map(move |i| format!(",{}[{i}]", f.name)));
        let mut text = format!("number{}\n", names.collect::<String>());
        for (number, record) in case.values.chunks(case.schema.width()).enumerate() {
            text.push_str(&number.to_string());
            for value in record {
                text.push_str(&format!(",{value}"));
            }
            text.push('\n');
        }
        fs::write(path.with_extension("csv"), text).unwrap();
    };
    let keep = |path: &Path, bytes: &[u8]| {
        if !path.exists() {
            fs::write(path, bytes).unwrap();
        }
    };
    for case in golden() {
        let path = folder("good").join(&case.name).with_extension("etb");
        if !path.exists() {
            case.write(&path);
            csv(&path, &case);
        }
    }
    let mut newer = Raw::good();
    (newer.minor, newer.flags) = (7, 0xff00);
    for (name, raw) in [("handmade", Raw::good()), ("newer-minor", newer)] {
        let path = folder("good").join(name).with_extension("etb");
        keep(&path, &raw.bytes());
        let reader = open(Arc::new(MemorySource::new(raw.bytes()))).unwrap();
        let case = Case {
            name: String::new(),
            schema: reader.schema().clone(),
            values: VALUES.to_vec(),
        };
        csv(&path, &case);
    }
    for (name, bytes) in bad::all() {
        keep(&folder("bad").join(name).with_extension("etb"), &bytes);
    }
}

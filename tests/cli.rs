//! The program as its users meet it: verbs, JSON keys, exit codes, and what is
//! left when something goes wrong.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

fn endtable(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_endtable"))
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs a verb that must succeed, and returns its standard output.
fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = endtable(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a verb that must fail with `code`, and returns its one line of error.
fn fails(folder: &Path, code: i32, arguments: &[&str]) -> String {
    let output = endtable(folder, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
    errors
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A folder with a 4-point one-sided and a 3x4 two-sided table.
fn tables() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    done(
        folder.path(),
        &["make", "bearoff", "4", "-o", "os4.etb", "--quiet"],
    );
    done(
        folder.path(),
        &["make", "two-sided", "3x4", "-o", "ts34.etb", "--quiet"],
    );
    folder
}

#[test]
fn tables_go_through_every_form_and_come_back() {
    let folder = tables();
    let folder = folder.path();
    for codec in endtable::codec::NAMES {
        for table in ["os4", "ts34"] {
            let (input, output) = (format!("{table}.etb"), format!("{table}-{codec}.etb"));
            let transcoded = endtable(
                folder,
                &["transcode", &input, &output, "--codec", codec, "--quiet"],
            );
            let errors = String::from_utf8_lossy(&transcoded.stderr);
            if codec == "context" {
                // Made for chess: bearoffs are refused in words.
                assert_eq!(transcoded.status.code(), Some(2), "{errors}");
                continue;
            }
            assert!(transcoded.status.success(), "{codec}: {errors}");
            done(folder, &["verify", &output]);
            done(folder, &["compare", &input, &output]);
            let foreign = format!("{table}-{codec}.bd");
            done(folder, &["transcode", &output, &foreign, "--quiet"]);
            done(folder, &["compare", &input, &foreign]);
        }
    }
    done(
        folder,
        &["transcode", "os4.etb", "raw.bd", "--gnubg-raw", "--quiet"],
    );
    done(folder, &["compare", "raw.bd", "os4-small.bd"]);
    // n = C(19, 4) = 3876 records of 64 values behind 40 bytes.
    assert_eq!(
        fs::metadata(folder.join("raw.bd")).unwrap().len(),
        40 + 3876 * 128
    );
}

#[test]
fn info_has_the_keys_that_others_rely_on() {
    let folder = tables();
    let info = json(&done(folder.path(), &["info", "os4.etb", "--json"]));
    assert_eq!(info["format_version"], "1.0");
    assert_eq!(info["positions"], 3876);
    assert_eq!(info["numbering"]["name"], "multiset");
    assert_eq!(info["numbering"]["params"]["points"], 4);
    assert_eq!(info["columns"][0]["codec"], "packed");
    assert_eq!(info["columns"][1]["fields"][0]["name"], "gammon");
    assert!(info["columns"][0]["block_positions"].is_u64());
    let bytes = fs::metadata(folder.path().join("os4.etb")).unwrap().len();
    assert_eq!(info["file_bytes"], bytes);
    assert_eq!(info["content_crc32"].as_str().unwrap().len(), 8);
}

#[test]
fn get_reads_every_notation_and_answers_in_order() {
    let folder = tables();
    let folder = folder.path();
    let record = json(&done(folder, &["get", "os4.etb", "4:1", "--json"]));
    // One chequer on the four-point is off at once with every roll but 2-1,
    // which is two of the 36.
    let win = record["win"].as_array().unwrap();
    assert!(
        (win[1].as_f64().unwrap() - 34.0 / 36.0).abs() < 1e-4,
        "{record}"
    );
    assert!((record["win_mean_rolls"].as_f64().unwrap() - 38.0 / 36.0).abs() < 1e-4);
    assert!((record["epc"].as_f64().unwrap() - 38.0 / 36.0 * 49.0 / 6.0).abs() < 1e-3);
    let number = record["number"].to_string();
    for same in ["0,0,0,1", &number, &format!("#{number}")] {
        assert_eq!(
            json(&done(folder, &["get", "os4.etb", same, "--json"]))["win"],
            record["win"]
        );
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_endtable"))
        .current_dir(folder)
        .args(["get", "ts34.etb", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(
        child.stdin.as_mut().unwrap(),
        b"3:1 / 2:1\nnonsense\n1:1 / 1:4\n",
    )
    .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(json)
        .collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1]["error"].as_str().unwrap().contains("nonsense"));
    // One chequer on the ace-point always wins.
    assert_eq!(lines[2]["cubeless"], 1.0);
}

#[test]
fn bench_has_the_keys_that_others_rely_on() {
    let folder = tables();
    let report = json(&done(
        folder.path(),
        &["bench", "os4.etb", "--lookups", "2000", "--json"],
    ));
    for key in [
        "lookup_p50_ns",
        "lookup_p99_ns",
        "lookup_mean_ns",
        "memory_read_ns",
        "cached_p50_ns",
        "skewed_mean_ns",
        "sequential_mb_per_s",
    ] {
        assert!(report[key].is_f64(), "{key}: {report}");
    }
}

#[test]
fn stats_counts_a_database() {
    let folder = tables();
    let stats = json(&done(
        folder.path(),
        &["stats", "os4.etb", "--json", "--quiet"],
    ));
    assert_eq!(stats["elements"], 3876 * 64);
    let bytes = |name: &str| {
        let schemes = stats["schemes"].as_array().unwrap();
        let found = schemes
            .iter()
            .find(|s| s["scheme"] == name)
            .unwrap_or_else(|| panic!("{name}: {stats}"));
        found["bytes"].as_u64().unwrap()
    };
    assert_eq!(bytes("raw"), 3876 * 128);
    assert_eq!(
        bytes("the non-zero values alone"),
        2 * stats["non_zero"].as_u64().unwrap()
    );
    done(
        folder.path(),
        &["transcode", "os4.etb", "os4.bd", "--quiet"],
    );
    let written = fs::metadata(folder.path().join("os4.bd")).unwrap().len();
    assert_eq!(bytes("gnubg's compressed format"), written);
}

#[test]
fn wrong_calls_and_bad_files_say_what_to_do() {
    let folder = tables();
    let folder = folder.path();
    let error = fails(folder, 2, &["transcode", "os4.etb", "out.zip"]);
    assert!(error.contains(".etb"), "{error}");
    let error = fails(folder, 2, &["transcode", "os4.etb", "ts34.etb"]);
    assert!(
        error.contains("exists") && error.contains("--force"),
        "{error}"
    );
    let error = fails(folder, 1, &["info", "missing.etb"]);
    assert!(error.contains("missing.etb"), "{error}");
    fs::write(folder.join("text.etb"), "no table at all").unwrap();
    let error = fails(folder, 1, &["info", "text.etb"]);
    assert!(
        error.contains("text.etb") && error.contains("neither"),
        "{error}"
    );
    let mut bytes = fs::read(folder.join("os4.etb")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(folder.join("flipped.etb"), &bytes).unwrap();
    let error = fails(folder, 1, &["verify", "flipped.etb"]);
    assert!(
        error.contains("block") && error.contains("column"),
        "{error}"
    );
    fs::write(folder.join("short.etb"), &bytes[..middle]).unwrap();
    for verb in ["info", "verify", "stats"] {
        let error = fails(folder, 1, &[verb, "short.etb"]);
        assert!(
            error.contains("short.etb") && error.contains("truncated"),
            "{error}"
        );
    }
    // A table under another name is still what it is.
    fs::copy(folder.join("os4.etb"), folder.join("gnubg.bd")).unwrap();
    done(folder, &["compare", "gnubg.bd", "os4.etb"]);
    assert_eq!(fails(folder, 1, &["compare", "os4.etb", "ts34.etb"]), "");
    let error = fails(folder, 2, &["get", "os4.etb", "5:1"]);
    assert!(error.contains("point 5"), "{error}");
    let error = fails(folder, 2, &["get", "os4.etb", "3876"]);
    assert!(error.contains("3875"), "{error}");
    assert_eq!(endtable(folder, &["nonsense"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_killed_transcode_leaves_no_table_or_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(
        folder,
        &["make", "bearoff", "6", "-o", "os6.etb", "--quiet"],
    );
    let mut killed = 0;
    for i in 0..12 {
        let name = format!("out{i}.etb");
        let mut child = Command::new(env!("CARGO_BIN_EXE_endtable"))
            .current_dir(folder)
            .args([
                "transcode",
                "os6.etb",
                &name,
                "--codec",
                "zstd",
                "--level",
                "19",
                "--quiet",
            ])
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(15 * i));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        killed += u32::from(!status.success());
        if folder.join(&name).exists() {
            done(folder, &["verify", &name, "--quiet"]);
        }
    }
    assert!(killed > 0, "every run was over before it was killed");
}

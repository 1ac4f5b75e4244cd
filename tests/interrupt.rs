//! `endtable transcode` that is killed or interrupted leaves no output or a
//! whole one.
#![cfg(unix)]

#[path = "support/mod.rs"]
mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use endtable::source::FileSource;
use endtable::table;
use support::{Case, column, field, flat, schema, values};

/// A table that takes some hundred milliseconds to transcode.
fn input(folder: &Path) {
    let positions = 100_000;
    let columns = vec![
        column("a", "stored", positions, 64, vec![field("x", 16, 24)]),
        column("b", "stored", positions, 64, vec![field("y", 11, 4)]),
    ];
    let schema = schema(flat(positions), positions, columns);
    let case = Case {
        name: "input".into(),
        values: values(&schema),
        schema,
    };
    case.write(&folder.join("in.etb"));
}

fn transcode(folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_endtable"))
        .args([
            "transcode",
            "--force",
            "--codec",
            "zstd",
            "in.etb",
            "out.etb",
        ])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Whether there is an output, which must then be whole.
fn output(folder: &Path) -> bool {
    let path = folder.join("out.etb");
    if !path.exists() {
        return false;
    }
    table::verify(&FileSource::open(path).unwrap(), None).unwrap();
    true
}

#[test]
fn a_kill_at_any_time_leaves_no_output_or_a_whole_one() {
    let folder = tempfile::tempdir().unwrap();
    input(folder.path());
    for milliseconds in [0, 5, 20, 50, 100, 200, 400] {
        let mut child = transcode(folder.path());
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        output(folder.path());
    }
    // The next run is not disturbed by what the killed ones left.
    assert!(transcode(folder.path()).wait().unwrap().success());
    assert!(output(folder.path()));
}

#[test]
fn an_interrupt_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    input(folder.path());
    for milliseconds in [30, 80, 160] {
        let mut child = transcode(folder.path());
        std::thread::sleep(Duration::from_millis(milliseconds));
        let sent = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let status = child.wait().unwrap();
        assert_eq!(status.success(), output(folder.path()), "{status}");
        let _ = fs::remove_file(folder.path().join("out.etb"));
        let left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["in.etb"], "{milliseconds} ms, {status}");
    }
}

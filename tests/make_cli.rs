//! `endtable make` and `verify --deep`: the program as a user calls it.

use std::path::Path;

use assert_cmd::Command;

fn endtable(folder: &Path, arguments: &str) -> assert_cmd::assert::Assert {
    Command::cargo_bin("endtable")
        .unwrap()
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .assert()
}

fn stderr(assert: assert_cmd::assert::Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_made_table_is_sound_and_becomes_gnubgs_file() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let said = stderr(endtable(here, "make bearoff 6 -o os6.etb").success());
    assert!(
        said.contains("54,264 positions") && said.contains("MiB of memory"),
        "{said}"
    );
    endtable(here, "verify --deep --sample 500 os6.etb").success();
    endtable(here, "transcode os6.etb os6.bd -q").success();
    assert_eq!(
        std::fs::metadata(here.join("os6.bd")).unwrap().len(),
        1_465_788
    );
    endtable(here, "compare os6.etb os6.bd").success();
    endtable(here, "verify --deep --sample 500 os6.bd").success();
}

#[test]
fn two_sided_tables_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    endtable(here, "make two-sided 3x4 -o ts.etb -q")
        .success()
        .stderr("");
    endtable(here, "transcode ts.etb ts.bd -q").success();
    assert_eq!(std::fs::metadata(here.join("ts.bd")).unwrap().len(), 9_840);
    endtable(here, "verify --deep ts.etb").success();
    endtable(here, "make two-sided 3x4 --cubeless -o cubeless.etb -q").success();
    endtable(here, "make two-sided 6 -o no.etb").code(2);
    endtable(here, "make two-sided 6x16 -o no.etb").code(2);
}

#[test]
fn the_same_bytes_with_any_threads_and_after_a_stop() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    endtable(here, "make bearoff 7 -o one.etb --threads 1 -q").success();
    endtable(
        here,
        "make bearoff 7 -o many.etb --threads 5 --memory 300M -q",
    )
    .success();
    endtable(here, "make bearoff 7 -o stopped.etb --resume -q").success();
    let one = std::fs::read(here.join("one.etb")).unwrap();
    assert!(one == std::fs::read(here.join("many.etb")).unwrap());
    assert!(one == std::fs::read(here.join("stopped.etb")).unwrap());
    // The working file is gone.
    assert_eq!(std::fs::read_dir(here).unwrap().count(), 3);
}

#[test]
fn a_killed_run_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    endtable(here, "make bearoff 8 -o whole.etb -q").success();
    let program = assert_cmd::cargo::cargo_bin("endtable");
    let work = here.join("killed.etb.work");
    for layers in 1..=3u64 {
        let mut child = std::process::Command::new(&program)
            .current_dir(here)
            .args("make bearoff 8 -o killed.etb --resume -q".split(' '))
            .spawn()
            .unwrap();
        // Killed as soon as the working file has grown, wherever that is.
        let length = || std::fs::metadata(&work).map_or(0, |file| file.len());
        while length() < layers * 2_000_000 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    if !here.join("killed.etb").exists() {
        endtable(here, "make bearoff 8 -o killed.etb --resume -q").success();
    }
    let [whole, killed] =
        ["whole.etb", "killed.etb"].map(|name| std::fs::read(here.join(name)).unwrap());
    assert!(whole == killed);
    assert!(!work.exists());
}

#[test]
fn what_would_be_in_vain_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let said = stderr(endtable(here, "make bearoff 15 -o os15.etb --memory 1G").code(2));
    assert!(said.contains("allow more with --memory"), "{said}");
    endtable(here, "make bearoff 19 -o os19.etb").code(2);
    endtable(here, "make bearoff 6 --normal --exact -o both.etb").code(2);
    std::fs::write(here.join("there.etb"), "precious").unwrap();
    let said = stderr(endtable(here, "make bearoff 6 -o there.etb").code(2));
    assert!(said.contains("exists"), "{said}");
    assert_eq!(std::fs::read(here.join("there.etb")).unwrap(), b"precious");
    // A working file of an interrupted run is not thrown away either.
    std::fs::write(here.join("left.etb.work"), "layers").unwrap();
    let said = stderr(endtable(here, "make bearoff 6 -o left.etb").code(2));
    assert!(said.contains("--resume"), "{said}");
    assert_eq!(std::fs::read_dir(here).unwrap().count(), 2);
}

#[test]
fn a_wrong_value_in_a_sound_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    endtable(here, "make two-sided 3x3 -o ts.etb -q").success();
    endtable(here, "transcode ts.etb ts.bd -q").success();
    let path = here.join("ts.bd");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let output = endtable(here, "verify --deep ts.bd").code(1);
    let said = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    assert!(
        said.contains("do not follow from their successors"),
        "{said}"
    );
}

/// The words of the program's `makebearoff`, for those who have it: the same
/// files in the same run.
#[test]
fn makebearoff_writes_the_same_files() {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let Some(makebearoff) = std::env::split_paths(&folders)
        .chain(["/usr/games".into()])
        .map(|folder| folder.join("makebearoff"))
        .find(|path| path.is_file())
    else {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED: `makebearoff` is not installed");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (ours, theirs) in [
        ("bearoff 6", "-o 6"),
        ("bearoff 5 --no-gammon", "-o 5 -g"),
        ("bearoff 5 --normal", "-o 5 -n"),
        ("two-sided 4x4", "-t 4x4"),
        ("two-sided 4x3 --cubeless", "-t 4x3 -C"),
    ] {
        endtable(here, &format!("make {ours} -o ours.etb --force -q")).success();
        endtable(here, "transcode ours.etb ours.bd --force -q").success();
        let made = std::process::Command::new(&makebearoff)
            .current_dir(here)
            .args(theirs.split(' '))
            .args(["-f", "theirs.bd"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(made.success());
        let [ours_bytes, their_bytes] =
            ["ours.bd", "theirs.bd"].map(|name| std::fs::read(here.join(name)).unwrap());
        assert!(ours_bytes == their_bytes, "{ours}");
    }
}

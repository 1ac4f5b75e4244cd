//! gnubg's databases: import and export are inverse, and broken files are
//! refused with words that help.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use endtable::Error;
use endtable::bearoff::gnubg::{self, Export, GnubgFile, Kind};
use endtable::source::MemorySource;
use proptest::prelude::*;

/// One of gnubg's programs, where Debian or the path has it.
fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .chain([PathBuf::from("/usr/games")])
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    if found.is_none() {
        // Straight to the terminal: the test harness would hide `eprintln!`.
        let _ = writeln!(std::io::stderr(), "SKIPPED: `{name}` is not installed");
    }
    found
}

/// Has the program write `out`, under its short name: a long one overflows a
/// buffer in `makehyper`.
fn run(program: &Path, arguments: &[&str], out: &Path) {
    let status = Command::new(program)
        .args(arguments)
        .arg("-f")
        .arg(out.file_name().unwrap())
        .current_dir(out.parent().unwrap())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{program:?} {arguments:?}");
}

/// Reads a file in pieces of an awkward size and writes it again.
fn import_and_export(path: &Path) -> Vec<u8> {
    let file = GnubgFile::open(path).unwrap();
    let width = file.width();
    let mut values = vec![0; file.positions() as usize * width];
    for (piece, first) in values.chunks_mut(997 * width).zip((0..).step_by(997)) {
        file.read(first, piece).unwrap();
    }
    let records = Fixed { width, values };
    let again = path.with_extension("again");
    gnubg::write(
        &again,
        file.kind(),
        &records,
        Export::default(),
        &|_| Ok(()),
    )
    .unwrap();
    fs::read(again).unwrap()
}

struct Fixed {
    width: usize,
    values: Vec<u32>,
}

impl endtable::table::Records for Fixed {
    fn len(&self) -> u64 {
        (self.values.len() / self.width) as u64
    }

    fn width(&self) -> usize {
        self.width
    }

    fn read(&self, first: u64, out: &mut [u32]) -> endtable::Result<()> {
        let start = first as usize * self.width;
        out.copy_from_slice(&self.values[start..start + out.len()]);
        Ok(())
    }
}

#[test]
fn what_gnubg_makes_comes_back_byte_for_byte() {
    let Some(makebearoff) = program("makebearoff") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (i, arguments) in [
        &["-o", "6"] as &[&str],
        &["-o", "4"],
        &["-o", "4", "-c"],
        &["-o", "4", "-g"],
        &["-o", "4", "-g", "-c"],
        &["-o", "4", "-n"],
        &["-o", "1"],
        &["-t", "3x4"],
        &["-t", "3x4", "-C"],
    ]
    .iter()
    .enumerate()
    {
        let path = folder.path().join(format!("{i}.bd"));
        run(&makebearoff, arguments, &path);
        assert!(
            import_and_export(&path) == fs::read(&path).unwrap(),
            "{arguments:?}"
        );
    }
}

#[test]
fn hypergammon_comes_back_byte_for_byte() {
    let Some(makehyper) = program("makehyper") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h1.bd");
    run(&makehyper, &["-c", "1"], &path);
    let file = GnubgFile::open(&path).unwrap();
    assert_eq!(file.kind(), Kind::Hypergammon { chequers: 1 });
    let mut start = [0; 9];
    file.read(0, &mut start).unwrap();
    assert!(import_and_export(&path) == fs::read(&path).unwrap());
}

/// One chequer on two points, with the chances made up: a compressed file.
fn small_compressed() -> Vec<u8> {
    let mut bytes = b"gnubg-OS-02-01-1-1-0xxxxxxxxxxxxxxxxxxx\n".to_vec();
    for (offset, win, gammon) in [
        (0u32, (1u8, 0u8), (1u8, 0u8)),
        (2, (2, 1), (1, 0)),
        (5, (3, 1), (1, 0)),
    ] {
        bytes.extend(offset.to_le_bytes());
        bytes.extend([win.0, win.1, gammon.0, gammon.1]);
    }
    for value in [65535u16, 65535, 65000, 535, 65535, 60000, 0, 5535, 65535] {
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

fn small_raw() -> Vec<u8> {
    let mut bytes = b"gnubg-TS-02-01-1xxxxxxxxxxxxxxxxxxxxxxx\n".to_vec();
    bytes.extend((0..9 * 4 * 2).map(|i| (i * 37 % 251) as u8));
    bytes
}

fn small_hypergammon() -> Vec<u8> {
    let mut bytes = b"gnubg-H1xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".to_vec();
    bytes.extend((0..26 * 26 * 28).map(|i| {
        if i % 28 == 27 {
            0
        } else {
            (i * 31 % 253) as u8
        }
    }));
    bytes
}

/// Opens and reads everything, as an importer would.
fn read_all(bytes: &[u8]) -> endtable::Result<(Kind, Vec<u32>)> {
    let file = GnubgFile::from_source(Box::new(MemorySource::new(bytes.to_vec())))?;
    let mut values = vec![0; file.positions() as usize * file.width()];
    file.read(0, &mut values)?;
    Ok((file.kind(), values))
}

fn write_all(kind: Kind, values: Vec<u32>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let records = Fixed {
        width: kind.width(),
        values,
    };
    gnubg::write(&out, kind, &records, Export::default(), &|_| Ok(())).unwrap();
    fs::read(out).unwrap()
}

#[test]
fn runs_are_spread_over_the_32_rolls() {
    let (kind, values) = read_all(&small_compressed()).unwrap();
    assert_eq!(
        kind,
        Kind::OneSided {
            points: 2,
            chequers: 1,
            gammon: true,
            compressed: true
        }
    );
    let mut expected = vec![0; 3 * 64];
    expected[0] = 65535;
    expected[32] = 65535;
    expected[64 + 1..64 + 3].copy_from_slice(&[65000, 535]);
    expected[64 + 32] = 65535;
    expected[128 + 1..128 + 4].copy_from_slice(&[60000, 0, 5535]);
    expected[128 + 32] = 65535;
    assert_eq!(values, expected);
}

#[test]
fn a_file_of_any_other_length_is_refused_with_both_lengths() {
    for whole in [small_compressed(), small_raw(), small_hypergammon()] {
        assert!(read_all(&whole).is_ok());
        let expected = whole.len().to_string();
        for length in (0..whole.len()).step_by(1 + whole.len() / 200) {
            let error = read_all(&whole[..length]).unwrap_err();
            assert!(matches!(error, Error::Corrupt { .. }), "{length}: {error}");
            assert!(error.to_string().contains(&length.to_string()), "{error}");
        }
        let error = read_all(&[&whole[..], b"\0\0"].concat())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("too long") && error.contains(&expected),
            "{error}"
        );
    }
}

#[test]
fn every_flipped_bit_is_refused_or_read_as_it_stands() {
    for whole in [small_compressed(), small_raw()] {
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // The format has no checksum: a changed value is another value.
            // But nothing may be lost between reading and writing.
            if let Ok((kind, values)) = read_all(&flipped) {
                assert!(write_all(kind, values) == flipped, "bit {bit}");
            }
        }
    }
}

#[test]
fn errors_name_the_rule_that_is_broken() {
    let rule = |bytes: &[u8]| match read_all(bytes).unwrap_err() {
        Error::Corrupt { rule, .. } => rule,
        other => panic!("{other:?}"),
    };
    let changed = |at: usize, to: u8| {
        let mut bytes = small_compressed();
        bytes[at] = to;
        bytes
    };
    assert_eq!(rule(&changed(0, b'G')), "gnubg-header");
    assert_eq!(rule(&changed(13, b'2')), "gnubg-length");
    assert_eq!(rule(&changed(22, b'y')), "gnubg-header");
    // The offset of the first position, then of the second.
    assert_eq!(rule(&changed(40, 1)), "gnubg-index");
    assert_eq!(rule(&changed(48, 3)), "gnubg-index");
    // A run of 40 values, a run that begins at 31.
    assert_eq!(rule(&changed(52, 40)), "gnubg-run");
    assert_eq!(rule(&changed(53, 31)), "gnubg-run");
    // The second position's first value becomes a zero.
    let mut zero = small_compressed();
    zero[64 + 4..64 + 6].fill(0);
    assert_eq!(rule(&zero), "gnubg-run");
    let mut pad = small_hypergammon();
    pad[40 + 27] = 1;
    assert_eq!(rule(&pad), "gnubg-pad");
}

#[test]
fn the_name_means_nothing_and_errors_give_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gnubg-H3.txt");
    fs::write(&path, small_compressed()).unwrap();
    let kind = GnubgFile::open(&path).unwrap().kind();
    assert_eq!(kind, read_all(&small_compressed()).unwrap().0);
    fs::write(&path, &small_compressed()[..70]).unwrap();
    let error = GnubgFile::open(&path).unwrap_err().to_string();
    assert!(error.contains("gnubg-H3.txt: corrupt"), "{error}");
}

#[test]
fn points_that_no_board_has_are_unsupported() {
    for header in [
        "gnubg-OS-25-15-0-0-0",
        "gnubg-OS-06-16-0-0-0",
        "gnubg-TS-00-06-1",
        "gnubg-TS-24-15-1",
    ] {
        let mut bytes = [b'x'; 40];
        bytes[..header.len()].copy_from_slice(header.as_bytes());
        bytes[39] = b'\n';
        let error = read_all(&bytes).unwrap_err();
        // 24 points of 15 chequers a side are numbered, but never fit a disk.
        let expected = matches!(error, Error::Unsupported { .. })
            || header == "gnubg-TS-24-15-1" && matches!(error, Error::Corrupt { .. });
        assert!(expected, "{header}: {error:?}");
    }
}

#[test]
fn what_gnubg_could_not_read_needs_permission() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.bd");
    let records = Fixed {
        width: 64,
        values: Vec::new(),
    };
    let kind = Kind::OneSided {
        points: 13,
        chequers: 15,
        gammon: true,
        compressed: false,
    };
    let error = gnubg::write(&out, kind, &records, Export::default(), &|_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("32-bit"), "{error}");
    assert!(!out.exists());
}

#[test]
fn an_existing_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.bd");
    fs::write(&out, "precious").unwrap();
    let (kind, values) = read_all(&small_raw()).unwrap();
    let records = Fixed {
        width: kind.width(),
        values,
    };
    let error = gnubg::write(&out, kind, &records, Export::default(), &|_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("exists"), "{error}");
    assert_eq!(fs::read(&out).unwrap(), b"precious");
    let options = Export {
        overwrite: true,
        ..Export::default()
    };
    gnubg::write(&out, kind, &records, options, &|_| Ok(())).unwrap();
    assert!(fs::read(&out).unwrap() == small_raw());
}

#[test]
fn an_interrupted_export_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.bd");
    let (kind, values) = read_all(&small_raw()).unwrap();
    let records = Fixed {
        width: kind.width(),
        values,
    };
    let stop = |_| Err(Error::Interrupted);
    let error = gnubg::write(&out, kind, &records, Export::default(), &stop).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_value_that_does_not_fit_is_refused() {
    let (kind, mut values) = read_all(&small_raw()).unwrap();
    values[5] = 65536;
    let folder = tempfile::tempdir().unwrap();
    let records = Fixed {
        width: kind.width(),
        values,
    };
    let out = folder.path().join("out.bd");
    let error = gnubg::write(&out, kind, &records, Export::default(), &|_| Ok(())).unwrap_err();
    assert!(
        error.to_string().contains("value 1 of position 1"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn any_values_survive_in_any_form(
        seed in prop::collection::vec(prop_oneof![Just(0u32), 0u32..65536], 10 * 64),
        gammon: bool,
        compressed: bool,
    ) {
        let kind = Kind::OneSided { points: 3, chequers: 2, gammon, compressed };
        let values = seed[..10 * kind.width()].to_vec();
        let bytes = write_all(kind, values.clone());
        prop_assert_eq!(read_all(&bytes).unwrap(), (kind, values));
    }
}

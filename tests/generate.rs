//! Generated bearoff tables: gnubg's bytes, whatever the threads and however
//! often the work was interrupted.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use endtable::Error;
use endtable::bearoff::deep;
use endtable::bearoff::generate::{Form, Keep, OneSided, TwoSided};
use endtable::bearoff::gnubg::{self, Export, Kind};
use endtable::bearoff::schema::Packing;
use endtable::table::Records;
use sha2::{Digest, Sha256};

/// The SHA-256 of the records as a gnubg database.
fn exported(records: &dyn Records, kind: Kind) -> String {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.bd");
    gnubg::write(&out, kind, records, Export::default(), &|_| Ok(())).unwrap();
    let digest = Sha256::digest(std::fs::read(out).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn one_sided(points: u8, gammon: bool, compressed: bool) -> String {
    let table = OneSided::new(points, 15, gammon, Form::Rounded).unwrap();
    let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    exported(
        &records,
        Kind::OneSided {
            points,
            chequers: 15,
            gammon,
            compressed,
        },
    )
}

fn two_sided(points: u8, chequers: u8, cubeful: bool) -> String {
    let table = TwoSided::new(points, chequers, cubeful).unwrap();
    let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    exported(
        &records,
        Kind::TwoSided {
            points,
            chequers,
            cubeful,
        },
    )
}

// The checksums are those of files that makebearoff of Debian's gnubg 1.07 wrote.

#[test]
fn six_points_are_gnubgs_in_every_form() {
    assert_eq!(
        one_sided(6, true, true),
        "38089567e87a681682bb4ff53f30d781af215fc04debbdff3f61b6db68547a49"
    );
    assert_eq!(
        one_sided(6, true, false),
        "df492944348189126a03095722f7f65f8b01abb5ee2cb32b6908720dbedc276d"
    );
    assert_eq!(
        one_sided(6, false, true),
        "432a5ed3cdc32852aa1f50e3f7266eebbe68c4741a7f96e64ab87656bddd2273"
    );
    assert_eq!(
        one_sided(6, false, false),
        "0caf9c6eb371231b24d41d9330e1fdcd4f61f34b52f299759d0ab57f4133344b"
    );
}

#[test]
fn the_normal_approximation_is_gnubgs() {
    let table = OneSided::new(6, 15, true, Form::Normal).unwrap();
    let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    assert_eq!(
        exported(
            &records,
            Kind::Normal {
                points: 6,
                chequers: 15
            }
        ),
        "836708ce10e8bd44b15aae45340748c68c2d9ddbe9403665cb7c46707bbacdec"
    );
}

#[test]
fn seven_points_are_gnubgs() {
    assert_eq!(
        one_sided(7, true, true),
        "35ba8efc361e858c468dd28684f4c5c5edc845ae5d4dbdb2dcb289efa6809e99"
    );
}

#[test]
fn eight_points_are_gnubgs() {
    assert_eq!(
        one_sided(8, true, true),
        "28446a06018c2350e3c1b9ea18ca60a783fb76175fb1b643d547c38ec33c76b2"
    );
}

#[test]
fn two_sided_tables_are_gnubgs() {
    assert_eq!(
        two_sided(3, 4, true),
        "2bd974fa308f2989d21884ea69efa9897d284b851c65151825b77602b59ecc7e"
    );
    assert_eq!(
        two_sided(6, 6, true),
        "9eac8a2c697dae8a09f2e5653022084b9e725df6c32950cb5299b273fc64500f"
    );
    assert_eq!(
        two_sided(6, 6, false),
        "bd92dc266ded45d1eb1d4bb486603fc1d93bcecc3dee9e4e6338a9162c4d38b3"
    );
    // Chequers outside the home board.
    assert_eq!(
        two_sided(7, 5, true),
        "f7e21f2ca3160c25ff7066b689b3df5bf6e21f08db0b4c67c2e87b036c730143"
    );
}

/// All values, in pieces of awkward sizes.
fn all(records: &dyn Records) -> Vec<u32> {
    let width = records.width();
    let mut values = vec![0; records.len() as usize * width];
    let (mut first, mut rest, mut piece) = (0, values.as_mut_slice(), 1);
    while !rest.is_empty() {
        let count = piece.min(rest.len() / width);
        let (out, after) = rest.split_at_mut(count * width);
        records.read(first, out).unwrap();
        first += count as u64;
        rest = after;
        piece = piece * 3 % 10_007;
    }
    values
}

fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

#[test]
fn threads_do_not_matter() {
    let one = OneSided::new(7, 15, true, Form::Rounded).unwrap();
    let two = TwoSided::new(7, 4, true).unwrap();
    let exact = OneSided::new(7, 9, false, Form::Exact).unwrap();
    let made = |threads| {
        in_pool(threads, || {
            let tell = |_| Ok(());
            (
                all(&one.generate(&Keep::Memory, &tell).unwrap()),
                all(&two.generate(&Keep::Memory, &tell).unwrap()),
                all(&exact.generate(&Keep::Memory, &tell).unwrap()),
            )
        })
    };
    let by_one = made(1);
    for threads in [2, 8] {
        assert!(made(threads) == by_one, "{threads} threads");
    }
}

/// A working file of its own.
struct Work {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Work {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("work");
        Work {
            _folder: folder,
            path,
        }
    }

    fn len(&self) -> u64 {
        std::fs::metadata(&self.path).unwrap().len()
    }
}

/// Runs `generate` until it has been interrupted after each of so many
/// reports of progress, each time with the end of the file torn off, as by a
/// loss of power; then to the end.
fn interrupted_run<R>(
    path: &Path,
    after: &[u32],
    torn: u64,
    generate: impl Fn(&Keep, &dyn Fn(u64) -> endtable::Result<()>) -> endtable::Result<R>,
) -> R {
    let keep = Keep::Resume(path.to_owned());
    for &after in after {
        let left = Cell::new(after);
        let stop = |_| {
            left.set(left.get() - 1);
            if left.get() == 0 {
                Err(Error::Interrupted)
            } else {
                Ok(())
            }
        };
        assert!(matches!(generate(&keep, &stop), Err(Error::Interrupted)));
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        let length = file.metadata().unwrap().len();
        file.set_len(length.saturating_sub(torn)).unwrap();
    }
    generate(&keep, &|_| Ok(())).unwrap()
}

#[test]
fn an_interrupted_one_sided_table_is_the_same() {
    for form in [Form::Rounded, Form::Exact, Form::Normal] {
        let table = OneSided::new(8, 15, true, form).unwrap();
        let (table, after): (_, &[u32]) = match form {
            Form::Rounded => (table, &[3, 40, 700, 850, 900]),
            _ => (OneSided::new(8, 6, false, form).unwrap(), &[2, 60, 100]),
        };
        let whole = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
        let work = Work::new();
        let resumed = interrupted_run(&work.path, after, 1000, |keep, tell| {
            table.generate(keep, tell)
        });
        assert!(all(&resumed) == all(&whole), "{form:?}");
        resumed.discard().unwrap();
        assert!(!work.path.exists());
    }
}

#[test]
fn an_interrupted_two_sided_table_is_the_same() {
    let table = TwoSided::new(7, 4, true).unwrap();
    let whole = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    let work = Work::new();
    let resumed = interrupted_run(&work.path, &[1, 5, 17], 33, |keep, tell| {
        table.generate(keep, tell)
    });
    assert!(all(&resumed) == all(&whole));
}

#[test]
fn a_damaged_layer_is_computed_again() {
    let table = OneSided::new(7, 8, false, Form::Rounded).unwrap();
    let whole = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    let work = Work::new();
    let keep = Keep::Resume(work.path.clone());
    drop(table.generate(&keep, &|_| Ok(())).unwrap());
    let mut bytes = std::fs::read(&work.path).unwrap();
    let length = bytes.len();
    bytes[length / 2] ^= 4;
    std::fs::write(&work.path, bytes).unwrap();
    let resumed = table.generate(&keep, &|_| Ok(())).unwrap();
    assert!(all(&resumed) == all(&whole));
    assert_eq!(work.len(), length as u64);
}

#[test]
fn another_tables_layers_are_not_taken() {
    let work = Work::new();
    let table = OneSided::new(7, 3, false, Form::Rounded).unwrap();
    drop(
        table
            .generate(&Keep::File(work.path.clone()), &|_| Ok(()))
            .unwrap(),
    );
    let other = OneSided::new(7, 3, false, Form::Exact).unwrap();
    let error = other
        .generate(&Keep::Resume(work.path.clone()), &|_| Ok(()))
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("no working file of this table"),
        "{error}"
    );
    // Nor is a file replaced that someone may still want.
    let error = table
        .generate(&Keep::File(work.path.clone()), &|_| Ok(()))
        .err()
        .unwrap();
    assert!(error.to_string().contains("--resume"), "{error}");
}

/// Every record follows from those of its successors, by the plain rules.
fn follows(records: &dyn Records, schema: &endtable::format::Schema, sample: u64) {
    let checked = deep::check(records, schema, sample, 7, &|_| Ok(())).unwrap();
    assert_eq!(checked.first, None);
    assert_eq!(checked.positions, sample.min(records.len()));
}

#[test]
fn tables_follow_from_the_plain_rules() {
    for (points, chequers, form) in [
        (1, 15, Form::Rounded),
        (5, 4, Form::Rounded),
        (9, 4, Form::Rounded),
        (18, 2, Form::Rounded),
        (9, 3, Form::Exact),
        (6, 5, Form::Exact),
        (8, 3, Form::Normal),
    ] {
        let table = OneSided::new(points, chequers, true, form).unwrap();
        let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
        follows(
            &records,
            &table.schema(&Packing::default()).unwrap(),
            u64::MAX,
        );
    }
    for (points, chequers, cubeful) in [(2, 3, true), (9, 2, true), (4, 3, false)] {
        let table = TwoSided::new(points, chequers, cubeful).unwrap();
        let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
        follows(
            &records,
            &table.schema(&Packing::default()).unwrap(),
            u64::MAX,
        );
    }
}

#[test]
fn gammons_and_far_points_follow_from_the_plain_rules() {
    for (points, chequers, form) in [(7, 15, Form::Exact), (18, 3, Form::Rounded)] {
        let table = OneSided::new(points, chequers, true, form).unwrap();
        let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
        follows(&records, &table.schema(&Packing::default()).unwrap(), 1500);
    }
}

/// Records with one value changed.
struct Tampered<'a> {
    records: &'a dyn Records,
    number: u64,
}

impl Records for Tampered<'_> {
    fn len(&self) -> u64 {
        self.records.len()
    }

    fn width(&self) -> usize {
        self.records.width()
    }

    fn read(&self, first: u64, out: &mut [u32]) -> endtable::Result<()> {
        self.records.read(first, out)?;
        if let Some(at) = self.number.checked_sub(first)
            && let Some(value) = out.get_mut(at as usize * self.width() + 3)
        {
            *value ^= 1;
        }
        Ok(())
    }
}

#[test]
fn the_plain_rules_find_a_changed_value() {
    let table = OneSided::new(6, 4, false, Form::Rounded).unwrap();
    let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    let schema = table.schema(&Packing::default()).unwrap();
    let tampered = Tampered {
        records: &records,
        number: 100,
    };
    let checked = deep::check(&tampered, &schema, u64::MAX, 1, &|_| Ok(())).unwrap();
    let first = checked.first.unwrap();
    assert_eq!((first.number, first.value), (100, 3));
}

/// Mean rolls of a position, from an exact table.
fn mean(records: &dyn Records, numbering: &endtable::numbering::Multiset, counts: &[u8]) -> f64 {
    let mut record = vec![0; records.width()];
    records
        .read(numbering.rank(counts).unwrap(), &mut record)
        .unwrap();
    let sum: f64 = record
        .iter()
        .enumerate()
        .map(|(i, &v)| i as f64 * f64::from(v))
        .sum();
    sum / f64::from((1u32 << 24) - 1)
}

#[test]
fn exact_means_are_the_known_ones() {
    let table = OneSided::new(6, 15, false, Form::Exact).unwrap();
    let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    let numbering = endtable::numbering::Multiset::new(6, 15).unwrap();
    // Known from independent exact computations.
    for (counts, known) in [
        ([0, 0, 0, 0, 0, 1], 1.25),
        ([0, 0, 0, 0, 0, 2], 2.109_610_768_2),
        ([0, 0, 0, 0, 1, 1], 1.960_048_011_0),
        ([7, 0, 0, 0, 0, 0], 3.550_925_925_9),
        ([15, 0, 0, 0, 0, 0], 6.979_591_763_8),
        ([2, 2, 2, 3, 3, 3], 8.138_923_202_6),
        ([0, 0, 0, 0, 0, 15], 12.266_187_171_8),
        ([1, 1, 1, 1, 1, 1], 3.463_648_431_6),
        ([5, 4, 0, 0, 0, 0], 4.410_129_458_2),
    ] {
        let mean = mean(&records, &numbering, &counts);
        assert!(
            (mean - known).abs() < 1e-6,
            "{counts:?}: {mean} where {known} is known"
        );
    }
}

#[test]
fn far_points_have_rolls_enough() {
    // 15 chequers on the 18-point take 34 rolls on average: in 32 values the
    // chances would not add up to where they belong.
    let table = OneSided::new(18, 2, false, Form::Rounded).unwrap();
    assert_eq!(table.rolls(), 48);
    assert_eq!(
        OneSided::new(13, 15, true, Form::Rounded).unwrap().rolls(),
        32
    );
}

#[test]
fn what_cannot_be_made_is_refused() {
    assert!(OneSided::new(0, 15, true, Form::Rounded).is_err());
    assert!(OneSided::new(19, 15, true, Form::Rounded).is_err());
    assert!(OneSided::new(6, 0, true, Form::Rounded).is_err());
    assert!(OneSided::new(6, 16, true, Form::Rounded).is_err());
    assert!(TwoSided::new(25, 1, true).is_err());
    assert!(TwoSided::new(24, 15, true).is_err());
}

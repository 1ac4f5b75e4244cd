//! Whole tables under attack: every truncation and every flipped bit of small
//! tables, random tables there and back, writing that is interrupted.

#[path = "support/mod.rs"]
mod support;

use std::fs;
use std::sync::Arc;

use endtable::format::{Field, Kind};
use endtable::source::{FileSource, MemorySource, Source};
use endtable::table::{self, OpenOptions, Records, WriteOptions, Writer};
use endtable::{Error, Properties, Result};
use proptest::prelude::*;
use support::{Case, Dribble, Fixed, column, field, flat, open, partial, read_all, schema, values};

/// A table of 40 positions in two columns, of which one is stored in part.
fn small(codec: &str) -> Case {
    let columns = vec![
        column("a", codec, 40, 8, vec![field("x", 16, 3), field("y", 5, 1)]),
        partial(
            column("b", codec, 0, 16, vec![field("z", 12, 2)]),
            11,
            22,
            &[1, 4095],
        ),
    ];
    let schema = schema(flat(40), 40, columns);
    Case {
        name: codec.into(),
        values: values(&schema),
        schema,
    }
}

/// A table with 32 values of 16 bits in each of two columns, as of a bearoff, which the
/// codecs have shorter ways for; its last records are too wide for the shortest one.
fn wide(codec: &str) -> Case {
    let elsewhere: Vec<u32> = (0..32).map(|i| 65_535 - i).collect();
    let columns = vec![
        column("win", codec, 24, 8, vec![field("win", 16, 32)]),
        partial(
            column("gammon", codec, 0, 8, vec![field("gammon", 16, 32)]),
            5,
            17,
            &elsewhere,
        ),
    ];
    let schema = schema(flat(24), 24, columns);
    let mut values = values(&schema);
    for (i, record) in values.chunks_mut(32).enumerate().take(2 * 16) {
        // Those of `gammon` that are stored begin with the record of number 5.
        if i % 2 == 0 || i > 2 * 5 {
            let first = 4 + i % 4;
            for (k, value) in record.iter_mut().enumerate() {
                *value = if (first..first + 12).contains(&k) {
                    *value % 512
                } else {
                    0
                };
            }
        }
    }
    Case {
        name: codec.into(),
        values,
        schema,
    }
}

/// Reads all that can be read of damaged bytes; every answer is the truth or a
/// clear error. The number of records that came out is returned.
fn check_damaged(case: &Case, source: Arc<dyn Source>, what: &str) -> usize {
    let clear = |e: Error| match e {
        Error::Corrupt { rule, message, .. } => assert!(!rule.is_empty() && !message.is_empty()),
        Error::Unsupported { .. } | Error::Limit { .. } => {}
        // A source that has been cut short after all was well.
        other => panic!("{what}: {other}"),
    };
    let verified = table::verify(&*source, None);
    let Ok(reader) = open(Arc::clone(&source)).map_err(clear) else {
        assert!(verified.is_err(), "{what}: opens not, and yet is sound");
        return 0;
    };
    assert_eq!(reader.schema(), open(source).unwrap().schema());
    let width = reader.width();
    assert_eq!(reader.len() as usize * width, case.values.len(), "{what}");
    let mut right = 0;
    let mut record = vec![0; width];
    for (number, truth) in (0..).zip(case.values.chunks(width)) {
        match reader.get(number, &mut record) {
            Ok(()) => {
                assert_eq!(record, truth, "{what}: wrong values at {number}");
                right += 1;
                // Blocks that were found right have a shorter way.
                record.fill(7);
                reader.get(number, &mut record).unwrap();
                assert_eq!(record, truth, "{what}: wrong values at {number} again");
                let mut rest = truth;
                for (i, column) in reader.schema().columns.iter().enumerate() {
                    let (truth, behind) = rest.split_at(column.width());
                    rest = behind;
                    let mut one = vec![7; truth.len()];
                    reader.get_column(i, number, &mut one).unwrap();
                    assert_eq!(one, truth, "{what}: wrong values at {number} in column {i}");
                }
            }
            Err(e) => clear(e),
        }
    }
    match verified {
        Ok(_) => assert_eq!(right, reader.len() as usize, "{what}"),
        Err(e) => clear(e),
    }
    right
}

#[test]
fn every_flipped_bit_gives_the_truth_or_an_error() {
    for codec in support::CODECS {
        for case in [small(codec), wide(codec)] {
            let good = case.bytes();
            for bit in 0..good.len() * 8 {
                let mut bytes = good.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                let what = format!("{codec}, bit {} of byte {}", bit % 8, bit / 8);
                let source: Arc<dyn Source> = match bit % 2 {
                    0 => Arc::new(MemorySource::new(bytes)),
                    _ => Arc::new(Dribble(bytes)),
                };
                let right = check_damaged(&case, Arc::clone(&source), &what);
                assert!(table::verify(&*source, None).is_err(), "{what}: unseen");
                assert!(right < case.schema.positions as usize, "{what}: unseen");
            }
        }
    }
}

#[test]
fn every_truncation_is_refused_when_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.etb");
    for codec in support::CODECS {
        let case = small(codec);
        let good = case.bytes();
        for length in 0..good.len() {
            let what = format!("{codec}, {length} of {} bytes", good.len());
            let cut = &good[..length];
            assert!(
                open(Arc::new(MemorySource::new(cut.to_vec()))).is_err(),
                "{what}"
            );
            check_damaged(&case, Arc::new(Dribble(cut.to_vec())), &what);
            if length % 16 == 0 {
                fs::write(&path, cut).unwrap();
                let source = FileSource::open(&path).unwrap();
                check_damaged(&case, Arc::new(source), &what);
            }
        }
        // Bytes that follow a whole table are no table either.
        let longer = [&good[..], &[0]].concat();
        assert!(open(Arc::new(MemorySource::new(longer))).is_err());
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_open_gives_errors() {
    let case = small("packed");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shrinks.etb");
    case.write(&path);
    let reader = open(Arc::new(FileSource::open(&path).unwrap())).unwrap();
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(100)
        .unwrap();
    let error = reader.get(0, &mut vec![0; reader.width()]).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert!(error.to_string().contains("shrinks.etb"), "{error}");
}

#[test]
fn limits_are_kept_before_memory_is_taken() {
    let case = wide("packed");
    let bytes = case.bytes();
    let limits = endtable::Limits::default();
    for limits in [
        endtable::Limits {
            schema_bytes: 10,
            ..limits
        },
        endtable::Limits {
            index_bytes: 10,
            ..limits
        },
        endtable::Limits {
            block_bytes: 10,
            ..limits
        },
    ] {
        let source: Arc<dyn Source> = Arc::new(MemorySource::new(bytes.clone()));
        let opened = OpenOptions::new()
            .limits(limits)
            .open_source(Arc::clone(&source));
        assert!(matches!(opened, Err(Error::Limit { .. })), "{opened:?}");
        let verified = table::verify_within(&*source, &limits, None);
        assert!(matches!(verified, Err(Error::Limit { .. })), "{verified:?}");
    }
}

/// Records that fail at some number.
struct Failing {
    inner: Fixed,
    at: u64,
}

impl Records for Failing {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn width(&self) -> usize {
        self.inner.width
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        if (first..first + (out.len() / self.inner.width) as u64).contains(&self.at) {
            return Err(Error::Interrupted);
        }
        self.inner.read(first, out)
    }
}

/// Names in a folder.
fn names(folder: &std::path::Path) -> Vec<String> {
    let mut out: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    out.sort();
    out
}

#[test]
fn interrupted_writing_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.etb");
    let positions = 50_000;
    let columns = vec![
        column("a", "packed", positions, 32, vec![field("x", 16, 4)]),
        column("b", "lz4", positions, 64, vec![field("y", 7, 1)]),
    ];
    let schema = schema(flat(positions), positions, columns);
    let fixed = || Fixed {
        width: 5,
        values: vec![1; 5 * positions as usize],
    };
    for at in [0, 20_000, positions - 1] {
        let failing = Failing { inner: fixed(), at };
        let error = table::write(&failing, schema.clone(), &path, &WriteOptions::default());
        assert!(matches!(error, Err(Error::Interrupted)));
        assert!(
            names(folder.path()).is_empty(),
            "{:?}",
            names(folder.path())
        );
    }
    let stop = |_| Err(Error::Interrupted);
    let options = WriteOptions {
        force: false,
        progress: Some(&stop),
    };
    let error = table::write(&fixed(), schema.clone(), &path, &options);
    assert!(matches!(error, Err(Error::Interrupted)));
    assert!(names(folder.path()).is_empty());
    // A writer that is dropped, or finished too early.
    let mut writer = Writer::create(&path, schema.clone(), &[]).unwrap();
    writer.push(&[1; 500]).unwrap();
    assert!(matches!(writer.finish(false), Err(Error::Invalid { .. })));
    drop(Writer::create(&path, schema, &[]).unwrap());
    assert!(names(folder.path()).is_empty());
}

#[test]
fn an_existing_file_is_kept_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.etb");
    fs::write(&path, "precious").unwrap();
    let case = small("stored");
    let records = Fixed {
        width: case.schema.width(),
        values: case.values.clone(),
    };
    let mut options = WriteOptions::default();
    let error = table::write(&records, case.schema.clone(), &path, &options).unwrap_err();
    assert!(error.to_string().contains("--force"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    options.force = true;
    table::write(&records, case.schema.clone(), &path, &options).unwrap();
    assert_eq!(fs::read(&path).unwrap(), case.bytes());
    assert_eq!(names(folder.path()), ["out.etb"]);
}

#[test]
fn pushed_records_make_the_same_bytes_as_written_ones() {
    let case = small("packed");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pushed.etb");
    let mut writer = Writer::create(&path, case.schema.clone(), &[]).unwrap();
    for part in case.values.chunks(7 * case.schema.width()) {
        writer.push(part).unwrap();
    }
    assert!(writer.push(&[0]).is_err(), "one value too many");
    let mut writer = Writer::create(&path, case.schema.clone(), &[]).unwrap();
    for part in case.values.chunks(7 * case.schema.width()) {
        writer.push(part).unwrap();
    }
    writer.finish(false).unwrap();
    assert_eq!(fs::read(&path).unwrap(), case.bytes());
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    for codec in support::CODECS {
        let schema = schema(
            flat(30_000),
            30_000,
            vec![
                column("a", codec, 30_000, 32, vec![field("x", 16, 3)]),
                partial(
                    column("b", codec, 0, 64, vec![field("y", 9, 1)]),
                    12_345,
                    17_655,
                    &[7],
                ),
            ],
        );
        let case = Case {
            name: codec.into(),
            values: values(&schema),
            schema,
        };
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(|| case.bytes())
        };
        let one = with(1);
        assert!(one == with(2) && one == with(8), "{codec}");
    }
}

#[test]
fn a_record_that_would_be_lost_is_refused() {
    let mut case = small("packed");
    case.values[4] = 5; // Number 0 of column b, which is not stored there.
    let folder = tempfile::tempdir().unwrap();
    let records = Fixed {
        width: case.schema.width(),
        values: case.values,
    };
    let path = folder.path().join("lost.etb");
    let error = table::write(&records, case.schema, &path, &WriteOptions::default()).unwrap_err();
    assert!(error.to_string().contains("position 0"), "{error}");
    assert!(names(folder.path()).is_empty());
}

fn a_field(name: String) -> impl Strategy<Value = Field> {
    let kinds = prop_oneof![
        Just((Kind::Unsigned, 0i64)),
        Just((Kind::Unsigned, 12_345)),
        Just((Kind::Signed, -500)),
        Just((Kind::Float, 0)),
    ];
    (kinds, 1u8..=32, 1u32..20).prop_map(move |((kind, bias), bits, count)| {
        let float = kind == Kind::Float;
        let bits = if float { 32 } else { bits };
        Field {
            name: name.clone(),
            kind,
            bits,
            count,
            bias,
            minimum: bias,
            maximum: if float {
                0
            } else {
                bias + ((1i64 << bits) - 1)
            },
            properties: Properties::new(),
        }
    })
}

fn a_case() -> impl Strategy<Value = Case> {
    let columns = proptest::collection::vec(
        (
            (0usize..2, 0usize..3).prop_flat_map(|(_, n)| {
                (0..=n)
                    .map(|i| a_field(format!("f{i}")))
                    .collect::<Vec<_>>()
            }),
            proptest::sample::select(support::CODECS.to_vec()),
            prop_oneof![Just(1u32), 2u32..100, Just(64), Just(1024)],
            any::<(u16, u16, bool)>(),
        ),
        1..4,
    );
    (0u64..400, columns).prop_map(|(positions, parts)| {
        let mut columns = Vec::new();
        for (c, (mut fields, codec, block, (a, b, part))) in parts.into_iter().enumerate() {
            for field in &mut fields {
                field.name = format!("c{c}{}", field.name);
            }
            let mut column = column(&format!("c{c}"), codec, positions, block, fields);
            let first = u64::from(a) % (positions + 1);
            let count = u64::from(b) % (positions - first + 1);
            if part && count < positions {
                let other: Vec<u32> = column
                    .value_bits()
                    .iter()
                    .map(|bits| support::mix(u64::from(a)) >> (32 - bits))
                    .collect();
                column = partial(column, first, count, &other);
            }
            columns.push(column);
        }
        let schema = schema(flat(positions), positions, columns);
        Case {
            name: String::new(),
            values: values(&schema),
            schema,
        }
    })
}

/// The least common multiple of the columns' block sizes.
fn common_multiple(schema: &endtable::format::Schema) -> u64 {
    schema.columns.iter().fold(1, |multiple, column| {
        let size = u64::from(column.block_positions);
        let (mut a, mut b) = (multiple, size);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        multiple / a * size
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_table_comes_back(case in a_case(), cache in prop_oneof![Just(0usize), Just(1 << 14), Just(1 << 20)], order in any::<u64>()) {
        // The writer refuses others: its units are common multiples of the blocks.
        prop_assume!(common_multiple(&case.schema) <= 1 << 20);
        let bytes = case.bytes();
        let width = case.schema.width();
        let positions = case.schema.positions;
        for source in [
            Arc::new(MemorySource::new(bytes.clone())) as Arc<dyn Source>,
            Arc::new(Dribble(bytes.clone())),
        ] {
            let verified = table::verify(&*source, None).unwrap();
            prop_assert_eq!(verified.content_crc32, crc32fast::hash(&case.content()));
            let reader = OpenOptions::new().cache_bytes(cache).open_source(source).unwrap();
            prop_assert_eq!(read_all(&reader).unwrap(), &case.values[..]);
            let numbers: Vec<u64> = (0..positions.min(50))
                .map(|i| u64::from(support::mix(order ^ i)) % positions)
                .collect();
            let mut batch = vec![0; numbers.len() * width];
            reader.get_batch(&numbers, &mut batch).unwrap();
            for (&number, found) in numbers.iter().zip(batch.chunks(width)) {
                let truth = &case.values[number as usize * width..][..width];
                prop_assert_eq!(found, truth);
                let mut record = vec![0; width];
                reader.get(number, &mut record).unwrap();
                prop_assert_eq!(&record[..], truth);
                let mut at = 0;
                for (c, column) in case.schema.columns.iter().enumerate() {
                    let mut part = vec![0; column.width()];
                    reader.get_column(c, number, &mut part).unwrap();
                    prop_assert_eq!(&part[..], &truth[at..at + part.len()]);
                    at += part.len();
                }
                let rest = positions - number;
                let take = (rest.min(1 + order % 97)) as usize;
                let mut piece = vec![0; take * width];
                reader.read(number, &mut piece).unwrap();
                prop_assert_eq!(&piece[..], &case.values[number as usize * width..][..take * width]);
            }
            prop_assert!(reader.get(positions, &mut vec![0; width]).is_err());
            prop_assert!(reader.get_batch(&[positions], &mut vec![0; width]).is_err());
        }
    }
}

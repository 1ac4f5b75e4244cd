//! Columns in an order of their own: written, read in every way, and damaged.

#[path = "support/mod.rs"]
mod support;

use std::sync::Arc;

use endtable::format::{NumberingId, OrderId, Schema};
use endtable::numbering::{Multiset, Numbering};
use endtable::source::{MemorySource, Source};
use endtable::table::{self, OpenOptions, Reader, Records, WriteOptions, Writer};
use endtable::{Error, Properties};
use support::{Case, column, field, mix, open, partial, read_all, schema};

/// Values of a distribution.
const WIDTH: usize = 12;

/// A distribution around `centre`, disturbed by `noise`.
fn bell(centre: u32, noise: u32) -> Vec<u32> {
    let mut values = vec![0; WIDTH];
    let mut rest = 65_535;
    for (i, value) in (0..).zip(&mut values) {
        let height = 20_000 >> ((centre / 4).abs_diff(i) * 2);
        *value = rest.min(height + (noise >> (i % 16) & 7) * u32::from(height > 9));
        rest -= *value;
    }
    values[centre as usize / 4 % WIDTH] += rest;
    values
}

/// Positions of up to `chequers` on `points`: a distribution for all, and for those with
/// all chequers another one that depends on the chequers above point 6 and, up to two,
/// on each point below, but for every `exception`-th.
fn case(points: usize, chequers: u8, codec: &str, block: u32, exception: u64) -> Case {
    let numbering = Multiset::new(points, chequers).unwrap();
    let first = numbering.first_with(chequers);
    let mut own = partial(
        column(
            "own",
            codec,
            0,
            block * 2,
            vec![field("o", 16, WIDTH as u32)],
        ),
        first,
        numbering.len() - first,
        &bell(0, 0),
    );
    own.order = Some(OrderId {
        name: "grouped".into(),
        params: Properties::new(),
    });
    let all = vec![field("a", 16, WIDTH as u32)];
    let columns = vec![column("all", codec, numbering.len(), block, all), own];
    let id = NumberingId {
        name: "multiset".into(),
        version: 1,
        params: numbering.params(),
    };
    let mut values = Vec::new();
    let mut counts = vec![0; points];
    for number in 0..numbering.len() {
        numbering.unrank(number, &mut counts).unwrap();
        let pips: u32 = (1..).zip(&counts).map(|(p, &c)| p * u32::from(c)).sum();
        values.extend(bell(pips % 44, mix(number)));
        if number < first {
            values.extend(bell(0, 0));
            continue;
        }
        let (low, high) = counts.split_at(points.min(6));
        let capped = low.iter().fold(0, |key, &c| key * 3 + u64::from(c.min(2)));
        let key = high.iter().fold(capped, |key, &c| key * 16 + u64::from(c));
        let key = match number % exception {
            0 => mix(number).into(),
            _ => key,
        };
        values.extend(bell(mix(key) % 44, mix(key + 1)));
    }
    Case {
        name: codec.into(),
        schema: schema(id, numbering.len(), columns),
        values,
    }
}

fn reader(case: &Case) -> Reader {
    let source: Arc<dyn Source> = Arc::new(MemorySource::new(case.bytes()));
    assert_eq!(
        table::verify(&*source, None).unwrap().content_crc32,
        crc32fast::hash(&case.content())
    );
    open(source).unwrap()
}

#[test]
fn records_come_back_however_they_are_asked_for() {
    for (points, chequers, codec, exception) in [
        (8, 5, "small", u64::MAX),
        (8, 5, "small", 7),
        (5, 9, "small", u64::MAX),
        (8, 5, "packed", 9),
        (7, 5, "zstd", 9),
        (8, 5, "lz4", 9),
        (6, 6, "stored", 9),
    ] {
        let case = case(points, chequers, codec, 16, exception);
        let reader = reader(&case);
        let width = reader.width();
        let what = format!("{points} points, {codec}");
        assert_eq!(read_all(&reader).unwrap(), case.values, "{what}");
        let order = reader.schema().columns[1].order.as_ref().unwrap();
        assert!(
            order.params.bytes("classes").is_some(),
            "{what}: not learnt"
        );
        let mut record = vec![0; width];
        for number in (0..reader.len()).rev() {
            reader.get(number, &mut record).unwrap();
            let truth = &case.values[number as usize * width..][..width];
            assert_eq!(record, truth, "{what}, {number}");
        }
        let numbers: Vec<u64> = (0..999).map(|i| u64::from(mix(i)) % reader.len()).collect();
        let mut batch = vec![0; numbers.len() * width];
        reader.get_batch(&numbers, &mut batch).unwrap();
        for (number, record) in numbers.iter().zip(batch.chunks(width)) {
            let truth = &case.values[*number as usize * width..][..width];
            assert_eq!(record, truth, "{what}, {number} of a batch");
        }
        // Ranges of all lengths, here and there.
        for i in 0..200 {
            let first = u64::from(mix(i)) % reader.len();
            let count = (u64::from(mix(i + 999)) % 700).min(reader.len() - first);
            let mut out = vec![0; count as usize * width];
            reader.read(first, &mut out).unwrap();
            let from = first as usize * width;
            assert_eq!(out, case.values[from..from + out.len()], "{what}, range");
        }
    }
}

#[test]
fn threads_that_read_one_range_out_of_order_get_the_truth() {
    let case = case(8, 6, "small", 16, 11);
    let reader = reader(&case);
    let width = reader.width();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (reader, case) = (&reader, &case);
            scope.spawn(move || {
                for i in 0..40 {
                    let count = 300;
                    let first = u64::from(mix(i * 4 + thread)) % (reader.len() - count);
                    let mut out = vec![0; count as usize * width];
                    reader.read(first, &mut out).unwrap();
                    let from = first as usize * width;
                    assert_eq!(out, case.values[from..from + out.len()]);
                }
            });
        }
    });
}

#[test]
fn equal_records_cost_next_to_nothing() {
    let case = case(8, 9, "small", 32, u64::MAX);
    let own = reader(&case).column_bytes(1);
    let mut plain = case.clone();
    plain.schema.columns[1].order = None;
    let without = reader(&plain).column_bytes(1);
    assert!(own * 3 < without * 2, "{own} of {without} bytes");
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let case = case(8, 7, "small", 16, 5);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| case.bytes())
    };
    let one = with(1);
    assert!(one == with(2) && one == with(7));
}

#[test]
fn a_known_order_is_kept_and_can_be_pushed() {
    let case = case(7, 4, "packed", 8, 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pushed.etb");
    // Records that are pushed are not seen before: there is nothing to learn from.
    let wished = Writer::create(&path, case.schema.clone(), &[]);
    assert!(matches!(wished.err(), Some(Error::Invalid { .. })));
    let learnt = reader(&case).schema().clone();
    let mut writer = Writer::create(&path, learnt.clone(), &[]).unwrap();
    for part in case.values.chunks(5 * learnt.width()) {
        writer.push(part).unwrap();
    }
    writer.finish(false).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), case.bytes());
    let again = Case {
        schema: learnt,
        ..case.clone()
    };
    assert_eq!(again.bytes(), case.bytes());
}

#[test]
fn orders_of_other_numbers_are_refused() {
    let case = case(7, 4, "packed", 8, 3);
    let learnt = reader(&case).schema().clone();
    let refused = |change: &dyn Fn(&mut Schema)| {
        let mut changed = case.clone();
        changed.schema = learnt.clone();
        change(&mut changed.schema);
        let folder = tempfile::tempdir().unwrap();
        let records = support::Fixed {
            width: changed.schema.width(),
            values: changed.values,
        };
        let path = folder.path().join("refused.etb");
        table::write(&records, changed.schema, &path, &WriteOptions::default())
            .err()
            .unwrap()
    };
    let other = refused(&|s| s.columns[0].order = s.columns[1].order.clone());
    assert!(matches!(other, Error::Invalid { .. }), "{other}");
    let unknown = refused(&|s| s.columns[1].order.as_mut().unwrap().name = "sorted".into());
    assert!(matches!(unknown, Error::Unsupported { .. }), "{unknown}");
}

#[test]
fn floating_values_are_refused_by_the_codec_that_predicts() {
    let mut float = field("f", 32, 1);
    (float.kind, float.maximum) = (endtable::format::Kind::Float, 0);
    let columns = vec![column("c", "small", 9, 4, vec![float])];
    let records = support::Fixed {
        width: 1,
        values: vec![1; 9],
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("floats.etb");
    let schema = schema(support::flat(9), 9, columns);
    let refused = table::write(&records, schema, &path, &WriteOptions::default());
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("zstd"), "{message}");
}

#[test]
fn every_flipped_bit_and_every_truncation_gives_the_truth_or_an_error() {
    let case = case(7, 2, "small", 8, 5);
    let good = case.bytes();
    let damaged = |bytes: Vec<u8>, what: &str| {
        let source: Arc<dyn Source> = Arc::new(MemorySource::new(bytes));
        assert!(table::verify(&*source, None).is_err(), "{what}: unseen");
        let options = OpenOptions::new().cache_bytes(1 << 16);
        let Ok(reader) = options.open_source(source) else {
            return;
        };
        let width = reader.width();
        let mut record = vec![0; width];
        for (number, truth) in (0..).zip(case.values.chunks(width)) {
            if reader.get(number, &mut record).is_ok() {
                assert_eq!(record, truth, "{what}: wrong values at {number}");
            }
        }
    };
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        damaged(bytes, &format!("bit {} of byte {}", bit % 8, bit / 8));
    }
    for length in 0..good.len() {
        damaged(good[..length].to_vec(), &format!("{length} bytes"));
    }
}

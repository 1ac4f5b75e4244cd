//! What the tests of whole files share: tables to write, and sources to read.
#![allow(dead_code)] // Each test program uses a part of it.

pub(crate) mod raw;

use std::path::Path;
use std::sync::Arc;

use endtable::format::{CodecId, Column, Field, Kind, NumberingId, OrderId, Schema};
use endtable::numbering::{Grouped, Multiset, Order};
use endtable::source::{FileSource, MapSource, MemorySource, Source};
use endtable::table::{self, OpenOptions, Reader, Records, WriteOptions};
use endtable::{Properties, Result, Value};

/// Records in memory.
pub(crate) struct Fixed {
    pub(crate) width: usize,
    pub(crate) values: Vec<u32>,
}

impl Records for Fixed {
    fn len(&self) -> u64 {
        (self.values.len() / self.width) as u64
    }

    fn width(&self) -> usize {
        self.width
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        let from = first as usize * self.width;
        out.copy_from_slice(&self.values[from..from + out.len()]);
        Ok(())
    }
}

/// A table to be written.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) schema: Schema,
    /// Raw values of all records.
    pub(crate) values: Vec<u32>,
}

impl Case {
    pub(crate) fn write(&self, path: &Path) -> table::Summary {
        let records = Fixed {
            width: self.schema.width(),
            values: self.values.clone(),
        };
        table::write(
            &records,
            self.schema.clone(),
            path,
            &WriteOptions::default(),
        )
        .unwrap()
    }

    /// The table's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("case.etb");
        self.write(&path);
        std::fs::read(path).unwrap()
    }

    /// The canonical form of all records, by the words of the specification.
    pub(crate) fn content(&self) -> Vec<u8> {
        let fields = self.schema.columns.iter().flat_map(|c| &c.fields);
        let sizes: Vec<usize> = fields
            .flat_map(|f| std::iter::repeat_n(usize::from(f.bits).div_ceil(8), f.count as usize))
            .collect();
        self.values
            .iter()
            .zip(sizes.iter().cycle())
            .flat_map(|(value, &n)| value.to_le_bytes().into_iter().take(n))
            .collect()
    }
}

pub(crate) fn flat(positions: u64) -> NumberingId {
    NumberingId {
        name: "flat".into(),
        version: 1,
        params: Properties::new().with("positions", positions),
    }
}

pub(crate) fn field(name: &str, bits: u8, count: u32) -> Field {
    Field {
        name: name.into(),
        kind: Kind::Unsigned,
        bits,
        count,
        bias: 0,
        minimum: 0,
        maximum: (1i64 << bits) - 1,
        properties: Properties::new(),
    }
}

pub(crate) fn column(
    name: &str,
    codec: &str,
    count: u64,
    block: u32,
    fields: Vec<Field>,
) -> Column {
    Column {
        name: name.into(),
        first: 0,
        count,
        block_positions: block,
        order: None,
        codec: CodecId {
            name: codec.into(),
            version: 0,
            params: Properties::new(),
        },
        fields,
        elsewhere: Vec::new(),
    }
}

/// A column that stores some numbers only.
pub(crate) fn partial(mut column: Column, first: u64, count: u64, elsewhere: &[u32]) -> Column {
    (column.first, column.count) = (first, count);
    column.elsewhere = elsewhere.to_vec();
    column
}

pub(crate) fn schema(numbering: NumberingId, positions: u64, columns: Vec<Column>) -> Schema {
    Schema {
        positions,
        properties: Properties::new().with_text("content", "test"),
        numbering,
        columns,
    }
}

/// A small mixing function: repeatable values without a pattern.
pub(crate) fn mix(n: u64) -> u32 {
    let mut x = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x >> 32) as u32
}

/// Values for a schema: some are noise and some nearly constant, as columns
/// store them and `elsewhere` where they do not.
pub(crate) fn values(schema: &Schema) -> Vec<u32> {
    let mut out = Vec::new();
    for number in 0..schema.positions {
        for column in &schema.columns {
            if column.place(number).is_none() {
                out.extend_from_slice(&column.elsewhere);
                continue;
            }
            let fields = column
                .fields
                .iter()
                .flat_map(|f| std::iter::repeat_n(f, f.count as usize));
            for (i, field) in fields.enumerate() {
                let noise = mix(number << 16 | i as u64);
                let slow = (number as u32 / 3).wrapping_mul(i as u32 + 1) + noise % 3;
                let raw = if i % 3 == 1 { noise } else { slow };
                let (low, high) = match field.kind {
                    Kind::Float => (0, i64::from(u32::MAX)),
                    _ => (field.minimum - field.bias, field.maximum - field.bias),
                };
                out.push((low + i64::from(raw) % (high - low + 1)) as u32);
            }
        }
    }
    out
}

pub(crate) const CODECS: [&str; 4] = ["stored", "lz4", "zstd", "packed"];

fn case(name: impl Into<String>, schema: Schema) -> Case {
    let values = values(&schema);
    Case {
        name: name.into(),
        schema,
        values,
    }
}

/// The tables of `spec/vectors/good` that are made by a formula. They belong
/// to format 1.0 and must never change; add others instead.
pub(crate) fn golden() -> Vec<Case> {
    let mut out = Vec::new();
    for codec in CODECS {
        let fields = [1, 7, 8, 9, 15, 16, 17, 24, 31, 32]
            .map(|bits| field(&format!("bits{bits}"), bits, 1 + u32::from(bits) % 3));
        let columns = vec![column("all", codec, 37, 8, fields.into())];
        out.push(case(
            format!("bits-1-to-32-{codec}"),
            schema(flat(37), 37, columns),
        ));

        let mut signed = field("signed", 11, 2);
        (signed.kind, signed.bias) = (Kind::Signed, -1000);
        (signed.minimum, signed.maximum) = (-1000, 1000);
        let mut biased = field("biased", 8, 1);
        (biased.bias, biased.minimum, biased.maximum) =
            (5_000_000_000, 5_000_000_003, 5_000_000_250);
        let mut float = field("float", 32, 1);
        (float.kind, float.maximum) = (Kind::Float, 0);
        let columns = vec![column(
            "numbers",
            codec,
            50,
            16,
            vec![signed, biased, float],
        )];
        let mut numbers = case(
            format!("signed-biased-float-{codec}"),
            schema(flat(50), 50, columns),
        );
        let special = [f32::NAN, f32::INFINITY, -0.0, f32::MIN_POSITIVE / 2.0, -1.5];
        for (record, float) in numbers.values.chunks_exact_mut(4).zip(special) {
            record[3] = float.to_bits();
        }
        out.push(numbers);
    }
    let mut ranges = schema(
        flat(100),
        100,
        vec![
            column("whole", "stored", 100, 16, vec![field("w", 16, 2)]),
            partial(
                column("late", "packed", 0, 16, vec![field("l", 16, 9)]),
                10,
                53,
                &[9, 8, 7, 6, 5, 4, 3, 2, 1],
            ),
            partial(
                column("none", "zstd", 0, 32, vec![field("n", 3, 2)]),
                100,
                0,
                &[7, 0],
            ),
            partial(
                column("one", "lz4", 0, 7, vec![field("o", 20, 1)]),
                5,
                1,
                &[1_000_000],
            ),
            partial(
                column("end", "zstd", 0, 12, vec![field("e", 9, 3)]),
                77,
                23,
                &[0, 511, 1],
            ),
        ],
    );
    ranges.properties = Properties::new()
        .with_text("content", "ranges of columns ÷ blocks")
        .with("unsigned", u64::MAX)
        .with_bytes("bytes", vec![0, 255, 10]);
    ranges.properties.set("signed", Value::Signed(i64::MIN));
    out.push(case("column-ranges", ranges));

    for (name, positions) in [("no-positions", 0), ("one-position", 1)] {
        let columns = vec![column(
            "c",
            "packed",
            positions,
            64,
            vec![field("f", 12, 3)],
        )];
        out.push(case(name, schema(flat(positions), positions, columns)));
    }
    // The table that FORMAT.md takes apart: prices of the first shop's goods
    // in two towns, which have nothing to do with games.
    let mut prices = field("cents", 10, 2);
    (prices.bias, prices.minimum, prices.maximum) = (100, 100, 1099);
    prices.properties = Properties::new()
        .with_text("unit", "EUR")
        .with("scale", 100);
    let columns = vec![column("price", "packed", 6, 4, vec![prices])];
    out.push(Case {
        name: "worked-example".into(),
        schema: schema(flat(6), 6, columns),
        values: vec![99, 105, 100, 107, 103, 105, 98, 112, 899, 0, 880, 999],
    });

    let columns = vec![column("c", "packed", 3000, 1, vec![field("f", 30, 5)])];
    let mut many = case("3000-blocks", schema(flat(3000), 3000, columns));
    for (number, record) in many.values.chunks_exact_mut(5).enumerate() {
        // Lengths of blocks that change in long waves bend the index's lines.
        let zeros = if (number / 400).is_multiple_of(2) {
            4
        } else {
            number % 3
        };
        record[..zeros].fill(0);
    }
    out.push(many);

    let columns = vec![column(
        "equity",
        "packed",
        100,
        32,
        vec![
            field("cubeless", 16, 1),
            field("owned", 16, 1),
            field("centred", 16, 1),
            field("opponent", 16, 1),
        ],
    )];
    let pair = NumberingId {
        name: "pair".into(),
        version: 1,
        params: Properties::new().with("points", 2).with("chequers", 3),
    };
    out.push(case("pair-2-points-3-chequers", schema(pair, 100, columns)));

    // Positions of three chequers on three points are stored in an order of their
    // own, in which classes of arrangements on the two low points are side by side.
    let multiset = Multiset::new(3, 3).unwrap();
    let order = Grouped::new(&multiset, 2, &[0, 1, 0, 2, 0, 1, 1, 0, 1, 0]).unwrap();
    let order: &dyn Order = &order;
    let mut own = partial(
        column("own", "packed", 0, 4, vec![field("o", 13, 3)]),
        10,
        10,
        &[1, 2, 3],
    );
    own.order = Some(OrderId {
        name: order.name().into(),
        params: order.params(),
    });
    let whole = column("whole", "stored", 20, 8, vec![field("w", 16, 2)]);
    let id = NumberingId {
        name: "multiset".into(),
        version: 1,
        params: Properties::new().with("points", 3).with("chequers", 3),
    };
    out.push(case("order-of-its-own", schema(id, 20, vec![own, whole])));

    let mut columns = vec![column("c", "zstd", 2000, 16, vec![field("f", 16, 6)])];
    columns[0].codec.params = Properties::new().with("dictionary_bytes", 512);
    let mut dictionary = case("zstd-dictionary", schema(flat(2000), 2000, columns));
    for (number, record) in dictionary.values.chunks_exact_mut(6).enumerate() {
        // Few kinds of blocks, so that there is something to learn.
        let kind = mix(number as u64 / 16) % 5;
        for (i, value) in record.iter_mut().enumerate() {
            *value = mix(u64::from(kind) << 32 | (number as u64 % 16) << 8 | i as u64) % 4096;
        }
    }
    out.push(dictionary);
    out
}

/// Bytes that come one at a time, and never as a slice.
pub(crate) struct Dribble(pub Vec<u8>);

impl Source for Dribble {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let memory = MemorySource::new(&self.0);
        for (i, byte) in out.iter_mut().enumerate() {
            memory.read_at(offset + i as u64, std::slice::from_mut(byte))?;
        }
        Ok(())
    }
}

/// A file in every kind of source.
pub(crate) fn sources(path: &Path) -> Vec<(&'static str, Arc<dyn Source>)> {
    let bytes = std::fs::read(path).unwrap();
    #[allow(unsafe_code)]
    // SAFETY: nobody changes the files of a test while it runs.
    let map = unsafe { MapSource::open(path).unwrap() };
    vec![
        ("file", Arc::new(FileSource::open(path).unwrap())),
        ("map", Arc::new(map)),
        ("memory", Arc::new(MemorySource::new(bytes.clone()))),
        ("a byte at a time", Arc::new(Dribble(bytes))),
    ]
}

/// Opens a source without a cache.
pub(crate) fn open(source: Arc<dyn Source>) -> Result<Reader> {
    OpenOptions::new().cache_bytes(0).open_source(source)
}

/// All records, read in order.
pub(crate) fn read_all(reader: &Reader) -> Result<Vec<u32>> {
    let mut out = Vec::new();
    for chunk in reader.chunks() {
        out.extend(chunk?.values);
    }
    Ok(out)
}

//! What the fuzz targets do with their input. `cargo fuzz` calls these
//! functions, and so does `tests/fuzz_replay.rs` with the seeds.
//!
//! Each of them takes any bytes. It must come to an end soon, and it panics
//! only when the library is wrong.
#![allow(dead_code)] // Each fuzz target calls one of them.

pub(crate) mod probe;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use endtable::bearoff::gnubg::{self, Export, GnubgFile};
use endtable::bearoff::{Position, notation as plain, position_id, xgid};
use endtable::chess::Material;
use endtable::codec::{self, Codec, SampleBlock, Shape};
use endtable::format::{
    BlockIndex, CodecId, Column, Field, Footer, HEADER_BYTES, Header, Kind, NumberingId, Schema,
};
use endtable::numbering::kings::{Kings, Sides};
use endtable::numbering::{self, Flat, Multiset, Numbering, Pair};
use endtable::source::{MemorySource, Source};
use endtable::table::{self, OpenOptions, Reader, Records, WriteOptions};
use endtable::{Error, Limits, Properties, Result, Value};

/// A target's name and what it does with some bytes.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// Every target by name.
pub(crate) const TARGETS: [Target; 6] = [
    ("open_and_read", open_and_read),
    ("codec_decode", codec_decode),
    ("gnubg_import", gnubg_import),
    ("round_trip", round_trip),
    ("notation", notation),
    ("probe", probe::probe),
];

/// The names of all codecs.
pub(crate) fn codecs() -> Vec<&'static str> {
    codec::NAMES.into_iter().chain([codec::CONTEXT]).collect()
}

/// Bytes as a table: opened, looked up and verified as they are, and again
/// with all checksums made right, so that what lies behind them is reached.
pub(crate) fn open_and_read(data: &[u8]) {
    read_table(data);
    let mut sealed = data.to_vec();
    if seal(&mut sealed).is_some() {
        read_table(&sealed);
    }
}

const LIMITS: Limits = Limits {
    schema_bytes: 1 << 16,
    index_bytes: 1 << 16,
    block_bytes: 1 << 18,
};
/// Numbers that are looked up in a table, and positions of one that is verified.
const LOOK_UPS: u64 = 100;
const VERIFIED: u64 = 4096;

fn read_table(data: &[u8]) {
    let source: Arc<dyn Source> = Arc::new(MemorySource::new(data.to_vec()));
    let small = |reader: &Reader| reader.len() <= VERIFIED && reader.width() <= 256;
    let reader = match OpenOptions::new()
        .limits(LIMITS)
        .open_source(Arc::clone(&source))
    {
        Ok(reader) => reader,
        Err(e) => {
            // What does not open is not sound; but opening limits its memory.
            if !matches!(e, Error::Limit { .. }) {
                assert!(table::verify_within(&*source, &LIMITS, None).is_err());
            }
            return;
        }
    };
    let width = reader.width();
    let step = (reader.len() / LOOK_UPS).max(1);
    let numbers: Vec<u64> = (0..LOOK_UPS)
        .filter_map(|i| i.checked_mul(step).filter(|n| *n < reader.len()))
        .collect();
    let mut sound = true;
    let mut records = vec![0; width * numbers.len()];
    for (&number, record) in numbers.iter().zip(records.chunks_mut(width)) {
        sound &= reader.get(number, record).is_ok();
    }
    let mut batch = vec![0; records.len()];
    // A batch decodes no more than single look-ups do.
    if sound {
        reader.get_batch(&numbers, &mut batch).unwrap();
        assert_eq!(batch, records);
    }
    if small(&reader) {
        let verified = table::verify_within(&*source, &LIMITS, None);
        if let Ok(verified) = verified {
            assert!(sound);
            assert_eq!(verified.content_crc32, reader.content_crc32());
            let mut values = vec![0; width * reader.len() as usize];
            reader.read(0, &mut values).unwrap();
            for (&number, record) in numbers.iter().zip(records.chunks(width)) {
                assert_eq!(&values[number as usize * width..][..width], record);
            }
        }
    }
}

/// Makes the checksums, lengths and marks of a table right, as far as its
/// bytes say where they belong.
fn seal(bytes: &mut [u8]) -> Option<()> {
    let len = bytes.len();
    let tail = len.checked_sub(48).filter(|tail| *tail >= HEADER_BYTES)?;
    let set =
        |bytes: &mut [u8], at: usize, new: &[u8]| bytes[at..at + new.len()].copy_from_slice(new);
    set(bytes, 0, b"\x89ETB\r\n\x1a\n\x01\0\0\0\0\0\0\0");
    let crc = crc32fast::hash(&bytes[..28]);
    set(bytes, 28, &crc.to_le_bytes());
    set(bytes, tail, &(len as u64).to_le_bytes());
    set(bytes, tail + 28, &[0; 4]);
    set(bytes, tail + 36, b"\0\0\0\0\x1aend.ETB");
    let footer = Footer::parse(&bytes[tail..], len as u64).ok()?;
    let header = Header::parse(bytes).ok()?;
    let schema_end = HEADER_BYTES.checked_add(header.schema_bytes as usize)?;
    let index_at = footer.index_offset as usize;
    let schema = Schema::parse(bytes.get(HEADER_BYTES..schema_end)?, header.positions).ok()?;
    let blocks: Vec<u64> = schema.columns.iter().map(Column::blocks).collect();
    let index = bytes.get(index_at..tail)?.to_vec();
    let indexes =
        BlockIndex::parse_all(&index, &blocks, schema_end as u64, footer.index_offset).ok()?;
    for column in &indexes {
        for block in 0..column.blocks().min(64) {
            let Ok((offset, length)) = column.locate(block) else {
                continue;
            };
            let (from, to) = (offset as usize, offset as usize + length);
            if length > 4 && to <= tail {
                let crc = crc32fast::hash(&bytes[from..to - 4]);
                set(bytes, to - 4, &crc.to_le_bytes());
            }
        }
    }
    let mut crc = crc32fast::Hasher::new();
    for part in [&bytes[..schema_end], &index, &bytes[tail..tail + 32]] {
        crc.update(part);
    }
    set(bytes, tail + 32, &crc.finalize().to_le_bytes());
    Some(())
}

/// Bytes one after the other; zeros when there are no more.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                *first
            }
            [] => 0,
        }
    }

    /// A number from `low` to `high`.
    fn range(&mut self, low: u64, high: u64) -> u64 {
        let wide = u64::from(self.byte()) | u64::from(self.byte()) << 8;
        low + wide % (high - low + 1)
    }
}

fn mix(n: u64) -> u32 {
    let mut x = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x >> 32) as u32
}

/// Shapes of columns, each with the numbering of its table.
fn shapes() -> &'static [(Shape, Arc<dyn Numbering>)] {
    static SHAPES: OnceLock<Vec<(Shape, Arc<dyn Numbering>)>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let side: Arc<dyn Numbering> = Arc::new(Multiset::new(6, 15).unwrap());
        let pair: Arc<dyn Numbering> = Arc::new(Pair::new(3, 5).unwrap());
        let flat: Arc<dyn Numbering> = Arc::new(Flat::new(4096));
        let material = Material::parse("KRvK").unwrap();
        let kings: Arc<dyn Numbering> =
            Arc::new(Kings::new(&material, Sides::Both, false).unwrap());
        let shape = |bits: Vec<u8>| Shape {
            bits,
            block_positions: 32,
        };
        let rows = Shape {
            bits: vec![6; 2],
            block_positions: 128,
        };
        vec![
            (shape(vec![16; 32]), Arc::clone(&side)),
            (shape(vec![24; 5]), side),
            (shape(vec![16; 4]), Arc::clone(&pair)),
            (shape(vec![8]), pair),
            (
                shape(vec![1, 7, 8, 9, 15, 16, 17, 24, 31, 32]),
                Arc::clone(&flat),
            ),
            (shape(vec![1]), flat),
            (rows, kings),
        ]
    })
}

/// Values of a block to train on and to make payloads of.
fn sample(shape: &Shape, numbering: &dyn Numbering, first: u64) -> SampleBlock {
    let mut values = Vec::new();
    for number in first..first + u64::from(shape.block_positions) {
        let row = numbering.rows().map(|rows| rows.row(number / 64 * 64));
        for (i, &bits) in shape.bits.iter().enumerate() {
            let most = u32::MAX >> (32 - bits);
            let slow = number as u32 * 11 + i as u32 * 900 + mix(number << 8 | i as u64) % 16;
            values.push(match &row {
                // Zero stands for no position there, and for nothing else.
                Some(row) if row.present[i] >> (number % 64) & 1 == 0 => 0,
                Some(_) => 1 + slow / 64 % most,
                None => slow & most,
            });
        }
    }
    SampleBlock { first, values }
}

/// A codec that encodes, one that decodes, and what opened it.
#[derive(Clone)]
struct Trained {
    encoder: Arc<dyn Codec>,
    decoder: Arc<dyn Codec>,
}

thread_local! {
    static TRAINED: RefCell<HashMap<(usize, usize), Trained>> = RefCell::default();
}

/// The codec for a shape, trained once.
fn trained(name: usize, at: usize) -> Trained {
    let make = || {
        let (shape, numbering) = &shapes()[at];
        let size = u64::from(shape.block_positions);
        let blocks: Vec<_> = (0..16)
            .map(|b| sample(shape, &**numbering, b * size))
            .collect();
        let options = Properties::new().with("dictionary_bytes", 256);
        let name = codecs()[name];
        let encoder = codec::build(name, shape, &options, &**numbering, &blocks).unwrap();
        let decoder = codec::open(name, encoder.version(), &encoder.params(), shape).unwrap();
        Trained { encoder, decoder }
    };
    TRAINED.with_borrow_mut(|all| all.entry((name, at)).or_insert_with(make).clone())
}

/// The codec and the shape that the first two bytes mean; `context` has the
/// one numbering that has rows.
fn chosen(name: u8, shape: u8) -> (usize, usize) {
    let name = usize::from(name) % codecs().len();
    let last = shapes().len() - 1;
    match codecs()[name] {
        codec::CONTEXT => (name, last),
        _ => (name, usize::from(shape) % (last + 1)),
    }
}

/// A payload for [`codec_decode`] that a codec has made; for seeds.
pub(crate) fn payload(name: u8, shape: u8) -> Vec<u8> {
    let bytes = [name, shape];
    let (name, shape) = chosen(name, shape);
    let codec = trained(name, shape).encoder;
    let (layout, numbering) = &shapes()[shape];
    let size = layout.block_positions;
    let mut out = [&bytes[..], &[0, 2, size as u8 - 1]].concat();
    let block = sample(layout, &**numbering, 2 * u64::from(size));
    codec
        .encode(block.first, &block.values, &**numbering, &mut out)
        .unwrap_or_else(|e| panic!("codec {name}, shape {shape}: {e}"));
    out
}

/// Bytes as the payload of a block of each codec, below all checksums; with
/// the codec's parameters damaged, too, when the third byte says so.
pub(crate) fn codec_decode(data: &[u8]) {
    let mut input = Input(data);
    let (name, at) = chosen(input.byte(), input.byte());
    let (shape, numbering) = &shapes()[at];
    let size = u64::from(shape.block_positions);
    let damage = input.byte();
    let first = u64::from(input.byte() % 64) * size;
    let count = usize::from(input.byte()) % size as usize + 1;
    let Trained { encoder, decoder } = trained(name, at);
    let mut codec = decoder;
    if damage != 0 {
        let mut damaged = Properties::new();
        for (key, value) in encoder.params().iter() {
            let mut value = value.clone();
            if let Value::Bytes(bytes) = &mut value {
                for _ in 0..damage % 4 {
                    let place = input.range(0, 65_535) as usize;
                    let change = input.byte();
                    if let Some(byte) = bytes.get_mut(place) {
                        *byte ^= change;
                    }
                }
                if damage >= 128 {
                    bytes.truncate(input.range(0, 65_535) as usize);
                }
            }
            damaged.set(key, value);
        }
        match codec::open(codecs()[name], codec.version(), &damaged, shape) {
            Ok(opened) => codec = opened,
            Err(_) => return,
        }
    }
    let width = shape.width();
    let plan = &**numbering;
    let mut records = vec![0; count * width];
    let decoded = codec.decode(first, count, input.0, plan, &mut records);
    let in_range = |record: &[u32]| {
        let mut values = record.iter().zip(&shape.bits);
        assert!(values.all(|(&v, &bits)| u64::from(v) >> bits == 0));
    };
    let mut record = vec![0; width];
    for slot in [0, count / 2, count - 1] {
        let alone = codec.decode_slot(first, count, slot, input.0, plan, &mut record);
        if alone.is_ok() {
            in_range(&record);
        }
        if decoded.is_ok() {
            alone.unwrap();
            assert_eq!(record, records[slot * width..][..width]);
        }
    }
    if decoded.is_err() {
        return;
    }
    records.chunks(width).for_each(in_range);
    // What was decoded can be encoded, and comes back; `context` takes what it
    // was trained for only.
    if damage == 0 && codecs()[name] != codec::CONTEXT {
        let mut again = Vec::new();
        encoder.encode(first, &records, plan, &mut again).unwrap();
        let mut back = vec![0; records.len()];
        codec.decode(first, count, &again, plan, &mut back).unwrap();
        assert_eq!(back, records);
    }
}

/// A folder in memory, if the system has one, that is this process's own.
fn scratch() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let parent = match memory.is_dir() {
            true => memory.to_path_buf(),
            false => std::env::temp_dir(),
        };
        let folder = parent.join(format!("endtable-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    })
}

/// Removes what the targets have written.
pub(crate) fn clean_up() {
    let _ = fs::remove_dir_all(scratch());
}

/// Bytes as a database of gnubg's; what opens and reads is written again, and
/// the same bytes come out.
pub(crate) fn gnubg_import(data: &[u8]) {
    let path = scratch().join("in.bd");
    fs::write(&path, data).unwrap();
    let Ok(file) = GnubgFile::open(&path) else {
        return;
    };
    let count = file.positions().min(2000);
    let mut values = vec![0; count as usize * file.width()];
    let read = file.read(0, &mut values);
    let last = file.positions() - 1;
    let _ = file.read(last, &mut vec![0; file.width()]);
    if read.is_err() || count < file.positions() {
        return;
    }
    let out = scratch().join("out.bd");
    let options = Export {
        overwrite: true,
        beyond_gnubg: true,
    };
    // A database may hold its runs otherwise than gnubg does; then the values
    // come back, and the bytes need not.
    if gnubg::write(&out, file.kind(), &file, options, &|_| Ok(())).is_ok() {
        let again = GnubgFile::open(&out).unwrap();
        let mut back = vec![0; values.len()];
        again.read(0, &mut back).unwrap();
        assert_eq!(back, values);
    }
}

struct Fixed {
    width: usize,
    values: Vec<u32>,
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

/// A table that the bytes describe: written, read in every way, and verified.
pub(crate) fn round_trip(data: &[u8]) {
    let mut input = Input(data);
    let (schema, values) = describe(&mut input);
    let path = scratch().join("round.etb");
    let width = schema.width();
    let records = Fixed {
        width,
        values: values.clone(),
    };
    let options = WriteOptions {
        force: true,
        ..WriteOptions::default()
    };
    table::write(&records, schema, &path, &options).unwrap();
    let bytes = fs::read(&path).unwrap();
    let source: Arc<dyn Source> = Arc::new(MemorySource::new(bytes));
    let cache = usize::from(input.byte()) << 8;
    let reader = OpenOptions::new()
        .cache_bytes(cache)
        .open_source(Arc::clone(&source))
        .unwrap();
    let mut back = Vec::new();
    for chunk in reader.chunks() {
        back.extend(chunk.unwrap().values);
    }
    assert_eq!(back, values);
    let numbers: Vec<u64> = (0..20 * u64::from(!reader.is_empty()))
        .map(|i| u64::from(mix(i)) % reader.len())
        .collect();
    let mut batch = vec![0; numbers.len() * width];
    reader.get_batch(&numbers, &mut batch).unwrap();
    let mut record = vec![0; width];
    for (&number, found) in numbers.iter().zip(batch.chunks(width)) {
        reader.get(number, &mut record).unwrap();
        assert_eq!(record, found);
        assert_eq!(record, values[number as usize * width..][..width]);
    }
    table::verify(&*source, None).unwrap();
}

/// A schema that breaks no rule, and values for it.
fn describe(input: &mut Input<'_>) -> (Schema, Vec<u32>) {
    let (id, positions) = numbering_of(input);
    let mut columns = Vec::new();
    for c in 0..input.range(1, 3) {
        let codec = codec::NAMES[usize::from(input.byte()) % codec::NAMES.len()];
        let block_positions = match input.byte() {
            b if b < 200 => 1 << (b % 7),
            b => u32::from(b) % 50 + 1,
        };
        let fields: Vec<Field> = (0..input.range(1, 3))
            .map(|f| {
                let bits = input.range(1, 32) as u8;
                let bias = i64::from(input.byte()) - 100;
                let float = bits == 32 && input.byte().is_multiple_of(4);
                let top = bias + ((1i64 << bits) - 1);
                let (kind, low, bias) = match (float, bias < 0) {
                    (true, _) => (Kind::Float, 0, 0),
                    (false, true) => (Kind::Signed, bias, bias),
                    (false, false) => (Kind::Unsigned, bias, bias),
                };
                Field {
                    name: format!("f{c}-{f}"),
                    kind,
                    bits,
                    count: input.range(1, 20) as u32,
                    bias,
                    minimum: low,
                    maximum: if float { 0 } else { top },
                    properties: Properties::new(),
                }
            })
            .collect();
        // The writer refuses floating values under codecs that would make them larger.
        let floats = fields.iter().any(|field| field.kind == Kind::Float);
        let codec = if floats && !codec::suits_floats(codec) {
            "zstd"
        } else {
            codec
        };
        let first = input.range(0, positions);
        let count = input.range(0, positions - first);
        let part = input.byte().is_multiple_of(2) && (first, count) != (0, positions);
        let mut column = Column {
            name: format!("c{c}"),
            first: if part { first } else { 0 },
            count: if part { count } else { positions },
            block_positions,
            order: None,
            codec: CodecId {
                name: codec.to_owned(),
                version: 0,
                params: Properties::new(),
            },
            fields,
            elsewhere: Vec::new(),
        };
        if part {
            let bits = column.value_bits();
            column.elsewhere = (0..).zip(&bits).map(|(i, b)| mix(i) >> (32 - b)).collect();
        }
        columns.push(column);
    }
    let mut values = Vec::new();
    let style = input.byte();
    for number in 0..positions {
        for column in &columns {
            if column.place(number).is_none() {
                values.extend_from_slice(&column.elsewhere);
                continue;
            }
            for (i, bits) in (0..).zip(column.value_bits()) {
                let value = match style % 4 {
                    0 => mix(number << 8 | i),
                    1 => number as u32 / 5 * 3 + i as u32,
                    2 => u32::from(input.byte()) << (number % 5),
                    _ => 0,
                };
                values.push(value & (u32::MAX >> (32 - bits)));
            }
        }
    }
    let schema = Schema {
        positions,
        properties: Properties::new(),
        numbering: id,
        columns,
    };
    (schema, values)
}

fn numbering_of(input: &mut Input<'_>) -> (NumberingId, u64) {
    let numbering: Arc<dyn Numbering> = match input.byte() % 4 {
        0 => Arc::new(Multiset::new(2, 15).unwrap()),
        1 => Arc::new(Pair::new(2, 3).unwrap()),
        _ => Arc::new(Flat::new(input.range(0, 200))),
    };
    let id = NumberingId {
        name: numbering.name().to_owned(),
        version: numbering.version(),
        params: numbering.params(),
    };
    assert!(numbering::open(&id.name, id.version, &id.params).is_ok());
    (id, numbering.len())
}

/// Text as a position in every notation; what is understood is written and
/// read again.
pub(crate) fn notation(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(position) = Position::parse(text) {
        let again = Position::parse(&xgid::format(&position)).unwrap();
        assert_eq!(again.board, position.board);
        let id = position_id::format_board(&position.board);
        assert_eq!(position_id::parse_board(&id).unwrap(), position.board);
        let sides = plain::format_board(&position.board);
        assert_eq!(plain::parse_board(&sides).unwrap(), position.board);
    }
    if let Ok(side) = plain::parse_side(text) {
        assert_eq!(plain::parse_side(&plain::format_side(&side)).unwrap(), side);
    }
    if let Ok(position) = xgid::parse(text) {
        assert_eq!(
            xgid::parse(&xgid::format(&position)).unwrap().board,
            position.board
        );
    }
    if let Ok(position) = position_id::parse(text) {
        let _ = position_id::format_match(&position);
    }
    let _ = endtable::bearoff::position::parse_dice(text);
}

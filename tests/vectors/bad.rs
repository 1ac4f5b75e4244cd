//! Tables that each break one rule, by the name of the rule.

use crate::support::raw::{Parts, Raw, RawField, VALUES, block, canonical, name, properties};

/// Changes the bytes of a good table, checksums untouched.
fn patched(change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Raw::good().bytes();
    change(&mut bytes);
    bytes
}

/// Changes the description of a good table.
fn raw(change: impl FnOnce(&mut Raw)) -> Vec<u8> {
    let mut raw = Raw::good();
    change(&mut raw);
    raw.bytes()
}

/// Changes the description of a good table's schema.
fn parts(change: impl FnOnce(&mut Parts)) -> Vec<u8> {
    Raw::with_parts(change)
}

/// The header's checksum, after a change before it.
fn seal_header(bytes: &mut [u8]) {
    let crc = crc32fast::hash(&bytes[..28]).to_le_bytes();
    bytes[28..32].copy_from_slice(&crc);
}

/// An LZ4 block that is nothing but `bytes`, 15 to 269 of them.
fn lz4(bytes: &[u8]) -> Vec<u8> {
    [&[0xf0, bytes.len() as u8 - 15], bytes].concat()
}

/// A Zstandard frame that is nothing but `bytes`, at most 255 of them.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let n = bytes.len();
    let raw_and_last = ((n as u32) << 3 | 1).to_le_bytes();
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, n as u8];
    [&head, &raw_and_last[..3], bytes].concat()
}

/// Difference planes of four records that are 0.
const NOTHING: [u8; 20] = [0; 20];

/// A payload of `packed`: both fixed numbers, widths, bases of two bytes, data.
fn packed(first: u16, widths: &[u8], bases: &[u16], data: &[u8]) -> Vec<u8> {
    let mut out = first.to_le_bytes().to_vec();
    out.extend((widths.len() as u16).to_le_bytes());
    out.extend(widths);
    out.extend(bases.iter().flat_map(|b| b.to_le_bytes()));
    out.extend(data);
    out
}

/// Parameters of numbering `kings`.
fn kings(men: &str, segments: u64) -> Vec<u8> {
    let mut out = properties(&[("segments", segments), ("sides", 3)]);
    out[0] += 1;
    out.extend(name(b"men"));
    out.extend([2, men.len() as u8, 0, 0, 0]);
    out.extend(men.as_bytes());
    out
}

/// The good table of king and queen against king with a model of zeros, which
/// has no distribution.
fn without_distributions() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/spec/vectors/good/chess-KQvK.etb"
    );
    let mut bytes = std::fs::read(path).unwrap();
    let frame = bytes
        .windows(4)
        .position(|w| w == [0x28, 0xb5, 0x2f, 0xfd])
        .unwrap();
    let length = u32::from_le_bytes(bytes[frame - 4..frame].try_into().unwrap()) as usize;
    // A frame of one raw block: magic, flags, content size less 256, block header.
    let size = (length - 10) as u32;
    let model = &mut bytes[frame..frame + length];
    model.fill(0);
    model[..5].copy_from_slice(&[0x28, 0xb5, 0x2f, 0xfd, 0x60]);
    model[5..7].copy_from_slice(&(size as u16 - 256).to_le_bytes());
    model[7..10].copy_from_slice(&(size << 3 | 1).to_le_bytes()[..3]);
    seal_footer(&mut bytes);
    bytes
}

/// The footer's checksum, after a change in the schema.
fn seal_footer(bytes: &mut [u8]) {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let (tail, index) = (bytes.len() - 48, number(bytes.len() - 40));
    let schema = u32::from_le_bytes(bytes[24..28].try_into().unwrap()) as usize;
    let mut crc = crc32fast::Hasher::new();
    for part in [&bytes[..32 + schema], &bytes[index..tail + 32]] {
        crc.update(part);
    }
    bytes[tail + 32..tail + 36].copy_from_slice(&crc.finalize().to_le_bytes());
}

/// What the library may not find by looking records up.
pub(crate) const VERIFY_ONLY: [&str; 2] = ["B-7", "F-7"];

/// Every bad table: the name begins with the rule, or with `unsupported`.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let mut out = header();
    out.extend(schema());
    out.extend(footer());
    out.extend(index());
    out.extend(blocks());
    out.extend(orders());
    out.extend(unsupported());
    out
}

fn header() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("H-1-short", Raw::good().bytes()[..60].to_vec()),
        (
            "H-2-text-mode",
            patched(|b| {
                b.remove(4);
            }),
        ),
        ("H-3-checksum", patched(|b| b[16] ^= 1)),
        (
            "H-4-positions",
            raw(|r| {
                let mut parts = Parts::good();
                parts.numbering.2 = properties(&[("positions", 1 << 63)]);
                r.schema = parts.bytes();
                r.positions = 1 << 63;
            }),
        ),
        (
            "H-5-schema-too-long",
            patched(|b| {
                b[26] = 1;
                seal_header(b);
            }),
        ),
        ("H-6-least-reader-newer", raw(|r| r.minimum_reader = 1)),
    ]
}

fn schema() -> Vec<(&'static str, Vec<u8>)> {
    let with_schema = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut schema = Parts::good().bytes();
        change(&mut schema);
        Raw::with_blocks(schema, Raw::good().blocks).bytes()
    };
    let without_columns = {
        let mut parts = Parts::good();
        parts.columns.clear();
        Raw::with_blocks(parts.bytes(), Vec::new()).bytes_with_index(&[])
    };
    let many: Vec<(String, u64)> = (0..257).map(|i| (format!("k{i}"), i)).collect();
    let many: Vec<(&str, u64)> = many.iter().map(|(k, v)| (k.as_str(), *v)).collect();
    vec![
        ("S-1-too-long", with_schema(&|s| s.push(0))),
        ("S-1-too-short", with_schema(&|s| s.truncate(s.len() - 1))),
        (
            "S-2-utf8",
            with_schema(&|s| {
                let at = s.windows(2).position(|w| w == name(b"a")).unwrap();
                s[at + 1] = 0xff;
            }),
        ),
        (
            "S-3-twice",
            parts(|p| p.properties = properties(&[("k", 1), ("k", 2)])),
        ),
        ("S-3-too-many", parts(|p| p.properties = properties(&many))),
        (
            "S-4-type",
            parts(|p| {
                p.properties = properties(&[("k", 1)]);
                p.properties[4] = 4;
            }),
        ),
        ("S-5-no-columns", without_columns),
        ("S-6-zero", parts(|p| p.columns[0].block_positions = 0)),
        (
            "S-6-too-large",
            parts(|p| p.columns[0].block_positions = 32_769),
        ),
        (
            "S-7-range",
            parts(|p| {
                p.columns[0].first = 1;
                p.columns[0].elsewhere = vec![0; 3];
            }),
        ),
        (
            "S-7-overflow",
            parts(|p| {
                p.columns[0].first = u64::MAX;
                p.columns[0].elsewhere = vec![0; 3];
            }),
        ),
        ("S-8-no-fields", parts(|p| p.columns[0].fields.clear())),
        (
            "S-8-too-wide",
            parts(|p| p.columns[0].fields[1].count = 65_534),
        ),
        ("S-9-no-bits", parts(|p| p.columns[0].fields[0].bits = 0)),
        ("S-9-33-bits", parts(|p| p.columns[0].fields[0].bits = 33)),
        ("S-9-no-values", parts(|p| p.columns[0].fields[0].count = 0)),
        ("S-10-kind", parts(|p| p.columns[0].fields[0].kind = 3)),
        (
            "S-10-float-bits",
            parts(|p| {
                p.columns[0].fields[0].kind = 2;
                p.columns[0].fields[0].maximum = 0;
            }),
        ),
        (
            "S-11-maximum",
            parts(|p| p.columns[0].fields[0].maximum = 1024),
        ),
        (
            "S-11-unsigned-negative",
            parts(|p| {
                let field = &mut p.columns[0].fields[0];
                (field.bias, field.minimum, field.maximum) = (-5, -5, 1000);
            }),
        ),
        (
            "S-11-overflow",
            parts(|p| {
                let field = &mut p.columns[0].fields[0];
                let most = i64::MAX;
                (field.bias, field.minimum, field.maximum) = (most, most, most);
            }),
        ),
        ("S-12-missing", parts(|p| p.columns[0].count = 5)),
        (
            "S-12-out-of-bits",
            parts(|p| {
                p.columns[0].count = 5;
                p.columns[0].elsewhere = vec![1024, 0, 0];
            }),
        ),
        (
            "S-13-column-twice",
            parts(|p| {
                let mut second = p.columns[0].clone();
                second.fields = vec![RawField::new("z", 8, 1)];
                p.columns.push(second);
            }),
        ),
        (
            "S-13-field-twice",
            parts(|p| p.columns[0].fields[1].name = "x".into()),
        ),
        ("S-14-length", {
            let mut parts = Parts::good();
            parts.columns[0].count = 7;
            let mut raw = Raw::with_blocks(parts.bytes(), Raw::good().blocks);
            raw.positions = 7;
            raw.bytes()
        }),
        (
            "S-15-large-blocks",
            parts(|p| {
                p.columns[0].fields[1].count = 1000;
                p.columns[0].block_positions = 32_768;
            }),
        ),
        (
            "N-1-no-parameter",
            parts(|p| p.numbering.2 = properties(&[])),
        ),
        (
            "N-2-chess-men",
            parts(|p| p.numbering = ("kings", 1, kings("QX", 462))),
        ),
        (
            "N-2-chess-segments",
            parts(|p| p.numbering = ("kings", 1, kings("P", 462))),
        ),
        (
            "N-2-points",
            parts(|p| {
                let params = properties(&[("points", 26), ("chequers", 1)]);
                p.numbering = ("multiset", 1, params);
            }),
        ),
    ]
}

fn footer() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("F-2-cut", patched(|b| b.truncate(b.len() - 1))),
        (
            "F-3-longer",
            patched(|b| {
                let at = b.len() - 48;
                b.insert(at, 0);
            }),
        ),
        ("F-4-reserved", raw(|r| r.footer_zero[0] = 1)),
        ("F-4-reserved-behind", raw(|r| r.footer_zero[1] = 1)),
        (
            "F-5-index-bytes",
            patched(|b| {
                let at = b.len() - 32;
                b[at] += 1;
            }),
        ),
        ("F-6-checksum-schema", patched(|b| b[40] ^= 0x20)),
        (
            "F-6-checksum-index",
            patched(|b| {
                let at = b.len() - 50;
                b[at] ^= 1;
            }),
        ),
        ("F-7-content", raw(|r| r.content_crc32 ^= 1)),
    ]
}

fn index() -> Vec<(&'static str, Vec<u8>)> {
    let resized = |change: &dyn Fn(&mut Vec<u8>)| {
        let raw = Raw::good();
        let mut index = raw.index_bytes();
        change(&mut index);
        raw.bytes_with_index(&index)
    };
    vec![
        ("I-1-too-long", resized(&|i| i.push(0))),
        ("I-1-too-short", resized(&|i| i.truncate(i.len() - 1))),
        ("I-2-group", raw(|r| r.index.group_log2 = 17)),
        ("I-2-bits", raw(|r| r.index.delta_bits = 33)),
        ("I-3-reserved", raw(|r| r.index.reserved = 1)),
        ("I-4-gap", raw(|r| r.index.region_offset += 1)),
        ("I-4-reach", raw(|r| r.index.region_bytes += 1)),
        ("I-5-empty", raw(|r| r.index.deltas[2] = 0)),
        ("I-5-outside", raw(|r| r.index.deltas[3] = 0xff)),
        ("I-5-before", raw(|r| r.index.bias = 1)),
        ("I-6-descending", raw(|r| r.index.knots = vec![1, 0])),
    ]
}

fn blocks() -> Vec<(&'static str, Vec<u8>)> {
    let stored = |first: Vec<u8>| {
        let mut blocks = Raw::good().blocks;
        blocks[0] = first;
        Raw::with_blocks(Parts::good().bytes(), blocks).bytes()
    };
    let coded = |codec, payload: &[u8]| Raw::coded(codec, &[payload, payload]).bytes();
    let mut wide = canonical(&VALUES[..12]);
    wide[1] = 4;
    let mut wide_difference = NOTHING;
    wide_difference[4] = 4;
    let frame = zstd(&NOTHING);
    let two_frames = [&frame[..], &[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]].concat();
    vec![
        ("B-1-checksum", raw(|r| r.blocks[0][3] ^= 0x10)),
        ("B-2-no-checksum", stored(vec![1, 2, 3])),
        (
            "B-3-stored-short",
            stored(block(&canonical(&VALUES[..12])[..19])),
        ),
        ("B-3-planes-short", coded("lz4", &lz4(&NOTHING[..19]))),
        ("B-4-stored", stored(block(&wide))),
        ("B-4-difference", coded("zstd", &zstd(&wide_difference))),
        ("B-5-lz4", coded("lz4", &[0x10, 1, 0xff, 0xff, 0])),
        ("B-6-zstd", coded("zstd", &frame[1..])),
        ("B-6-two-frames", coded("zstd", &two_frames)),
        (
            "B-7-over-maximum",
            parts(|p| p.columns[0].fields[1].maximum = 100),
        ),
        ("B-8-long", stored(block(&[0; 1300]))),
        ("C-1-model", without_distributions()),
        ("P-1-short", coded("packed", &[0, 0, 1])),
        (
            "P-1-short-table",
            coded("packed", &packed(0, &[0, 0, 0], &[1], &[])),
        ),
        (
            "P-2-table",
            coded("packed", &packed(2, &[0, 0], &[1, 1], &[])),
        ),
        (
            "P-3-width",
            coded("packed", &packed(0, &[33], &[0], &[0; 17])),
        ),
        (
            "P-4-length",
            coded("packed", &packed(0, &[10], &[0], &[0; 4])),
        ),
        (
            "P-5-value",
            coded("packed", &packed(0, &[2], &[1023], &[0xff])),
        ),
    ]
}

/// Six positions of up to two chequers on two points, in the order `grouped` as
/// far as nothing is wrong.
fn orders() -> Vec<(&'static str, Vec<u8>)> {
    let ordered = |change: &dyn Fn(&mut Parts)| {
        parts(|p| {
            p.numbering = ("multiset", 1, properties(&[("points", 2), ("chequers", 2)]));
            (p.columns[0].first, p.columns[0].count) = (3, 3);
            p.columns[0].elsewhere = vec![0; 3];
            p.columns[0].orders = 1;
            p.columns[0].order = grouped(2, &[1, 0, 2, 0, 2, 1, 0]);
            change(p);
        })
    };
    vec![
        ("S-16-orders", parts(|p| p.columns[0].orders = 2)),
        (
            "N-1-order",
            ordered(&|p| {
                p.columns[0].order = [name(b"grouped"), properties(&[("low", 2)])].concat()
            }),
        ),
        (
            "N-2-low",
            ordered(&|p| p.columns[0].order = grouped(3, &[1, 0, 2, 0, 2, 1, 0])),
        ),
        (
            "N-2-class",
            ordered(&|p| p.columns[0].order = grouped(2, &[1, 0, 2, 0, 2, 3, 0, 3])),
        ),
        (
            "N-2-classes-long",
            ordered(&|p| p.columns[0].order = grouped(2, &[1, 0, 2, 0, 2, 1, 0, 0])),
        ),
        (
            "N-3-numbering",
            parts(|p| {
                p.columns[0].orders = 1;
                p.columns[0].order = grouped(2, &[1, 0, 2, 0, 2, 1, 0]);
            }),
        ),
        ("N-3-range", ordered(&|p| p.columns[0].first = 2)),
        (
            "unsupported-order",
            ordered(&|p| p.columns[0].order = [name(b"unheard-of"), properties(&[])].concat()),
        ),
    ]
}

/// Name and parameters of the order `grouped`.
fn grouped(low: u64, classes: &[u8]) -> Vec<u8> {
    let mut out = name(b"grouped");
    out.extend(properties(&[("low", low)]));
    // A second property, of bytes.
    out[8] = 2;
    out.extend(name(b"classes"));
    out.push(3);
    out.extend((classes.len() as u32).to_le_bytes());
    out.extend(classes);
    out
}

fn unsupported() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("unsupported-major", raw(|r| r.major = 2)),
        (
            "unsupported-minimum-reader",
            raw(|r| (r.minor, r.minimum_reader) = (9, 9)),
        ),
        ("unsupported-critical-flag", raw(|r| r.flags = 0x80)),
        (
            "unsupported-numbering",
            parts(|p| p.numbering.0 = "unheard-of"),
        ),
        (
            "unsupported-numbering-version",
            parts(|p| p.numbering.1 = 2),
        ),
        (
            "unsupported-codec",
            parts(|p| p.columns[0].codec.0 = "unheard-of"),
        ),
        (
            "unsupported-codec-version",
            parts(|p| p.columns[0].codec.1 = 9),
        ),
    ]
}

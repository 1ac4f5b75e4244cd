//! Blocks and models that are damaged: errors, or values that could be.

use super::*;
use crate::codec::SampleBlock;
use crate::numbering::kings::men::Material;
use crate::numbering::kings::{Kings, Sides};

const ROWS: usize = 3;
const BITS: u8 = 6;

/// A numbering, a codec trained for it, and one of the blocks.
struct Case {
    kings: Kings,
    codec: Context,
    block: SampleBlock,
    bytes: Vec<u8>,
}

fn shape(kings: &Kings) -> Shape {
    Shape {
        bits: vec![BITS; kings.sides().list().len()],
        block_positions: (ROWS * kings.slots().len()) as u32,
    }
}

/// Values that change slowly, with jumps to a landmark and some noise.
fn block(kings: &Kings, number: u64) -> SampleBlock {
    let slots = kings.slots();
    let width = kings.sides().list().len();
    let first = number * (ROWS * slots.len()) as u64;
    let mut values = Vec::new();
    for at in (first..).step_by(slots.len()).take(ROWS) {
        let row = kings.row(at);
        for slot in slots.clone() {
            for v in 0..width {
                let noise =
                    (at * 64 + slot as u64 * 5 + v as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let slow = 5 + (slot / 8 + at as usize / 640) as u32 % 40;
                let value = match noise >> 60 {
                    0 => 20,
                    1 => slow + 3,
                    2 => slow + 1,
                    _ => slow,
                };
                let present = row.present[v] >> slot & 1 != 0;
                values.push(if present { value } else { 0 });
            }
        }
    }
    SampleBlock { first, values }
}

/// A last man with links and one without, both sides and one.
fn cases() -> Vec<Case> {
    [
        ("KRvK", Sides::Both),
        ("KPvK", Sides::Both),
        ("KRvK", Sides::Black),
    ]
    .map(|(name, sides)| {
        let kings = Kings::new(&Material::parse(name).unwrap(), sides, true).unwrap();
        let sample: Vec<_> = (40..80).map(|n| block(&kings, n)).collect();
        let codec = Context::train(&shape(&kings), &Properties::new(), &kings, &sample).unwrap();
        let block = block(&kings, 60);
        let mut bytes = Vec::new();
        codec
            .encode(block.first, &block.values, &kings, &mut bytes)
            .unwrap();
        Case {
            kings,
            codec,
            block,
            bytes,
        }
    })
    .into()
}

/// Decodes in each way and compares; the values are those that could be.
fn decode(case: &Case, codec: &Context, bytes: &[u8]) -> Vec<u32> {
    let (kings, first) = (&case.kings, case.block.first);
    let width = codec.models.len();
    let count = case.block.values.len() / width;
    let mut values = vec![0; count * width];
    codec
        .decode(first, count, bytes, kings, &mut values)
        .unwrap();
    let slots = kings.slots();
    for (row, records) in values.chunks(slots.len() * width).enumerate() {
        let known = kings.row(first + (row * slots.len()) as u64);
        for (slot, record) in slots.clone().zip(records.chunks(width)) {
            for ((&value, present), model) in record.iter().zip(known.present).zip(&codec.models) {
                let most = u32::from(model.most).max(1);
                let right = match present >> slot & 1 {
                    0 => value == 0,
                    _ => (1..=most).contains(&value),
                };
                assert!(right, "{value} in slot {slot} of row {row}");
            }
        }
    }
    let mut record = vec![0; width];
    for slot in [0, 7, slots.len() - 1, slots.len(), count / 2, count - 1] {
        let whole = &values[slot * width..][..width];
        codec
            .decode_slot(first, count, slot, bytes, kings, &mut record)
            .unwrap();
        assert_eq!(record, whole);
        for v in 0..width {
            record.fill(99);
            codec
                .decode_value(first, count, slot, v, bytes, kings, &mut record)
                .unwrap();
            assert_eq!(record[v], whole[v], "value {v} in slot {slot}");
        }
        let mut part = vec![0; (slot + 1) * width];
        codec.decode(first, count, bytes, kings, &mut part).unwrap();
        assert_eq!(part, values[..part.len()]);
    }
    values
}

#[test]
fn a_block_comes_back_in_every_way() {
    for case in cases() {
        assert_eq!(decode(&case, &case.codec, &case.bytes), case.block.values);
        // And with the model as it is in a file.
        let opened = Context::open(&shape(&case.kings), &case.codec.params()).unwrap();
        assert_eq!(decode(&case, &opened, &case.bytes), case.block.values);
    }
}

#[test]
fn each_cut_and_each_flipped_bit_gives_values_that_could_be() {
    for case in cases() {
        let mut other = 0;
        for length in 0..case.bytes.len() {
            let cut = decode(&case, &case.codec, &case.bytes[..length]);
            other += usize::from(cut != case.block.values);
        }
        for bit in 0..case.bytes.len() * 8 {
            let mut bytes = case.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let flipped = decode(&case, &case.codec, &bytes);
            other += usize::from(flipped != case.block.values);
        }
        // Nearly each bit counts; the checksum of the block finds the damage.
        assert!(
            other > case.bytes.len() * 8,
            "{other} of {}",
            case.bytes.len()
        );
    }
}

#[test]
fn a_damaged_model_is_an_error_or_works() {
    for case in cases() {
        let shape = shape(&case.kings);
        let mut model = Vec::new();
        case.codec.models.iter().for_each(|m| m.write(&mut model));
        let open = |model: &[u8]| {
            let packed = zstd::bulk::compress(model, 1).unwrap();
            Context::open(&shape, &Properties::new().with_bytes("model", packed))
        };
        let refused = |model: &[u8]| match open(model) {
            Ok(codec) => {
                decode(&case, &codec, &case.bytes);
                false
            }
            Err(Error::Corrupt { rule: "C-1", .. }) => true,
            Err(error) => panic!("{error}"),
        };
        assert!(!refused(&model));
        for length in (0..model.len()).step_by(97) {
            assert!(refused(&model[..length]), "cut to {length}");
        }
        assert!(refused(&[&model[..], &[0]].concat()));
        let (mut bad, mut tried) = (0, 0);
        // All counts and the first classes, then samples of the rest.
        let places = (0..40).chain((40..model.len()).step_by(61));
        for bit in places.flat_map(|at| at * 8..at * 8 + 8) {
            let mut damaged = model.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            bad += usize::from(refused(&damaged));
            tried += 1;
        }
        assert!(bad > 0 && bad < tried, "{bad} of {tried}");
        // Compressed bytes that are no frame, or one cut short.
        let packed = case.codec.params();
        let packed = packed.bytes("model").unwrap();
        for wrong in [&packed[1..], &packed[..packed.len() / 2], &[]] {
            let params = Properties::new().with_bytes("model", wrong.to_vec());
            assert!(Context::open(&shape, &params).is_err());
        }
    }
}

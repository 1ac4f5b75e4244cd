//! Round trips of data that resembles tables, vectors against portable
//! arithmetic, and bytes that no encoder wrote.

use proptest::prelude::*;

use super::super::{Codec, Plan, SampleBlock, Shape, Slot};
use super::engine::{Engine, Records};
use super::layout::{LANES, MAX_FEATURES, MAX_REFERENCES, SCALES};
use super::model::Cell;
use super::predict::{self, Inputs, Lanes};
use super::references::{available, portable_available};
use super::{Either, Small, decode};
use crate::numbering::{Flat, Grouped, Multiset, Numbering, Order, Pair};
use crate::{Error, Properties};

/// A bell around the pips, of `width` values that sum to `total`.
fn bell(pips: u32, bits: u8, width: usize) -> Vec<u32> {
    let total = Shape::largest(bits);
    let mut values = vec![0u32; width];
    let centre = i64::from(pips) * 5 / 2 + 10;
    let mut rest = total;
    for (place, value) in values.iter_mut().enumerate() {
        let distance = (place as i64 * 20 - centre).unsigned_abs();
        let share = 4096u64 >> (distance * distance / 400).min(40);
        *value = (u64::from(total) * share / 12_000) as u32;
        *value = (*value).min(rest);
        rest -= *value;
    }
    values[(centre / 20) as usize % width] += rest;
    values
}

/// Bells of all positions of a multiset.
fn bells(numbering: &Multiset, bits: u8, width: usize) -> Vec<u32> {
    let mut counts = vec![0; numbering.points()];
    let mut values = Vec::new();
    for number in 0..numbering.len() {
        numbering.unrank(number, &mut counts).unwrap();
        let pips = (1..).zip(&counts).map(|(p, &c)| p * u32::from(c)).sum();
        values.extend(bell(pips, bits, width));
    }
    values
}

/// Moves a little in each record from one value to the next, differently in
/// each, so that there is something to code.
fn disturb(values: &mut [u32], width: usize) {
    for (number, record) in (1u32..).zip(values.chunks_exact_mut(width)) {
        let noise = number.wrapping_mul(2_654_435_761);
        for place in 1..width {
            let moved = (noise >> (place % 16) & 255).min(record[place]);
            record[place] -= moved;
            record[place - 1] += moved;
        }
    }
}

fn blocks(values: &[u32], width: usize, positions: usize) -> Vec<SampleBlock> {
    let parts = values.chunks(positions * width).enumerate();
    parts
        .map(|(k, part)| SampleBlock {
            first: (k * positions) as u64,
            values: part.to_vec(),
        })
        .collect()
}

/// Encodes and decodes all blocks; answers the bytes of them.
fn round_trip(shape: &Shape, plan: &dyn Plan, values: &[u32]) -> (Small, Vec<Vec<u8>>) {
    let width = shape.width();
    let sample = blocks(values, width, shape.block_positions as usize);
    let trained = Small::train(shape, plan, &sample).unwrap();
    let codec = Small::open(shape, &trained.params()).unwrap();
    let mut all = Vec::new();
    for block in &sample {
        let count = block.values.len() / width;
        let mut bytes = Vec::new();
        trained
            .encode(block.first, &block.values, plan, &mut bytes)
            .unwrap();
        let mut found = vec![u32::MAX; block.values.len()];
        codec
            .decode(block.first, count, &bytes, plan, &mut found)
            .unwrap();
        assert_eq!(found, block.values);
        let mut record = vec![0; width];
        for slot in [0, count / 2, count - 1] {
            codec
                .decode_slot(block.first, count, slot, &bytes, plan, &mut record)
                .unwrap();
            assert_eq!(record, block.values[slot * width..][..width]);
        }
        all.push(bytes);
    }
    (codec, all)
}

#[test]
fn distributions_come_back_and_become_small() {
    let numbering = Multiset::new(6, 6).unwrap();
    for (bits, width) in [(16, 32), (24, 32), (8, 11), (32, 40), (16, 70)] {
        let shape = Shape {
            bits: vec![bits; width],
            block_positions: 48,
        };
        let values = bells(&numbering, bits, width);
        let (_, blocks) = round_trip(&shape, &numbering, &values);
        let bytes: usize = blocks.iter().map(Vec::len).sum();
        // A bell is a function of its pips, which the references tell.
        assert!(
            bytes * 8 < values.len() * usize::from(bits) / 10,
            "{bits} bits: {bytes} bytes"
        );
    }
}

#[test]
fn records_that_sum_to_something_else_come_back() {
    let numbering = Multiset::new(5, 5).unwrap();
    let shape = Shape {
        bits: vec![16; 32],
        block_positions: 32,
    };
    let mut values = bells(&numbering, 16, 32);
    let sample = blocks(&values, 32, 32);
    let codec = Small::train(&shape, &numbering, &sample).unwrap();
    // The model knows that records sum to 65535; these do not, and they begin early.
    for (place, value) in [(0, 7), (32 * 9 + 31, 60_000), (32 * 20, 65_535)] {
        values[place] = value;
    }
    let mut bytes = Vec::new();
    codec
        .encode(0, &values[..32 * 32], &numbering, &mut bytes)
        .unwrap();
    let mut found = vec![0; 32 * 32];
    codec.decode(0, 32, &bytes, &numbering, &mut found).unwrap();
    assert_eq!(found, values[..32 * 32]);
}

#[test]
fn pairs_come_back_across_rows() {
    let pair = Pair::new(3, 3).unwrap();
    let row = pair.side().len();
    let value = |number: u64, k: u64| {
        let (us, them) = (number / row, number % row);
        (30_000 + 900 * them - 700 * us + us * them * k) as u32
    };
    let values: Vec<u32> = (0..row * row)
        .flat_map(|n| (0..4).map(move |k| value(n, k)))
        .collect();
    let shape = Shape {
        bits: vec![16; 4],
        block_positions: 3 * row as u32,
    };
    round_trip(&shape, &pair, &values);
    let shape = Shape {
        bits: vec![24; 4],
        block_positions: 7,
    };
    round_trip(&shape, &pair, &values);
}

/// An order in which every third arrangement of as many low chequers is of one class.
fn grouped() -> Grouped {
    let numbering = Multiset::new(8, 5).unwrap();
    let count = |home: usize| [1, 6, 21, 56, 126, 252][home];
    let classes = (0..=5).flat_map(|home| (0..count(home)).map(|a| (a % 3) as u16));
    Grouped::new(&numbering, 6, &classes.collect::<Vec<_>>()).unwrap()
}

#[test]
fn tied_records_come_back_whether_they_are_equal_or_not() {
    let order = grouped();
    let range = order.range();
    let mut described = vec![Slot::default(); (range.end - range.start) as usize];
    order.describe(range.start, &mut described);
    let shape = Shape {
        bits: vec![16; 32],
        block_positions: 24,
    };
    let mut sizes = Vec::new();
    for exception in [usize::MAX, 11, 2] {
        let mut values: Vec<u32> = Vec::new();
        for (row, slot) in described.iter().enumerate() {
            if slot.tied && row % exception != 0 {
                values.extend_from_within(values.len() - 32..);
            } else {
                values.extend(bell(row as u32 % 60, 16, 32));
            }
        }
        // Blocks begin at the first row of the order.
        let sample: Vec<SampleBlock> = blocks(&values, 32, 24)
            .into_iter()
            .map(|block| SampleBlock {
                first: block.first + range.start,
                ..block
            })
            .collect();
        let trained = Small::train(&shape, &order, &sample).unwrap();
        let codec = Small::open(&shape, &trained.params()).unwrap();
        let mut bytes = Vec::new();
        for block in &sample {
            let count = block.values.len() / 32;
            let mut payload = Vec::new();
            trained
                .encode(block.first, &block.values, &order, &mut payload)
                .unwrap();
            let mut found = vec![0; block.values.len()];
            codec
                .decode(block.first, count, &payload, &order, &mut found)
                .unwrap();
            assert_eq!(found, block.values);
            let mut record = vec![0; 32];
            for slot in 0..count {
                codec
                    .decode_slot(block.first, count, slot, &payload, &order, &mut record)
                    .unwrap();
                assert_eq!(record, block.values[slot * 32..][..32]);
            }
            bytes.extend(payload);
        }
        sizes.push(bytes.len());
    }
    assert!(sizes.is_sorted(), "{sizes:?}");
}

#[test]
fn copies_cost_next_to_nothing() {
    let flat = Flat::new(4000);
    let values: Vec<u32> = (0..4000u32)
        .flat_map(|n| [n / 100 * 31_337 % 65_536, n / 100])
        .collect();
    let shape = Shape {
        bits: vec![16, 9],
        block_positions: 100,
    };
    let (_, blocks) = round_trip(&shape, &flat, &values);
    let bytes: usize = blocks.iter().map(Vec::len).sum();
    assert!(bytes < 40 * 16, "{bytes}");
}

#[test]
fn a_column_without_samples_is_encoded_all_the_same() {
    let flat = Flat::new(10);
    let shape = Shape {
        bits: vec![32, 1, 17],
        block_positions: 10,
    };
    let codec = Small::train(&shape, &flat, &[]).unwrap();
    let values: Vec<u32> = (0..10)
        .flat_map(|n| [n * 400_000_000, n & 1, n * 10_000])
        .collect();
    let mut bytes = Vec::new();
    codec.encode(0, &values, &flat, &mut bytes).unwrap();
    let mut found = vec![0; 30];
    codec.decode(0, 10, &bytes, &flat, &mut found).unwrap();
    assert_eq!(found, values);
    // What does not fit the column is refused.
    assert!(matches!(
        codec.encode(0, &[0, 2, 0], &flat, &mut bytes),
        Err(Error::Invalid { .. })
    ));
}

/// Truncations and flipped bits of blocks: right, wrong but within the bounds,
/// or an error.
#[test]
fn damaged_blocks_never_leave_their_bounds() {
    let numbering = Multiset::new(4, 5).unwrap();
    let shape = Shape {
        bits: vec![16; 32],
        block_positions: 42,
    };
    let mut values = bells(&numbering, 16, 32);
    disturb(&mut values, 32);
    let (codec, blocks) = round_trip(&shape, &numbering, &values);
    let mut found = vec![0; 42 * 32];
    let bytes = &blocks[1];
    let mut refused = 0;
    for end in 0..bytes.len() {
        assert!(
            codec
                .decode(42, 42, &bytes[..end], &numbering, &mut found)
                .is_err(),
            "{end}"
        );
    }
    for bit in 0..bytes.len() * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match codec.decode(42, 42, &damaged, &numbering, &mut found) {
            Ok(()) => assert!(found.iter().all(|&v| v <= 65_535)),
            Err(Error::Corrupt { .. }) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    // Wrong symbols spoil the state or the sums; wrong raw bits only values.
    assert!(
        refused * 2 > bytes.len() * 8,
        "{refused} of {}",
        bytes.len() * 8
    );
}

#[test]
fn damaged_models_are_refused_or_decode_to_something() {
    let numbering = Multiset::new(3, 4).unwrap();
    let shape = Shape {
        bits: vec![16; 12],
        block_positions: 35,
    };
    let values = bells(&numbering, 16, 12);
    let (codec, blocks) = round_trip(&shape, &numbering, &values);
    let params = codec.params();
    let model = params.bytes("model").unwrap();
    let with = |model: Vec<u8>| Small::open(&shape, &Properties::new().with_bytes("model", model));
    for end in 0..model.len() {
        assert!(
            matches!(with(model[..end].to_vec()), Err(Error::Corrupt { .. })),
            "{end}"
        );
    }
    let mut found = vec![0; 35 * 12];
    for bit in 0..model.len() * 8 {
        let mut damaged = model.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        if let Ok(codec) = with(damaged) {
            let _ = codec.decode(0, 35, &blocks[0], &numbering, &mut found);
            assert!(found.iter().all(|&v| v <= 65_535));
        }
    }
    assert!(Small::open(&shape, &Properties::new()).is_err());
}

/// The whole decoder with and without vectors.
#[test]
fn vectors_change_nothing() {
    let numbering = Multiset::new(6, 5).unwrap();
    let shape = Shape {
        bits: vec![16; 32],
        block_positions: 64,
    };
    let mut values = bells(&numbering, 16, 32);
    disturb(&mut values, 32);
    let (codec, blocks) = round_trip(&shape, &numbering, &values);
    let Either::Narrow(engine) = codec.engine else {
        panic!("16 bits are narrow")
    };
    let engine = engine.without_vectors();
    let mut records = Records::default();
    for (k, (bytes, part)) in blocks.iter().zip(values.chunks(64 * 32)).enumerate() {
        let count = part.len() / 32;
        decode::decode(
            &engine,
            &mut records,
            64 * k as u64,
            count,
            true,
            bytes,
            &numbering,
        )
        .unwrap();
        for (slot, record) in part.chunks(32).enumerate() {
            assert!(
                engine
                    .row(&records, slot)
                    .iter()
                    .map(|&v| u32::from(v))
                    .eq(record.iter().copied())
            );
        }
    }
    let _: Engine<u16> = engine;
}

fn any_row() -> impl Strategy<Value = [u16; LANES + 8]> {
    let value = prop_oneof![Just(0u16), Just(65_535), any::<u16>(), 0u16..100];
    proptest::collection::vec(value, LANES + 8).prop_map(|v| v.try_into().unwrap())
}

proptest! {
    #[test]
    fn vectors_predict_as_plain_arithmetic_does(
        rows in proptest::collection::vec(any_row(), MAX_REFERENCES + 4),
        count in 1..=MAX_REFERENCES,
        spread: bool,
        means: [u16; 2],
        weights in proptest::collection::vec(any::<i16>(), MAX_FEATURES * LANES),
        scales in proptest::array::uniform10(any::<i16>()),
    ) {
        let [a, b, c, d, references @ ..] = rows.as_slice() else { unreachable!() };
        let inputs = Inputs {
            rows: std::array::from_fn(|k| &references[k]),
            count,
            residuals: [a, b],
            means,
            anchors: [c, d],
            spread,
        };
        let features = if spread { 6 + 3 * (count - 1) } else { 1 + count };
        let mut cell = Cell { scales, ..Cell::default() };
        for (at, &weight) in weights.iter().enumerate().take(features * LANES) {
            cell.set_weight(at / LANES, at % LANES, weight);
        }
        let mut plain = Lanes { prediction: [0; LANES], class: [0; LANES] };
        let mut vector = plain.clone();
        predict::window(&inputs, &cell, &mut plain);
        #[cfg(target_arch = "x86_64")]
        if super::predict_avx2::available() {
            super::predict_avx2::window(&inputs, &cell, &mut vector);
            prop_assert_eq!(&plain, &vector);
        }
        let _ = (&mut vector, SCALES);
    }

    #[test]
    fn references_that_exist_are_found_alike(
        back in proptest::array::uniform16(prop_oneof![Just(0u16), Just(1), 0u16..40, any::<u16>()]),
        slot in prop_oneof![0usize..50, 0usize..65_536],
    ) {
        let described = Slot { back, ..Slot::default() };
        prop_assert_eq!(available(&described, slot), portable_available(&described, slot));
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let flat = Flat::new(50);
        let shape = Shape { bits: vec![16, 3, 32], block_positions: 50 };
        let values: Vec<u32> = (0..50).flat_map(|n| [n, n % 8, n * n]).collect();
        let sample = blocks(&values, 3, 50);
        let codec = Small::train(&shape, &flat, &sample).unwrap();
        let mut found = vec![0; 150];
        if codec.decode(0, 50, &bytes, &flat, &mut found).is_ok() {
            for record in found.chunks(3) {
                prop_assert!(record[0] < 1 << 16 && record[1] < 8);
            }
        }
    }
}

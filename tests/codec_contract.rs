//! What every codec promises, whatever it was trained on.

use endtable::Properties;
use endtable::codec::{self, NAMES, SampleBlock, Shape};
use endtable::numbering::{Flat, Multiset, Numbering, Pair};
use proptest::prelude::*;

const BLOCK: usize = 32;

/// A shape and a numbering for which codecs take different ways.
fn shapes() -> Vec<(Vec<u8>, Box<dyn Numbering>)> {
    vec![
        (vec![16; 32], Box::new(Multiset::new(6, 15).unwrap())),
        (vec![24; 5], Box::new(Multiset::new(6, 15).unwrap())),
        (vec![16; 4], Box::new(Pair::new(3, 5).unwrap())),
        (vec![8], Box::new(Pair::new(3, 5).unwrap())),
        (
            vec![1, 7, 8, 9, 15, 16, 17, 24, 31, 32],
            Box::new(Flat::new(4096)),
        ),
        (vec![1], Box::new(Flat::new(4096))),
    ]
}

/// Values of a block: constant, noise, or slowly rising.
fn values(bits: &[u8], style: u8, seed: u32) -> Vec<u32> {
    let mut state = u64::from(seed) | 1;
    let mut noise = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 32) as u32
    };
    (0..BLOCK as u32)
        .flat_map(|record| {
            bits.iter()
                .map(move |&bits| (record, bits))
                .collect::<Vec<_>>()
        })
        .map(|(record, bits)| {
            let value = match style {
                0 => seed,
                1 => noise(),
                _ => seed.wrapping_add(record * 7) ^ (noise() & 3),
            };
            value & (u32::MAX >> (32 - bits))
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn values_that_were_not_trained_on_come_back(
        trained in (0u8..3, any::<u32>()),
        stored in (0u8..3, any::<u32>()),
        samples in 0u64..4,
        at in 0usize..6,
    ) {
        let (bits, numbering) = shapes().swap_remove(at);
        let shape = Shape { bits: bits.clone(), block_positions: BLOCK as u32 };
        let sample: Vec<SampleBlock> = (0..samples)
            .map(|i| SampleBlock {
                first: i * BLOCK as u64,
                values: values(&bits, trained.0, trained.1.wrapping_add(i as u32)),
            })
            .collect();
        let values = values(&bits, stored.0, stored.1);
        // `context` is for chess alone and has tests of its own.
        for name in NAMES.into_iter().filter(|name| *name != "context") {
            let encoder = codec::build(name, &shape, &Properties::new(), &*numbering, &sample).unwrap();
            let codec = codec::open(name, encoder.version(), &encoder.params(), &shape).unwrap();
            let mut bytes = Vec::new();
            encoder.encode(64, &values, &*numbering, &mut bytes)
                .map_err(|e| TestCaseError::fail(format!("{name}, shape {at}: {e}")))?;
            let mut out = vec![0; values.len()];
            codec.decode(64, BLOCK, &bytes, &*numbering, &mut out)
                .map_err(|e| TestCaseError::fail(format!("{name}, shape {at}: {e}")))?;
            prop_assert_eq!(&out, &values, "{}, shape {}", name, at);
        }
    }
}

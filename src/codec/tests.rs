//! Every codec: round trips, every truncation, every bit flip, any bytes.

use super::*;
use proptest::prelude::*;

/// Codecs for any numbering: all but `context`.
const GENERAL: [&str; 5] = ["stored", "lz4", "packed", "zstd", "small"];

struct NoPlan;

impl Plan for NoPlan {}

/// Records of the given bit lengths, some of them mostly zero.
fn block() -> impl Strategy<Value = (Vec<u8>, Vec<u32>)> {
    let bits = prop_oneof![
        proptest::collection::vec(1u8..=32, 1..12),
        (1usize..40).prop_map(|n| vec![16; n]),
    ];
    (bits, 1usize..70, any::<bool>())
        .prop_flat_map(|(bits, count, sparse)| {
            let value = if sparse {
                prop_oneof![Just(0u32), any::<u32>()].boxed()
            } else {
                any::<u32>().boxed()
            };
            let values = proptest::collection::vec(value, bits.len() * count);
            (Just(bits), values)
        })
        .prop_map(|(bits, mut values)| {
            for record in values.chunks_exact_mut(bits.len()) {
                for (value, &bits) in record.iter_mut().zip(&bits) {
                    *value &= Shape::largest(bits);
                }
            }
            (bits, values)
        })
}

/// A codec that encodes and, from what it would leave in a file, one that decodes.
fn codec(name: &str, shape: &Shape, values: &[u32]) -> (Arc<dyn Codec>, Arc<dyn Codec>) {
    let sample = [SampleBlock {
        first: 0,
        values: values.to_vec(),
    }];
    let encoder = build(name, shape, &Properties::new(), &NoPlan, &sample).unwrap();
    let decoder = open(name, encoder.version(), &encoder.params(), shape).unwrap();
    (encoder, decoder)
}

proptest! {
    #[test]
    fn values_come_back((bits, values) in block()) {
        let shape = Shape { bits, block_positions: 70 };
        let count = values.len() / shape.width();
        for name in GENERAL {
            let (encoder, codec) = codec(name, &shape, &values);
            let mut bytes = Vec::new();
            encoder.encode(0, &values, &NoPlan, &mut bytes).unwrap();
            let mut out = vec![1; values.len()];
            codec.decode(0, count, &bytes, &NoPlan, &mut out).unwrap();
            prop_assert_eq!(&out, &values, "{}", name);
            for (slot, record) in values.chunks_exact(shape.width()).enumerate() {
                let mut out = vec![1; shape.width()];
                codec.decode_slot(0, count, slot, &bytes, &NoPlan, &mut out).unwrap();
                prop_assert_eq!(&out, record, "{} slot {}", name, slot);
            }
        }
    }

    #[test]
    fn damage_gives_an_error_or_values_in_range((bits, values) in block(), at in any::<prop::sample::Index>(), flip in 0u8..8) {
        let shape = Shape { bits, block_positions: 70 };
        let count = values.len() / shape.width();
        for name in GENERAL {
            let (encoder, codec) = codec(name, &shape, &values);
            let mut bytes = Vec::new();
            encoder.encode(0, &values, &NoPlan, &mut bytes).unwrap();
            let cut = at.index(bytes.len());
            let mut out = vec![0; values.len()];
            if codec.decode(0, count, &bytes[..cut], &NoPlan, &mut out).is_ok() {
                check_range(&shape, &out);
            }
            bytes[cut] ^= 1 << flip;
            if codec.decode(0, count, &bytes, &NoPlan, &mut out).is_ok() {
                check_range(&shape, &out);
            }
            let mut record = vec![0; shape.width()];
            if codec.decode_slot(0, count, count - 1, &bytes, &NoPlan, &mut record).is_ok() {
                check_range(&shape, &record);
            }
        }
    }

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..300), wide in any::<bool>()) {
        let shape = Shape { bits: if wide { vec![32, 5, 17] } else { vec![16; 8] }, block_positions: 32 };
        for name in GENERAL {
            let (_, codec) = codec(name, &shape, &vec![0; shape.width()]);
            let mut out = vec![0; 32 * shape.width()];
            if codec.decode(0, 32, &bytes, &NoPlan, &mut out).is_ok() {
                check_range(&shape, &out);
            }
        }
    }
}

fn check_range(shape: &Shape, values: &[u32]) {
    for record in values.chunks_exact(shape.width()) {
        for (&value, &bits) in record.iter().zip(&shape.bits) {
            assert!(value <= Shape::largest(bits));
        }
    }
}

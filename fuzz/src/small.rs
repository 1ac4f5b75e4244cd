//! The decoder of codec `small` alone: payloads of its blocks, below all checksums,
//! under numberings, and orders whose records are tied.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use endtable::codec::{self, Codec, Plan, SampleBlock, Shape};
use endtable::numbering::{Grouped, Multiset, Pair, Tiled};
use endtable::{Properties, Value};

/// Records in a block.
const BLOCK: u64 = 16;

/// A column: bits of its values, what is known of its rows, and the first of these.
struct Layout {
    shape: Shape,
    plan: Arc<dyn Plan>,
    first: u64,
}

fn layouts() -> Vec<Layout> {
    let side = Multiset::new(4, 6).unwrap();
    let pair = Pair::new(3, 3).unwrap();
    // Arrangements of up to six chequers on four points, of few classes.
    let classes: Vec<u16> = (0..210).map(|a| a % 3).collect();
    let grouped: Arc<dyn Plan> = Arc::new(Grouped::new(&side, 4, &classes).unwrap());
    let ordered = side.first_with(6);
    let layout = |bits: &[u8], plan: &Arc<dyn Plan>, first: u64| Layout {
        shape: Shape {
            bits: bits.to_vec(),
            block_positions: BLOCK as u32,
        },
        plan: Arc::clone(plan),
        first: first.next_multiple_of(BLOCK),
    };
    let tiled: Arc<dyn Plan> = Arc::new(Tiled::new(&pair, 4).unwrap());
    let side: Arc<dyn Plan> = Arc::new(side);
    let pair: Arc<dyn Plan> = Arc::new(pair);
    vec![
        layout(&[16; 32], &side, 0),
        layout(&[16; 32], &grouped, ordered),
        layout(&[24; 9], &grouped, ordered),
        layout(&[16; 4], &pair, 0),
        layout(&[16; 4], &tiled, 0),
        layout(&[1, 7, 16, 17, 32], &side, 0),
    ]
}

/// The block that starts at `first`: distributions for many values, of which tied ones
/// are mostly equal.
fn block(layout: &Layout, first: u64) -> SampleBlock {
    let width = layout.shape.width();
    let mut slots = vec![codec::Slot::default(); BLOCK as usize];
    layout.plan.describe(first, &mut slots);
    let mut values: Vec<u32> = Vec::new();
    for (row, slot) in (first..).zip(&slots) {
        if slot.tied && row % 5 != 0 && values.len() >= width {
            values.extend_from_within(values.len() - width..);
            continue;
        }
        let most = |i: usize| u32::MAX >> (32 - layout.shape.bits[i]);
        if width < 8 {
            values.extend((0..width).map(|i| (row as u32 * 77 + i as u32 * 900) & most(i)));
            continue;
        }
        let mut rest = most(0);
        let centre = row as usize % (width - 2) + 1;
        let mut record = vec![0; width];
        for (i, value) in record.iter_mut().enumerate() {
            let height = (most(0) / 3) >> (2 * i.abs_diff(centre)).min(31);
            *value = height.saturating_sub(row as u32 % 7).min(rest);
            rest -= *value;
        }
        record[centre] += rest;
        values.extend(record);
    }
    SampleBlock { first, values }
}

/// The codec of a layout that encodes, and one that decodes.
type Pairs = HashMap<usize, (Arc<dyn Codec>, Arc<dyn Codec>)>;

thread_local! {
    static LAYOUTS: Vec<Layout> = layouts();
    static TRAINED: RefCell<Pairs> = RefCell::default();
}

fn trained(at: usize, layout: &Layout) -> (Arc<dyn Codec>, Arc<dyn Codec>) {
    let make = || {
        let blocks: Vec<_> = (0..5)
            .map(|b| block(layout, layout.first + b * BLOCK))
            .collect();
        let none = Properties::new();
        let encoder = codec::build("small", &layout.shape, &none, &*layout.plan, &blocks).unwrap();
        let decoder = codec::open("small", 1, &encoder.params(), &layout.shape).unwrap();
        (encoder, decoder)
    };
    TRAINED.with_borrow_mut(|all| all.entry(at).or_insert_with(make).clone())
}

/// A payload for [`small_decode`] that the codec has made; for seeds. `None` behind the
/// last layout.
#[allow(dead_code)] // Only what makes seeds needs it.
pub(crate) fn payload(at: u8) -> Option<Vec<u8>> {
    LAYOUTS.with(|layouts| {
        let layout = layouts.get(usize::from(at))?;
        let (encoder, _) = trained(at.into(), layout);
        let mut out = vec![at, 0, 1, BLOCK as u8 - 1];
        let block = block(layout, layout.first + BLOCK);
        encoder
            .encode(block.first, &block.values, &*layout.plan, &mut out)
            .unwrap();
        Some(out)
    })
}

/// Bytes as a layout, damage to the model, a block's number and length, and its payload.
pub(crate) fn small_decode(data: &[u8]) {
    let Some((&[at, damage, number, count], payload)) = data.split_first_chunk::<4>() else {
        return;
    };
    LAYOUTS.with(|layouts| {
        let at = usize::from(at) % layouts.len();
        let layout = &layouts[at];
        let (encoder, mut codec) = trained(at, layout);
        let mut payload = payload;
        if damage > 0 {
            let mut params = encoder.params();
            let Some(Value::Bytes(model)) = params.get("model") else {
                return;
            };
            let mut model = model.clone();
            for _ in 0..damage % 8 {
                let Some((&[low, high, change], rest)) = payload.split_first_chunk::<3>() else {
                    break;
                };
                let place = usize::from(u16::from_le_bytes([low, high])) % model.len();
                model[place] ^= change;
                payload = rest;
            }
            params.set("model", Value::Bytes(model));
            match codec::open("small", 1, &params, &layout.shape) {
                Ok(opened) => codec = opened,
                Err(_) => return,
            }
        }
        let first = layout.first + u64::from(number % 8) * BLOCK;
        let count = usize::from(count) % BLOCK as usize + 1;
        let width = layout.shape.width();
        let mut records = vec![0; count * width];
        let plan = &*layout.plan;
        let decoded = codec.decode(first, count, payload, plan, &mut records);
        let mut record = vec![0; width];
        let slot = usize::from(number) % count;
        let alone = codec.decode_slot(first, count, slot, payload, plan, &mut record);
        let bits = layout.shape.bits.iter().cycle();
        assert!(
            records
                .iter()
                .zip(bits)
                .all(|(&v, &bits)| u64::from(v) >> bits == 0)
        );
        if decoded.is_ok() {
            alone.unwrap();
            assert_eq!(record, records[slot * width..][..width]);
            if damage == 0 {
                let mut again = Vec::new();
                encoder.encode(first, &records, plan, &mut again).unwrap();
                let mut back = vec![0; records.len()];
                codec.decode(first, count, &again, plan, &mut back).unwrap();
                assert_eq!(back, records);
            }
        }
    });
}

//! From a block's bytes to its records. Any bytes may come in.

use super::engine::{Engine, Records};
use super::layout::{MODES, mode};
use super::predict::Sample;
use super::values::decode_values;
use crate::codec::Plan;
use crate::codec::rans::Decoder;
use crate::{Error, Result};

/// Decodes the first `wanted` records of a block; `all` if these are all.
pub(super) fn decode<T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    first: u64,
    wanted: usize,
    all: bool,
    bytes: &[u8],
    plan: &dyn Plan,
) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if engine.vector {
        // SAFETY: the engine found that the processor can.
        #[allow(unsafe_code)]
        return unsafe { with_vectors(engine, records, first, wanted, all, bytes, plan) };
    }
    plainly(engine, records, first, wanted, all, bytes, plan)
}

/// [`plainly`], compiled for processors with the instructions that
/// `predict_avx2::available` asks for: shifts by any register shorten the chain from
/// value to value.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn with_vectors<T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    first: u64,
    wanted: usize,
    all: bool,
    bytes: &[u8],
    plan: &dyn Plan,
) -> Result<()> {
    plainly(engine, records, first, wanted, all, bytes, plan)
}

#[inline(always)]
fn plainly<T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    first: u64,
    wanted: usize,
    all: bool,
    bytes: &[u8],
    plan: &dyn Plan,
) -> Result<()> {
    let model = &*engine.model;
    // The bytes may still be on their way from memory.
    engine.begin(plan, first, wanted, records);
    let mut decoder = Decoder::new(bytes)?;
    let with_modes = decoder.raw(1) == 1;
    let free = decoder.raw(1) == 1;
    let exact = model.ties && decoder.raw(1) == 0;
    let total = model.total.filter(|_| !free);
    let mut before = mode::PREDICTED;
    for slot in 0..wanted {
        let tied = engine.tied(records, slot);
        if tied && exact {
            engine.repeat(records, slot);
            continue;
        }
        let coded = match (tied, with_modes) {
            (true, _) => model.modes.get(MODES),
            (false, true) => model.modes.get(usize::from(before) % MODES),
            (false, false) => None,
        };
        let chosen = coded.map_or(mode::PREDICTED, |table| decoder.symbol(table).symbol);
        if tied && chosen == mode::FIRST {
            engine.repeat(records, slot);
            continue;
        }
        if !tied {
            before = chosen;
        }
        let prepared = engine.locate(records, slot);
        let copied = match chosen {
            mode::FIRST => engine.copy(records, &prepared, 0, slot),
            mode::SECOND => engine.copy(records, &prepared, 1, slot),
            _ => {
                engine.open(records, slot);
                engine.predict(records, &prepared);
                let start = if chosen == mode::WHOLE {
                    0
                } else {
                    prepared.start
                };
                decoder = decode_values(engine, records, &prepared, slot, (start, total), decoder)?;
                continue;
            }
        };
        if !copied {
            return Err(Error::corrupt(
                "small-2",
                format!("record {slot} of the block copies a reference that it does not have"),
            ));
        }
    }
    if all { decoder.finish() } else { Ok(()) }
}

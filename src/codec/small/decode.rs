//! From a block's bytes to its records. Any bytes may come in.

use super::engine::{Engine, Expected, Feedback, Parts, Prepared, Records, rounded};
use super::layout::{LANES, MODES, SYMBOLS, mode};
use super::model::Cell;
use super::predict::Sample;
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
    let model = &*engine.model;
    let mut decoder = Decoder::new(bytes)?;
    engine.begin(plan, first, wanted, records);
    let with_modes = decoder.raw(1) == 1;
    let free = decoder.raw(1) == 1;
    let total = model.total.filter(|_| !free);
    let mut before = mode::PREDICTED;
    for slot in 0..wanted {
        let prepared = engine.locate(records, slot);
        if with_modes {
            let Some(table) = model.modes.get(usize::from(before) % MODES) else {
                break;
            };
            before = decoder.symbol(table).symbol;
        }
        let copied = match before {
            mode::FIRST => engine.copy(records, &prepared, 0, slot),
            mode::SECOND => engine.copy(records, &prepared, 1, slot),
            _ => {
                engine.predict(records, &prepared);
                let start = if before == mode::WHOLE {
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
        engine.complete(records, slot);
    }
    if all { decoder.finish() } else { Ok(()) }
}

/// What changes from value to value. It is passed by value, so that it can
/// stay in registers.
#[derive(Clone, Copy)]
struct Step<'a> {
    decoder: Decoder<'a>,
    feedback: Feedback,
    dynamic: u8,
    /// What the values that follow sum to; the greatest number where nothing
    /// is known of that.
    rest: u32,
}

impl Step<'_> {
    /// Decodes a value of at most `largest`; answers it and its residual.
    #[inline(always)]
    #[allow(clippy::indexing_slicing)] // of arrays, each index below their length by a remainder
    fn value<T: Sample>(
        &mut self,
        engine: &Engine<T>,
        expected: Expected,
        weights: [i16; 4],
        largest: u32,
    ) -> Option<(u32, i64)> {
        let class = usize::from(expected.class);
        let context = engine.model.contexts.get(class);
        let cluster = context.map_or(0, |c| usize::from(c[usize::from(self.dynamic & 15)]));
        let decoded = self.decoder.symbol_of(&engine.tables, cluster);
        self.dynamic = decoded.tag;
        let bins = engine.bins.get(cluster);
        let symbol = usize::from(decoded.symbol) % SYMBOLS;
        let (base, bits) = bins.map_or((0, 0), |bins| bins[symbol]);
        let magnitude = i64::from(base) + i64::from(self.decoder.raw(bits));
        let residual = magnitude ^ -i64::from(decoded.symbol & 1);
        let largest = largest.min(self.rest);
        let correction = self.feedback.weighted(weights);
        let value = rounded(expected.prediction, correction, largest) + residual;
        // A negative value becomes a great one.
        if value as u64 > u64::from(largest) {
            return None;
        }
        self.feedback
            .note(value as u32, expected.prediction, engine.model.spread);
        Some((value as u32, residual))
    }
}

/// Decodes the values of a record and completes it; answers the decoder.
#[inline(always)]
#[allow(clippy::indexing_slicing)] // of arrays, each index below their length by a remainder
fn decode_values<'a, T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    prepared: &Prepared,
    slot: usize,
    (start, total): (usize, Option<u32>),
    decoder: Decoder<'a>,
) -> Result<Decoder<'a>> {
    let Some(cell) = engine.model.cells.get(prepared.cell) else {
        return Ok(decoder);
    };
    let step = Step {
        decoder,
        feedback: Feedback::default(),
        dynamic: 0,
        rest: total.unwrap_or(u32::MAX),
    };
    if !engine.model.spread {
        return decode_plain(engine, records, cell, slot, step);
    }
    let largest = engine.largest.first().copied().unwrap_or(0);
    let mut step = step;
    if start < prepared.window {
        let before = start..prepared.window;
        step = decode_outside(
            engine,
            records,
            prepared,
            slot,
            before,
            step,
            total.is_some(),
        )?;
    }
    let Parts {
        values,
        residuals,
        lanes,
    } = engine.parts(records, slot, prepared.window);
    let (Some(values), Some(residuals), Some(lanes)) = (
        values.first_chunk_mut::<LANES>(),
        residuals.first_chunk_mut::<LANES>(),
        lanes.first(),
    ) else {
        return Ok(step.decoder);
    };
    let bounded = total.is_some();
    let lanes_here = LANES.min(engine.width - prepared.window);
    for lane in start.saturating_sub(prepared.window)..lanes_here {
        if bounded && step.rest == 0 {
            break;
        }
        let expected = Expected {
            prediction: lanes.prediction[lane % LANES],
            class: lanes.class[lane % LANES],
            lane,
        };
        let weights = cell.feedback[lane % LANES];
        let Some((value, residual)) = step.value(engine, expected, weights, largest) else {
            return Err(value_error(
                prepared.window + lane,
                slot,
                step.rest.min(largest),
            ));
        };
        values[lane % LANES] = T::of(value);
        residuals[lane % LANES] = residual.unsigned_abs().min(65535) as u16;
        if bounded {
            step.rest -= value;
        }
    }
    let after = prepared.window + lanes_here..engine.width;
    if step.rest != 0 && !after.is_empty() {
        let after = after.start.max(start)..after.end;
        step = decode_outside(engine, records, prepared, slot, after, step, bounded)?;
    }
    let Some(total) = total else {
        engine.complete(records, slot);
        return Ok(step.decoder);
    };
    if step.rest != 0 {
        return Err(Error::corrupt(
            "small-4",
            format!(
                "the values of record {slot} of the block sum to {} less than all others do",
                step.rest
            ),
        ));
    }
    engine.complete_spread(records, slot, total);
    Ok(step.decoder)
}

/// Decodes values that are outside of the window: expected as the base's are.
#[inline(never)]
fn decode_outside<'a, T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    prepared: &Prepared,
    slot: usize,
    places: std::ops::Range<usize>,
    mut step: Step<'a>,
    bounded: bool,
) -> Result<Step<'a>> {
    for place in places {
        if bounded && step.rest == 0 {
            break;
        }
        let base = engine
            .base_row(records, prepared)
            .get(place)
            .copied()
            .unwrap_or_default();
        let expected = Expected::outside(base);
        let largest = engine.largest.get(place).copied().unwrap_or(0);
        let Some((value, residual)) = step.value(engine, expected, [0; 4], largest) else {
            return Err(value_error(place, slot, step.rest.min(largest)));
        };
        engine.keep(records, slot, place, value, residual);
        if bounded {
            step.rest -= value;
        }
    }
    Ok(step)
}

/// Decodes a record that is no distribution.
#[inline(never)]
#[allow(clippy::indexing_slicing)] // of arrays, each index below their length by a remainder
fn decode_plain<'a, T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    cell: &Cell,
    slot: usize,
    mut step: Step<'a>,
) -> Result<Decoder<'a>> {
    let Parts {
        values,
        residuals,
        lanes,
    } = engine.parts(records, slot, 0);
    let places = values.iter_mut().zip(residuals).zip(&engine.largest);
    for (place, ((value_at, residual_at), &largest)) in places.enumerate() {
        let lane = place % LANES;
        let Some(lanes) = lanes.get(place / LANES) else {
            break;
        };
        let expected = Expected {
            prediction: lanes.prediction[lane],
            class: lanes.class[lane],
            lane,
        };
        let Some((value, residual)) = step.value(engine, expected, cell.feedback[lane], largest)
        else {
            return Err(value_error(place, slot, largest));
        };
        *value_at = T::of(value);
        *residual_at = residual.unsigned_abs().min(65535) as u16;
    }
    engine.complete(records, slot);
    Ok(step.decoder)
}

#[cold]
fn value_error(place: usize, slot: usize, largest: u32) -> Error {
    Error::corrupt(
        "small-3",
        format!("value {place} of record {slot} of the block is not from 0 to {largest}"),
    )
}

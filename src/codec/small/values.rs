//! The values of one record from a block's bytes: the decoder's innermost loops.

use super::engine::{Engine, Parts, Prepared, Records};
use super::feedback::{Expected, Feedback, rounded};
use super::layout::{BINS, LANES, SYMBOLS, bin_from};
use super::model::Cell;
use super::predict::Sample;
use crate::codec::rans::Decoder;
use crate::{Error, Result};

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
    /// Of the values so far: the sum of each by its place, the sum of the
    /// magnitudes of residuals, and the place of the first that isn't 0.
    moment: u64,
    magnitudes: u32,
    first: u16,
}

impl Step<'_> {
    /// Decodes the value in `place`, of at most `largest`; answers it and its
    /// residual's magnitude.
    #[inline(always)]
    #[allow(clippy::indexing_slicing)] // of arrays, each index below their length by a remainder
    fn value<T: Sample, const SUMMED: bool>(
        &mut self,
        engine: &Engine<T>,
        expected: Expected,
        weights: [i16; 4],
        place: usize,
        largest: u32,
    ) -> Option<(u32, u16)> {
        let contexts = &engine.contexts[usize::from(expected.class & 127)];
        let cluster = usize::from(contexts[usize::from(self.dynamic & 15)]);
        let decoded = self.decoder.symbol_of(&engine.tables, cluster);
        self.dynamic = decoded.tag;
        let bin = BINS[usize::from(decoded.symbol) % SYMBOLS / 2];
        let (base, bits) = bin_from(bin, u32::from(engine.shifts[cluster % engine.shifts.len()]));
        let magnitude = i64::from(base) + i64::from(self.decoder.raw(bits));
        let residual = magnitude ^ -i64::from(decoded.symbol & 1);
        let largest = largest.min(self.rest);
        let correction = self.feedback.weighted(weights);
        let value = rounded(expected.prediction, correction, largest) + residual;
        // A negative value becomes a great one.
        if value as u64 > u64::from(largest) {
            return None;
        }
        let value = value as u32;
        self.feedback.note(value, expected.prediction, SUMMED);
        let magnitude = residual.unsigned_abs().min(65535) as u16;
        self.moment += place as u64 * u64::from(value);
        self.magnitudes = self.magnitudes.wrapping_add(u32::from(magnitude));
        if value != 0 && self.first == u16::MAX {
            self.first = place as u16;
        }
        Some((value, magnitude))
    }
}

/// Decodes the values of a record and completes it; answers the decoder.
#[inline(always)]
#[allow(clippy::indexing_slicing)] // of arrays, each index below their length by a remainder
pub(super) fn decode_values<'a, T: Sample>(
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
    let mut step = Step {
        decoder,
        feedback: Feedback::default(),
        dynamic: 0,
        rest: total.unwrap_or(u32::MAX),
        moment: 0,
        magnitudes: 0,
        first: u16::MAX,
    };
    if !engine.model.spread {
        return decode_plain(engine, records, cell, slot, step);
    }
    let largest = engine.largest.first().copied().unwrap_or(0);
    let bounded = total.is_some();
    if start < prepared.window {
        let before = start..prepared.window;
        step = decode_outside(engine, records, prepared, slot, before, step, bounded)?;
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
        let place = prepared.window + lane;
        let Some((value, magnitude)) =
            step.value::<T, true>(engine, expected, weights, place, largest)
        else {
            return Err(value_error(place, slot, step.rest.min(largest)));
        };
        values[lane % LANES] = T::of(value);
        residuals[lane % LANES] = magnitude;
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
    let sums = (step.first, step.moment, step.magnitudes);
    engine.complete_spread(records, slot, total, sums);
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
        let Some((value, magnitude)) =
            step.value::<T, true>(engine, expected, [0; 4], place, largest)
        else {
            return Err(value_error(place, slot, step.rest.min(largest)));
        };
        engine.keep(records, slot, place, value, i64::from(magnitude));
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
        let weights = cell.feedback[lane];
        let Some((value, magnitude)) =
            step.value::<T, false>(engine, expected, weights, place, largest)
        else {
            return Err(value_error(place, slot, largest));
        };
        *value_at = T::of(value);
        *residual_at = magnitude;
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

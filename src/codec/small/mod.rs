//! `small`: records predicted from earlier ones of their block, and what is
//! left coded by rANS; weights and frequencies are trained for each column.
//!
//! `spec/small.md` defines the arithmetic, `docs/small.md` tells what was tried.

mod contexts;
mod decode;
mod engine;
mod feedback;
mod layout;
mod model;
mod predict;
#[cfg(target_arch = "x86_64")]
mod predict_avx2;
mod references;
mod regression;
mod stored_model;
mod survey;
#[cfg(test)]
mod tests;
mod train;
mod values;

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use self::decode::decode;
use self::engine::{Engine, Prepared, Records};
use self::feedback::{Feedback, rounded};
use self::layout::{MODES, mode, split};
use self::model::Model;
use self::predict::Sample;
use super::rans::{Encoder, EncoderTable};
use super::{Access, Codec, Plan, SampleBlock, Shape};
use crate::{Error, Properties, Result};

/// The name in the file.
pub(super) const NAME: &str = "small";

/// The codec.
#[derive(Debug)]
pub(super) struct Small {
    engine: Either,
    /// Made when the first block is encoded.
    encoders: OnceLock<Vec<EncoderTable>>,
    stored: Vec<u8>,
}

/// Engines for values of up to 16 bits and of more.
#[derive(Debug)]
enum Either {
    Narrow(Engine<u16>),
    Wide(Engine<u32>),
}

impl Small {
    /// Learns from `sample`; a column of which nothing is known gets a model
    /// that works, badly.
    pub(super) fn train(shape: &Shape, plan: &dyn Plan, sample: &[SampleBlock]) -> Result<Self> {
        let model = if narrow(shape) {
            train::train::<u16>(shape, plan, sample)?
        } else {
            train::train::<u32>(shape, plan, sample)?
        };
        let stored = stored_model::write(&model, shape);
        // What decodes is what was stored, not what was trained.
        Ok(Self::from_model(
            stored_model::read(&stored, shape)?,
            stored,
            shape,
        ))
    }

    /// From the parameters in a file.
    pub(super) fn open(shape: &Shape, params: &Properties) -> Result<Self> {
        let stored = params.bytes("model").ok_or_else(|| {
            Error::corrupt("small-1", "the codec 'small' has no parameter 'model'")
        })?;
        let model = stored_model::read(stored, shape)?;
        Ok(Self::from_model(model, stored.to_vec(), shape))
    }

    fn from_model(model: Model, stored: Vec<u8>, shape: &Shape) -> Self {
        let model = Arc::new(model);
        let engine = if narrow(shape) {
            Either::Narrow(Engine::new(model, shape))
        } else {
            Either::Wide(Engine::new(model, shape))
        };
        Self {
            engine,
            encoders: OnceLock::new(),
            stored,
        }
    }
}

fn narrow(shape: &Shape) -> bool {
    shape.bits.iter().all(|&bits| bits <= 16)
}

thread_local! {
    static NARROW: RefCell<Records<u16>> = RefCell::default();
    static WIDE: RefCell<Records<u32>> = RefCell::default();
}

impl Codec for Small {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> Properties {
        Properties::new().with_bytes("model", self.stored.clone())
    }

    fn access(&self) -> Access {
        Access::Block
    }

    fn encode(&self, first: u64, values: &[u32], plan: &dyn Plan, out: &mut Vec<u8>) -> Result<()> {
        match &self.engine {
            Either::Narrow(e) => encode(
                e,
                self.encoders.get_or_init(|| e.model.encoders()),
                first,
                values,
                plan,
                out,
            ),
            Either::Wide(e) => encode(
                e,
                self.encoders.get_or_init(|| e.model.encoders()),
                first,
                values,
                plan,
                out,
            ),
        }
    }

    fn decode(
        &self,
        first: u64,
        count: usize,
        bytes: &[u8],
        plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        let width = match &self.engine {
            Either::Narrow(e) => e.width,
            Either::Wide(e) => e.width,
        };
        let wanted = out.len() / width.max(1);
        match &self.engine {
            Either::Narrow(e) => NARROW.with_borrow_mut(|records| {
                decode(e, records, first, wanted, wanted == count, bytes, plan)?;
                copy_out(e, records, 0, out);
                Ok(())
            }),
            Either::Wide(e) => WIDE.with_borrow_mut(|records| {
                decode(e, records, first, wanted, wanted == count, bytes, plan)?;
                copy_out(e, records, 0, out);
                Ok(())
            }),
        }
    }

    fn decode_slot(
        &self,
        first: u64,
        count: usize,
        slot: usize,
        bytes: &[u8],
        plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        let wanted = slot + 1;
        match &self.engine {
            Either::Narrow(e) => NARROW.with_borrow_mut(|records| {
                decode(e, records, first, wanted, wanted == count, bytes, plan)?;
                copy_out(e, records, slot, out);
                Ok(())
            }),
            Either::Wide(e) => WIDE.with_borrow_mut(|records| {
                decode(e, records, first, wanted, wanted == count, bytes, plan)?;
                copy_out(e, records, slot, out);
                Ok(())
            }),
        }
    }
}

fn copy_out<T: Sample>(engine: &Engine<T>, records: &Records<T>, from: usize, out: &mut [u32]) {
    for (slot, record) in out.chunks_exact_mut(engine.width.max(1)).enumerate() {
        let row = engine.row(records, from + slot);
        record
            .iter_mut()
            .zip(row)
            .for_each(|(to, &value)| *to = value.into());
    }
}

/// Where a record's first value that isn't 0 is.
fn first_place<V: Copy + Into<u32>>(record: &[V]) -> usize {
    record
        .iter()
        .position(|&v| v.into() != 0)
        .unwrap_or(record.len())
}

/// Whether a record of this mode has no values of its own.
fn is_copy(chosen: u8) -> bool {
    matches!(chosen, mode::FIRST | mode::SECOND)
}

/// The mode in which the record in `slot` is coded; a copy is made at once.
fn choose<T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    prepared: &Prepared,
    slot: usize,
    record: &[u32],
) -> u8 {
    let same = |row: &[T]| row.iter().map(|&v| v.into()).eq(record.iter().copied());
    if engine.tied(records, slot) {
        if same(engine.row(records, slot - 1)) {
            engine.repeat(records, slot);
            return mode::FIRST;
        }
    } else if same(engine.base_row(records, prepared)) {
        engine.copy(records, prepared, 0, slot);
        return mode::FIRST;
    } else if prepared
        .reference(1)
        .is_some_and(|other| same(engine.row(records, other)))
    {
        engine.copy(records, prepared, 1, slot);
        return mode::SECOND;
    }
    if first_place(record) < prepared.start {
        mode::WHOLE
    } else {
        mode::PREDICTED
    }
}

fn encode<T: Sample>(
    engine: &Engine<T>,
    tables: &[EncoderTable],
    first: u64,
    values: &[u32],
    plan: &dyn Plan,
    out: &mut Vec<u8>,
) -> Result<()> {
    let model = &*engine.model;
    let count = values.len() / engine.width.max(1);
    let mut records = Records::default();
    engine.begin(plan, first, count, &mut records);
    let modes = values
        .chunks_exact(engine.width.max(1))
        .enumerate()
        .map(|(slot, record)| {
            check(engine, record)?;
            let prepared = engine.locate(&records, slot);
            let mode = choose(engine, &mut records, &prepared, slot, record);
            if !is_copy(mode) {
                keep_whole(engine, &mut records, slot, record);
            }
            Ok((mode, engine.tied(&records, slot)))
        })
        .collect::<Result<Vec<_>>>()?;
    let free = modes.iter().filter(|(_, tied)| !tied);
    let copies = free.clone().filter(|&&(mode, _)| is_copy(mode)).count();
    // Without modes a copy is a record of residuals 0. Those matter for what
    // follows, so that it is decided for the block before.
    let with_modes =
        free.clone().any(|&(mode, _)| mode == mode::WHOLE) || copies * 8 > free.count();
    let exact = modes
        .iter()
        .all(|&(mode, tied)| !tied || mode == mode::FIRST);
    engine.begin(plan, first, count, &mut records);
    let total = model.total.filter(|&total| {
        let mut sums = values
            .chunks_exact(engine.width.max(1))
            .map(|r| r.iter().map(|&v| u64::from(v)).sum::<u64>());
        sums.all(|sum| sum == u64::from(total))
    });
    let mut encoder = Encoder::new();
    encoder.raw(u32::from(with_modes), 1);
    encoder.raw(u32::from(total.is_none()), 1);
    if model.ties {
        encoder.raw(u32::from(!exact), 1);
    }
    let mut before = 0;
    let records_values = values.chunks_exact(engine.width.max(1));
    for (slot, (record, &(mode, tied))) in records_values.zip(&modes).enumerate() {
        if tied && exact {
            engine.repeat(&mut records, slot);
            continue;
        }
        let chosen = if tied || with_modes {
            mode
        } else {
            mode::PREDICTED
        };
        if tied {
            encoder.symbol((model.clusters.len() + MODES) as u32, chosen);
        } else if with_modes {
            encoder.symbol((model.clusters.len() + usize::from(before)) as u32, chosen);
            before = chosen;
        }
        if is_copy(chosen) {
            let prepared = engine.locate(&records, slot);
            choose(engine, &mut records, &prepared, slot, record);
            continue;
        }
        let prepared = engine.prepare(&mut records, slot);
        let start = if chosen == mode::WHOLE {
            0
        } else {
            prepared.start
        };
        code_values(
            engine,
            &mut records,
            &prepared,
            slot,
            (start, total),
            record,
            |cluster, residual| {
                let shift = model.clusters.get(cluster).map_or(0, |c| c.shift);
                let (symbol, raw, bits) = split(residual, shift);
                encoder.symbol(cluster as u32, symbol);
                encoder.raw(raw, bits);
                symbol
            },
        );
        engine.complete(&mut records, slot);
    }
    encoder.finish(tables, out)
}

/// Keeps a record that costs no residuals.
fn keep_whole<T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    slot: usize,
    record: &[u32],
) {
    engine.open(records, slot);
    for (place, &value) in record.iter().enumerate() {
        engine.keep(records, slot, place, value, 0);
    }
    engine.complete(records, slot);
}

/// Whether `record` is one of the column's.
fn check<T: Sample>(engine: &Engine<T>, record: &[u32]) -> Result<()> {
    if let Some((value, &largest)) = record.iter().zip(&engine.largest).find(|(v, l)| v > l) {
        return Err(Error::invalid(format!(
            "a value of {value} where {largest} is the greatest"
        )));
    }
    Ok(())
}

/// Goes through the known values of a record as the decoder will: `each` gets
/// the cluster and the residual of a value, and answers its symbol.
fn code_values<T: Sample>(
    engine: &Engine<T>,
    records: &mut Records<T>,
    prepared: &Prepared,
    slot: usize,
    (start, total): (usize, Option<u32>),
    record: &[u32],
    mut each: impl FnMut(usize, i64) -> u8,
) {
    let model = &*engine.model;
    let Some(cell) = model.cells.get(prepared.cell) else {
        return;
    };
    let mut feedback = Feedback::default();
    let mut dynamic = 0;
    let mut rest = total;
    for (place, (&value, &largest)) in record.iter().zip(&engine.largest).enumerate().skip(start) {
        let expected = engine.expected(records, prepared, place);
        let largest = rest.map_or(largest, |rest| rest.min(largest));
        let predicted = rounded(
            expected.prediction,
            feedback.correction(cell, expected.lane),
            largest,
        );
        let residual = i64::from(value) - predicted;
        let context = model.contexts.get(usize::from(expected.class));
        let cluster = context
            .and_then(|c| c.get(usize::from(dynamic)))
            .map_or(0, |&c| usize::from(c));
        let symbol = each(cluster, residual);
        dynamic = model
            .clusters
            .get(cluster)
            .map_or(0, |c| layout::symbol_class(symbol, c.shift));
        engine.keep(records, slot, place, value, residual);
        feedback.note(value, expected.prediction, model.spread);
        if let Some(rest) = &mut rest {
            *rest = rest.saturating_sub(value);
            if *rest == 0 {
                break;
            }
        }
    }
}

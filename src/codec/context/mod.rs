//! Codec `context`: each value with the distribution that its surroundings in
//! the block call for. For numberings that know rows of 64 records.
//!
//! Slots that stand for no position are not coded and read as 0. Of a record of
//! two values the second is predicted from the first value of the slots that
//! the numbering links it to.

mod lanes;
mod lookup;
mod model;
mod range;
mod row;
mod train;

use std::ops::Range;

use lookup::Lookup;
use model::Model;
use range::{Decoder, Encoder};
use row::{At, Surface, Until, Visit, walk_all};

use super::{Access, Codec, Plan, Row, Rows, SampleBlock, Shape};
use crate::{Error, Properties, Result};

pub(super) const NAME: &str = "context";
/// The level that models are compressed with.
const MODEL_LEVEL: i32 = 19;
/// The most bytes of a model, uncompressed.
const MODEL_BYTES: usize = 4 << 20;

/// The codec with its models.
pub(super) struct Context {
    /// By value of the record.
    models: Vec<Model>,
    /// The same for decoding.
    lookups: Vec<Lookup>,
}

/// The values of one row, by value of the record.
type Values = [[i16; 64]; 2];

impl Context {
    fn new(models: Vec<Model>) -> Self {
        Context {
            lookups: models.iter().map(Lookup::new).collect(),
            models,
        }
    }

    /// Learns from a sample. Of the options, `most0` and `most1` are the greatest
    /// values of all (else the sample's are taken), `landmark0` and
    /// `landmark1` values that stand apart from their neighbours' order (else the
    /// most frequent are taken), and `complete` = 1 promises that the sample
    /// is the whole column.
    pub(super) fn train(
        shape: &Shape,
        options: &Properties,
        plan: &dyn Plan,
        sample: &[SampleBlock],
    ) -> Result<Self> {
        let rows = rows(plan)?;
        check(shape)?;
        if !(shape.block_positions as usize).is_multiple_of(rows.slots().len().max(1)) {
            return Err(Error::invalid(format!(
                "codec 'context' takes blocks of a multiple of {} here",
                rows.slots().len()
            )));
        }
        Ok(Context::new(train::models(shape, options, rows, sample)?))
    }

    /// The codec that a file describes.
    pub(super) fn open(shape: &Shape, params: &Properties) -> Result<Self> {
        check(shape).map_err(blame_file)?;
        let packed = params
            .bytes("model")
            .ok_or_else(|| model::broken("there is none"))?;
        let bytes = zstd::bulk::decompress(packed, MODEL_BYTES)
            .map_err(|_| model::broken("it does not decompress"))?;
        let mut rest = bytes.as_slice();
        let models = (0..shape.width())
            .map(|_| Model::read(&mut rest))
            .collect::<Result<_>>()?;
        if !rest.is_empty() {
            return Err(model::broken("bytes are left over"));
        }
        let codec = Context::new(models);
        for (model, &bits) in codec.models.iter().zip(&shape.bits) {
            if u32::from(model.most) > Shape::largest(bits) {
                return Err(model::broken("its values have too many bits"));
            }
        }
        Ok(codec)
    }
}

fn rows(plan: &dyn Plan) -> Result<&dyn Rows> {
    plan.rows().ok_or_else(|| {
        Error::invalid("codec 'context' needs a numbering with rows, such as `kings` version 1")
    })
}

fn check(shape: &Shape) -> Result<()> {
    let fits = shape.bits.iter().all(|&b| Shape::largest(b) <= model::MOST);
    if !(1..=2).contains(&shape.width()) || !fits {
        return Err(Error::invalid(
            "codec 'context' takes one or two values of at most 12 bits",
        ));
    }
    Ok(())
}

/// A file that asks for what the codec cannot do is at fault itself.
fn blame_file(error: Error) -> Error {
    match error {
        Error::Invalid { message } => Error::corrupt("C-1", message),
        other => other,
    }
}

/// The values of a row of records; fails unless exactly the present are set.
#[allow(clippy::indexing_slicing)] // of arrays, each index masked to their length
fn gather(records: &[u32], slots: Range<usize>, row: &Row, most: &[u16]) -> Result<Values> {
    let mut values = [[0; 64]; 2];
    for (slot, record) in slots.zip(records.chunks_exact(most.len().max(1))) {
        for (v, &raw) in record.iter().enumerate() {
            let present = row.present[v & 1] >> slot & 1 != 0;
            let highest = most.get(v).map_or(0, |&m| u32::from(m));
            if present != (raw != 0) || raw > highest {
                return Err(Error::invalid(format!(
                    "record {slot} of a row holds {raw}; 0 is for no position, 1 to {highest} for one"
                )));
            }
            values[v & 1][slot & 63] = raw as i16;
        }
    }
    Ok(values)
}

struct Put<'a, 'b> {
    values: Values,
    coder: &'a mut Encoder<'b>,
    result: Result<()>,
}

#[allow(clippy::indexing_slicing)] // of arrays, each index masked to their length
impl Visit for Put<'_, '_> {
    type Near = usize;

    fn near(&self, group: usize) -> usize {
        group
    }

    fn visit(&mut self, model: &Model, at: At<usize>) -> i16 {
        let value = self.values[at.value & 1][at.slot & 63];
        let distribution = model.distribution(at.near_index(), at.far);
        let put = model.put(distribution, value, at.pivot, self.coder);
        if put.is_err() {
            self.result = put;
        }
        value
    }

    fn values(&self, value: usize) -> &[i16; 64] {
        &self.values[value & 1]
    }
}

struct Take<'a> {
    values: Values,
    coder: Decoder<'a>,
    lookups: &'a [Lookup],
    /// That of the value that is being decoded.
    lookup: &'a Lookup,
}

#[allow(clippy::indexing_slicing)] // of arrays, each index masked to their length
impl Visit for Take<'_> {
    type Near = u64;

    #[inline(always)]
    fn begin(&mut self, value: usize) {
        if let Some(lookup) = self.lookups.get(value) {
            self.lookup = lookup;
        }
    }

    #[inline(always)]
    fn near(&self, group: usize) -> u64 {
        self.lookup.near(group)
    }

    #[inline(always)]
    fn visit(&mut self, _model: &Model, at: At<u64>) -> i16 {
        let coder = &mut self.coder;
        let value = self.lookup.take(at.near, at.left, at.far, at.pivot, coder);
        self.values[at.value & 1][at.slot & 63] = value;
        value
    }

    fn values(&self, value: usize) -> &[i16; 64] {
        &self.values[value & 1]
    }
}

impl Codec for Context {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> Properties {
        let mut bytes = Vec::new();
        self.models.iter().for_each(|m| m.write(&mut bytes));
        let packed = zstd::bulk::compress(&bytes, MODEL_LEVEL).unwrap_or_default();
        Properties::new().with_bytes("model", packed)
    }

    fn access(&self) -> Access {
        Access::Block
    }

    fn encode(&self, first: u64, values: &[u32], plan: &dyn Plan, out: &mut Vec<u8>) -> Result<()> {
        let rows = rows(plan)?;
        let (width, slots) = (self.models.len(), rows.slots());
        let most: Vec<u16> = self.models.iter().map(|m| m.most).collect();
        let mut coder = Encoder::new(out);
        let mut past = [None; 2];
        for (at, records) in (first..)
            .step_by(slots.len())
            .zip(values.chunks(slots.len() * width))
        {
            let row = rows.row(at);
            let known = gather(records, slots.clone(), &row, &most)?;
            let mut put = Put {
                values: known,
                coder: &mut coder,
                result: Ok(()),
            };
            walk_all(&self.models, rows, &row, &mut past, Until::END, &mut put);
            put.result?;
        }
        coder.finish();
        Ok(())
    }

    fn decode(
        &self,
        first: u64,
        _count: usize,
        bytes: &[u8],
        plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        let mut walk = Walk::new(self, first, bytes, plan)?;
        let (width, slots) = (self.models.len(), walk.slots.clone());
        for records in out.chunks_mut(slots.len() * width) {
            let values = walk.row(walk.last_value(), records.len() / width);
            for (slot, record) in slots.clone().zip(records.chunks_mut(width)) {
                for (raw, values) in record.iter_mut().zip(values) {
                    *raw = values.get(slot).copied().unwrap_or(0) as u32;
                }
            }
        }
        Ok(())
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
        let last = Walk::new(self, first, bytes, plan)?.last_value();
        self.decode_value(first, count, slot, last, bytes, plan, out)
    }

    fn decode_value(
        &self,
        first: u64,
        _count: usize,
        slot: usize,
        value: usize,
        bytes: &[u8],
        plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        let mut walk = Walk::new(self, first, bytes, plan)?;
        let slots = walk.slots.clone();
        let (before, slot) = (slot / slots.len().max(1), slot % slots.len().max(1));
        for _ in 0..before {
            walk.row(ALL, slots.len());
        }
        let values = walk.row(value, slot + 1);
        let slot = slots.start + slot;
        for (raw, values) in out.iter_mut().zip(values) {
            *raw = values.get(slot).copied().unwrap_or(0) as u32;
        }
        Ok(())
    }
}

/// No value of a record is the last that is wanted: all are.
const ALL: usize = 2;

/// Decoding a block row by row.
struct Walk<'a> {
    models: &'a [Model],
    rows: &'a dyn Rows,
    slots: Range<usize>,
    /// Which of a record's values is coded first.
    first_value: usize,
    /// Number of the next row's first record.
    next: u64,
    take: Take<'a>,
    past: [Option<Surface>; 2],
}

impl<'a> Walk<'a> {
    fn new(codec: &'a Context, first: u64, bytes: &'a [u8], plan: &'a dyn Plan) -> Result<Self> {
        let rows = rows(plan).map_err(blame_file)?;
        let lookup = codec
            .lookups
            .first()
            .ok_or_else(|| model::broken("there is none"))?;
        Ok(Walk {
            models: &codec.models,
            rows,
            slots: rows.slots(),
            first_value: if codec.models.len() == 2 {
                rows.first_value() & 1
            } else {
                0
            },
            next: first,
            take: Take {
                values: [[0; 64]; 2],
                coder: Decoder::new(bytes),
                lookups: &codec.lookups,
                lookup,
            },
            past: [None; 2],
        })
    }

    /// Which of a record's values is coded last.
    fn last_value(&self) -> usize {
        self.models.len().saturating_sub(1 + self.first_value)
    }

    /// The next row's values, by value of the record. Where `last` is one of them,
    /// nothing is decoded behind the first `records` records' values of it.
    #[inline]
    fn row(&mut self, last: usize, records: usize) -> &Values {
        let row = self.rows.row(self.next);
        self.next += self.slots.len() as u64;
        let until = Until {
            value: last,
            slots: self.slots.start + records,
        };
        self.take.values = [[0; 64]; 2];
        walk_all(
            self.models,
            self.rows,
            &row,
            &mut self.past,
            until,
            &mut self.take,
        );
        &self.take.values
    }
}

#[cfg(test)]
mod tests;

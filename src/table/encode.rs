//! Encoding records into blocks, a unit of many blocks at a time, and choosing
//! the blocks that codecs learn from.

use std::sync::Arc;

use rayon::prelude::*;

use super::Records;
use super::canonical::Canonical;
use super::order::ColumnOrder;
use crate::codec::{self, Codec, SampleBlock};
use crate::format::{BLOCK_CHECKSUM_BYTES, Column, Schema};
use crate::numbering::Numbering;
use crate::{Error, Result};

/// What encodes units, shared by threads.
pub(super) struct Encoder {
    pub(super) columns: Vec<(Arc<dyn Codec>, Canonical, ColumnOrder)>,
    /// Records in a unit.
    pub(super) unit: u64,
}

/// What records of one column have become.
pub(super) enum Part {
    /// Bytes and lengths of their blocks.
    Blocks(Vec<u8>, Vec<u32>),
    /// Rows and records one after the other, where those are not in number order.
    Rows(Vec<u64>, Vec<u32>),
}

/// Encoded records.
pub(super) struct Unit {
    pub(super) count: usize,
    pub(super) columns: Vec<Part>,
    pub(super) content: crc32fast::Hasher,
}

impl Encoder {
    pub(super) fn unit(&self, schema: &Schema, first: u64, values: &[u32]) -> Result<Unit> {
        let width = schema.width();
        let count = values.len() / width;
        let mut columns = Vec::new();
        let mut canonical = Vec::with_capacity(count * schema.record_bytes());
        if let [(_, form, _)] = self.columns.as_slice() {
            form.append(values, &mut canonical);
        } else {
            for record in values.chunks_exact(width) {
                let mut rest = record;
                for ((_, form, _), column) in self.columns.iter().zip(&schema.columns) {
                    let (head, tail) = rest.split_at(column.width());
                    form.append(head, &mut canonical);
                    rest = tail;
                }
            }
        }
        let mut content = crc32fast::Hasher::new();
        content.update(&canonical);
        let mut at = 0;
        for ((codec, _, order), column) in self.columns.iter().zip(&schema.columns) {
            let part = |r| -> &[u32] { &values[r * width + at..][..column.width()] };
            let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
            let mut block_values = Vec::new();
            let (from, to) = (
                first.max(column.first),
                (first + count as u64).min(column.first + column.count),
            );
            if from < to && !order.is_own() {
                let before = column.first / u64::from(column.block_positions);
                let blocks = from / u64::from(column.block_positions) - before
                    ..=(to - 1) / u64::from(column.block_positions) - before;
                for block in blocks {
                    let (start, records) = column.block_range(block);
                    block_values.clear();
                    let skip = (start - first) as usize;
                    (skip..skip + records).for_each(|r| block_values.extend_from_slice(part(r)));
                    let plan = order.plan();
                    lengths.push(encode_block(
                        &**codec,
                        plan,
                        start,
                        &block_values,
                        &mut bytes,
                    )?);
                }
            }
            check_elsewhere(
                column,
                first,
                values
                    .chunks_exact(width)
                    .map(|r| &r[at..at + column.width()]),
            )?;
            columns.push(match order.is_own() {
                false => Part::Blocks(bytes, lengths),
                true => {
                    let stored = (from..to.max(from)).map(|number| (number - first) as usize);
                    let values = stored.flat_map(part).copied().collect();
                    Part::Rows(
                        (from..to.max(from)).map(|n| order.row_of(n)).collect(),
                        values,
                    )
                }
            });
            at += column.width();
        }
        Ok(Unit {
            count,
            columns,
            content,
        })
    }
}

/// Appends a stored block to `out`; answers its length.
pub(super) fn encode_block(
    codec: &dyn Codec,
    plan: &dyn codec::Plan,
    first: u64,
    values: &[u32],
    out: &mut Vec<u8>,
) -> Result<u32> {
    let before = out.len();
    codec.encode(first, values, plan, out)?;
    let crc = crc32fast::hash(&out[before..]);
    out.extend_from_slice(&crc.to_le_bytes());
    debug_assert!(out.len() - before >= BLOCK_CHECKSUM_BYTES);
    Ok((out.len() - before) as u32)
}

/// Fails when a record that is not to be stored is not the column's one for
/// such numbers: it would be lost.
fn check_elsewhere<'a>(
    column: &Column,
    first: u64,
    records: impl Iterator<Item = &'a [u32]>,
) -> Result<()> {
    if column.elsewhere.is_empty() {
        return Ok(());
    }
    for (number, record) in (first..).zip(records) {
        if column.place(number).is_none() && record != column.elsewhere {
            return Err(Error::invalid(format!(
                "position {number} has a record of its own in column '{}', which is to be stored for {} positions from {} only",
                column.name, column.count, column.first
            )));
        }
    }
    Ok(())
}

/// Blocks of one column to train its codec on, spread evenly.
pub(super) fn sample(
    records: &dyn Records,
    schema: &Schema,
    numbering: &Arc<dyn Numbering>,
    column: usize,
) -> Result<Vec<SampleBlock>> {
    let before: usize = schema.columns.iter().take(column).map(Column::width).sum();
    let Some(column) = schema.columns.get(column) else {
        return Ok(Vec::new());
    };
    let wanted = codec::sample_values(&column.codec.name);
    let block_values = column.width() * column.block_positions as usize;
    let most = (wanted / block_values.max(1)) as u64;
    if most == 0 || column.count == 0 {
        return Ok(Vec::new());
    }
    let blocks = column.blocks();
    let taken = blocks.min(most);
    let width = schema.width();
    let order = ColumnOrder::open(column, numbering)?;
    (0..taken)
        .into_par_iter()
        .map(|i| {
            let (first, count) =
                column.block_range((u128::from(i) * u128::from(blocks) / u128::from(taken)) as u64);
            let mut values = vec![0; count * width];
            if order.is_own() {
                for (row, record) in (first..).zip(values.chunks_exact_mut(width)) {
                    records.read(order.number_of(row), record)?;
                }
            } else {
                records.read(first, &mut values)?;
            }
            let values = values
                .chunks_exact(width)
                .flat_map(|record| record[before..before + column.width()].iter().copied())
                .collect();
            Ok(SampleBlock { first, values })
        })
        .collect()
}

//! Encoding records into blocks, a unit of many blocks at a time, and choosing
//! the blocks that codecs learn from.

use std::sync::Arc;

use rayon::prelude::*;

use super::Records;
use super::canonical::Canonical;
use crate::codec::{self, Codec, SampleBlock};
use crate::format::{BLOCK_CHECKSUM_BYTES, Column, Schema};
use crate::numbering::Numbering;
use crate::{Error, Result};

/// What encodes units, shared by threads.
pub(super) struct Encoder {
    pub(super) numbering: Arc<dyn Numbering>,
    pub(super) columns: Vec<(Arc<dyn Codec>, Canonical)>,
    /// Records in a unit.
    pub(super) unit: u64,
}

/// Encoded records, with bytes and lengths of the blocks of each column.
pub(super) struct Unit {
    pub(super) count: usize,
    pub(super) columns: Vec<(Vec<u8>, Vec<u32>)>,
    pub(super) content: crc32fast::Hasher,
}

impl Encoder {
    pub(super) fn unit(&self, schema: &Schema, first: u64, values: &[u32]) -> Result<Unit> {
        let width = schema.width();
        let count = values.len() / width;
        let mut columns = Vec::new();
        let mut canonical = Vec::with_capacity(count * schema.record_bytes());
        if let [(_, form)] = self.columns.as_slice() {
            form.append(values, &mut canonical);
        } else {
            for record in values.chunks_exact(width) {
                let mut rest = record;
                for ((_, form), column) in self.columns.iter().zip(&schema.columns) {
                    let (head, tail) = rest.split_at(column.width());
                    form.append(head, &mut canonical);
                    rest = tail;
                }
            }
        }
        let mut content = crc32fast::Hasher::new();
        content.update(&canonical);
        let mut at = 0;
        for ((codec, _), column) in self.columns.iter().zip(&schema.columns) {
            let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
            let mut block_values = Vec::new();
            let (from, to) = (
                first.max(column.first),
                (first + count as u64).min(column.first + column.count),
            );
            if from < to {
                let before = column.first / u64::from(column.block_positions);
                let blocks = from / u64::from(column.block_positions) - before
                    ..=(to - 1) / u64::from(column.block_positions) - before;
                for block in blocks {
                    let (start, records) = column.block_range(block);
                    block_values.clear();
                    let skip = (start - first) as usize * width;
                    for record in values[skip..].chunks_exact(width).take(records) {
                        block_values.extend_from_slice(&record[at..at + column.width()]);
                    }
                    let length = bytes.len();
                    codec.encode(start, &block_values, self.numbering_plan(), &mut bytes)?;
                    let crc = crc32fast::hash(&bytes[length..]);
                    bytes.extend_from_slice(&crc.to_le_bytes());
                    debug_assert!(bytes.len() - length >= BLOCK_CHECKSUM_BYTES);
                    lengths.push((bytes.len() - length) as u32);
                }
            }
            check_elsewhere(
                column,
                first,
                values
                    .chunks_exact(width)
                    .map(|r| &r[at..at + column.width()]),
            )?;
            at += column.width();
            columns.push((bytes, lengths));
        }
        Ok(Unit {
            count,
            columns,
            content,
        })
    }

    fn numbering_plan(&self) -> &dyn codec::Plan {
        &*self.numbering
    }
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
    (0..taken)
        .into_par_iter()
        .map(|i| {
            let (first, count) =
                column.block_range((u128::from(i) * u128::from(blocks) / u128::from(taken)) as u64);
            let mut values = vec![0; count * width];
            records.read(first, &mut values)?;
            let values = values
                .chunks_exact(width)
                .flat_map(|record| record[before..before + column.width()].iter().copied())
                .collect();
            Ok(SampleBlock { first, values })
        })
        .collect()
}

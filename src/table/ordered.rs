//! Writing a column in an order of its own: its records arrive in number order, are
//! put into buckets of rows, and are encoded when all have come.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::Path;

use rayon::prelude::*;

use super::Records;
use super::encode::encode_block;
use super::order::ColumnOrder;
use crate::codec::Codec;
use crate::format::{Column, OrderId, Schema};
use crate::numbering::Numbering;
use crate::{Error, Result};

/// Bytes of a bucket, about: as much is held when it is encoded, twice.
const BUCKET_BYTES: u64 = 64 << 20;
/// The most buckets, each of which is an open file.
const MOST_BUCKETS: u64 = 256;
/// Rows whose blocks one task encodes, about.
const TASK_ROWS: u64 = 4096;

/// Records of one column, by row, on their way into the file.
pub(super) struct Buckets {
    files: Vec<BufWriter<File>>,
    /// Rows of a bucket: a multiple of the block size.
    rows: u64,
    first: u64,
    width: usize,
}

impl Buckets {
    /// Buckets in temporary files in `folder`.
    pub(super) fn create(column: &Column, folder: &Path) -> std::io::Result<Self> {
        let width = column.width();
        let bytes = 4 + 4 * width as u64;
        let block = u64::from(column.block_positions);
        let wanted = (column.count * bytes / BUCKET_BYTES + 1).min(MOST_BUCKETS);
        let rows = (column.count / wanted + 1).next_multiple_of(block);
        // From the grid's first cell on, so that no block is in two buckets.
        let first = column.first / block * block;
        let count = (column.first + column.count - first).div_ceil(rows);
        let files = (0..count)
            .map(|_| {
                tempfile::tempfile_in(folder).map(|file| BufWriter::with_capacity(1 << 16, file))
            })
            .collect::<std::io::Result<_>>()?;
        Ok(Self {
            files,
            rows,
            first,
            width,
        })
    }

    /// Puts a record into its bucket.
    pub(super) fn put(&mut self, row: u64, record: &[u32]) -> std::io::Result<()> {
        let place = row - self.first;
        if let Some(file) = self.files.get_mut((place / self.rows) as usize) {
            file.write_all(&((place % self.rows) as u32).to_le_bytes())?;
            for value in record {
                file.write_all(&value.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Encodes all blocks in order: `sink` gets the bytes and the lengths of some at a
    /// time.
    pub(super) fn encode(
        self,
        column: &Column,
        codec: &dyn Codec,
        order: &ColumnOrder,
        mut sink: impl FnMut(&[u8], &[u32]) -> Result<()>,
    ) -> Result<()> {
        let failed = |e| Error::io("sort records in a temporary file", e);
        let end = column.first + column.count;
        for (bucket, file) in self.files.into_iter().enumerate() {
            let mut file = file.into_inner().map_err(|e| failed(e.into_error()))?;
            file.rewind().map_err(failed)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(failed)?;
            drop(file);
            let from = self.first + bucket as u64 * self.rows;
            let rows = self.rows.min(end - from);
            let mut values = vec![0u32; rows as usize * self.width];
            for entry in bytes.chunks_exact(4 + 4 * self.width) {
                let (place, record) = entry.split_at(4);
                let place = place.try_into().map_or(0, u32::from_le_bytes) as usize;
                let to = values.chunks_exact_mut(self.width).nth(place);
                let numbers = record.as_chunks::<4>().0;
                to.into_iter()
                    .flatten()
                    .zip(numbers)
                    .for_each(|(to, &v)| *to = u32::from_le_bytes(v));
            }
            drop(bytes);
            let block = u64::from(column.block_positions);
            let step = TASK_ROWS.next_multiple_of(block);
            let starts: Vec<u64> = (from..from + rows).step_by(step as usize).collect();
            let parts: Vec<Result<(Vec<u8>, Vec<u32>)>> = starts
                .into_par_iter()
                .map(|start| {
                    let (mut out, mut lengths) = (Vec::new(), Vec::new());
                    let mut cell = start;
                    while cell < (start + step).min(from + rows) {
                        let (first, next) = (cell.max(column.first), (cell + block).min(end));
                        let range = (first - from) as usize * self.width
                            ..(next - from) as usize * self.width;
                        lengths.push(encode_block(
                            codec,
                            order.plan(),
                            first,
                            &values[range],
                            &mut out,
                        )?);
                        cell += block;
                    }
                    Ok((out, lengths))
                })
                .collect();
            for part in parts {
                let (bytes, lengths) = part?;
                sink(&bytes, &lengths)?;
            }
        }
        Ok(())
    }
}

/// Learns the orders that columns wish for by a name without parameters.
pub(super) fn learn(
    records: &dyn Records,
    schema: &mut Schema,
    numbering: &dyn Numbering,
) -> Result<()> {
    let width = schema.width();
    let mut at = 0;
    for column in &mut schema.columns {
        let values = at..at + column.width();
        at = values.end;
        let wished = column
            .order
            .as_ref()
            .is_some_and(|order| order.params.iter().next().is_none());
        let Some(learner) = numbering.order_learner(column.first).filter(|_| wished) else {
            continue;
        };
        let range = learner.range();
        let step = 8192;
        let starts: Vec<u64> = range.clone().step_by(step as usize).collect();
        let learner = starts
            .into_par_iter()
            .try_fold(
                || learner.clone(),
                |mut learner, first| {
                    let mut read = vec![0; (range.end - first).min(step) as usize * width];
                    records.read(first, &mut read)?;
                    learner.see(first, read.chunks_exact(width).map(|r| &r[values.clone()]));
                    Ok::<_, Error>(learner)
                },
            )
            .try_reduce(
                || learner.clone(),
                |mut one, other| {
                    one.merge(&other);
                    Ok(one)
                },
            )?;
        let mut record = vec![0; width];
        let order = learner.learn(&mut |number, out| {
            records.read(number, &mut record)?;
            out.extend_from_slice(&record[values.clone()]);
            Ok(())
        })?;
        let order: &dyn crate::numbering::Order = &order;
        column.order = Some(OrderId {
            name: order.name().to_owned(),
            params: order.params(),
        });
    }
    Ok(())
}

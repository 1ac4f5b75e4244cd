//! The order in which a column's records are stored: that of their numbers, or one
//! that the numbering knows.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::codec::Plan;
use crate::format::Column;
use crate::numbering::{Numbering, Order};
use crate::{Error, Result};

/// The order of a column.
#[derive(Clone)]
pub(super) struct ColumnOrder {
    numbering: Arc<dyn Numbering>,
    order: Option<Arc<dyn Order>>,
}

impl ColumnOrder {
    /// Errors: [`Error::Corrupt`] unless the column's order is one of the numbering's
    /// and orders just the numbers that the column stores; as [`Numbering::order`].
    pub(super) fn open(column: &Column, numbering: &Arc<dyn Numbering>) -> Result<Self> {
        let order = match &column.order {
            None => None,
            Some(id) => Some(numbering.order(&id.name, &id.params)?),
        };
        let stored = column.first..column.first + column.count;
        if let Some(order) = order.as_ref().filter(|order| order.range() != stored) {
            return Err(Error::corrupt(
                "N-3",
                format!(
                    "column '{}' stores the numbers {} to before {}, its order `{}` is of {} to before {}",
                    column.name,
                    stored.start,
                    stored.end,
                    order.name(),
                    order.range().start,
                    order.range().end
                ),
            ));
        }
        Ok(Self {
            numbering: Arc::clone(numbering),
            order,
        })
    }

    /// Whether it is another order than that of the numbers.
    #[inline]
    pub(super) fn is_own(&self) -> bool {
        self.order.is_some()
    }

    /// The row in which the record of a number is stored.
    #[inline]
    pub(super) fn row_of(&self, number: u64) -> u64 {
        self.order
            .as_ref()
            .map_or(number, |order| order.row_of(number))
    }

    /// The number whose record is in a row.
    pub(super) fn number_of(&self, row: u64) -> u64 {
        self.order
            .as_ref()
            .map_or(row, |order| order.number_of(row))
    }

    /// What is known of which rows resemble each other.
    #[inline]
    pub(super) fn plan(&self) -> &dyn Plan {
        match &self.order {
            Some(order) => &**order,
            None => &*self.numbering,
        }
    }
}

/// Numbers whose records are gathered at a time, and their values, at most.
const GATHERED: u64 = 1 << 20;
const GATHERED_VALUES: u64 = 1 << 25;

/// The records of a range of numbers of a column that is stored in another order. Equal
/// records of neighbouring rows are held once.
pub(super) struct Gathered {
    numbers: Range<u64>,
    width: usize,
    /// For each number which of `records` it has.
    of: Vec<u32>,
    records: Vec<u32>,
}

/// Some of the rows that are gathered: which of them each number has, and they.
type Part = (Vec<(u32, u32)>, Vec<u32>);

impl Gathered {
    /// Numbers of which a range should consist, for records of `width` values.
    pub(super) fn step(width: usize) -> u64 {
        (GATHERED_VALUES / width.max(1) as u64).clamp(1, GATHERED)
    }

    /// Gathers the records of `numbers`, all of which the column stores. `decode` gets
    /// the first row of a block, how many rows the block has, and how many of them are
    /// wanted, and appends their values. `parts` tasks share the work.
    pub(super) fn collect(
        column: &Column,
        order: &ColumnOrder,
        numbers: Range<u64>,
        parts: usize,
        decode: impl Fn(u64, usize, usize, &mut Vec<u32>) -> Result<()> + Sync,
    ) -> Result<Self> {
        let width = column.width();
        let rows: Vec<(u64, u32)> = match parts {
            0 | 1 => {
                let mut rows: Vec<_> = placed(order, numbers.clone()).collect();
                rows.sort_unstable();
                rows
            }
            _ => {
                let step = Self::step(width) / 16 + 1;
                let starts: Vec<u64> = numbers.clone().step_by(step as usize).collect();
                let mut rows: Vec<(u64, u32)> = starts
                    .par_iter()
                    .flat_map_iter(|&start| {
                        let skipped = (start - numbers.start) as u32;
                        placed(order, start..(start + step).min(numbers.end))
                            .map(move |(row, at)| (row, at + skipped))
                    })
                    .collect();
                rows.par_sort_unstable();
                rows
            }
        };
        let block = |row: u64| column.place(row).map_or(0, |(block, _)| block);
        let part = |rows: &[(u64, u32)]| -> Result<Part> {
            let mut of = Vec::with_capacity(rows.len());
            let mut records: Vec<u32> = Vec::new();
            let mut values = Vec::new();
            for group in rows.chunk_by(|a, b| block(a.0) == block(b.0)) {
                let (first, count) = column.block_range(block(group[0].0));
                let last = group.last().map_or(0, |&(row, _)| (row - first) as usize);
                values.clear();
                decode(first, count, last + 1, &mut values)?;
                for &(row, at) in group {
                    let slot = (row - first) as usize;
                    let record = &values[slot * width..][..width];
                    if !records.ends_with(record) {
                        records.extend_from_slice(record);
                    }
                    of.push((at, (records.len() / width) as u32 - 1));
                }
            }
            Ok((of, records))
        };
        let parts: Vec<Part> = match parts {
            0 | 1 => vec![part(&rows)?],
            _ => {
                let size = rows.len().div_ceil(parts).max(1);
                // Blocks are not shared by parts.
                let mut slices = Vec::new();
                let mut rest = rows.as_slice();
                while !rest.is_empty() {
                    let mut end = size.min(rest.len());
                    while end < rest.len() && block(rest[end].0) == block(rest[end - 1].0) {
                        end += 1;
                    }
                    let (head, tail) = rest.split_at(end);
                    slices.push(head);
                    rest = tail;
                }
                slices.into_par_iter().map(part).collect::<Result<_>>()?
            }
        };
        let mut gathered = Self {
            of: vec![0; (numbers.end - numbers.start) as usize],
            numbers,
            width,
            records: Vec::new(),
        };
        for (of, records) in parts {
            let before = (gathered.records.len() / width.max(1)) as u32;
            for (at, record) in of {
                gathered.of[at as usize] = before + record;
            }
            gathered.records.extend(records);
        }
        Ok(gathered)
    }

    /// The record of a number, if it was gathered.
    #[inline]
    pub(super) fn record(&self, number: u64) -> Option<&[u32]> {
        let at = number.checked_sub(self.numbers.start)?;
        let record = *self.of.get(usize::try_from(at).ok()?)? as usize;
        self.records
            .get(record * self.width..(record + 1) * self.width)
    }

    /// The numbers whose records it has.
    pub(super) fn numbers(&self) -> &Range<u64> {
        &self.numbers
    }
}

/// Rows of consecutive numbers, each with its place among the numbers.
fn placed(order: &ColumnOrder, numbers: Range<u64>) -> impl Iterator<Item = (u64, u32)> {
    numbers
        .zip(0..)
        .map(|(number, at)| (order.row_of(number), at))
}

//! Ranges of numbers from a column in an order of its own: a sequential reader gets
//! them from a window of many records that were gathered at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Reader;
use super::column::ColumnReader;
use crate::Result;
use crate::table::order::Gathered;

/// Ranges below this many records do not open a window.
const LEAST_RECORDS: u64 = 256;

/// Records that a column's sequential readers share.
#[derive(Default)]
pub(super) struct Window {
    gathered: Mutex<Option<Arc<Gathered>>>,
    /// Where the last range ended.
    end: AtomicU64,
}

impl Reader {
    /// One column of the records from `first` on, `width` values apart in `out`.
    pub(super) fn read_own(
        &self,
        column: &ColumnReader,
        window: &Window,
        first: u64,
        at: usize,
        out: &mut [u32],
    ) -> Result<()> {
        let end = first + (out.len() / self.width) as u64;
        let stored = column.grid.first..column.grid.first + column.grid.count;
        let numbers = first.clamp(stored.start, stored.end)..end.clamp(stored.start, stored.end);
        let mut gathered: Option<Arc<Gathered>> = None;
        for (number, record) in (first..).zip(out.chunks_exact_mut(self.width)) {
            let part = &mut record[at..at + column.width];
            if !stored.contains(&number) {
                part.copy_from_slice(&column.column.elsewhere);
                continue;
            }
            let found = match gathered.as_ref().and_then(|g| g.record(number)) {
                Some(found) => found,
                None => {
                    let these = self.gathered(column, window, number, number..numbers.end)?;
                    gathered.insert(these).record(number).unwrap_or_default()
                }
            };
            part.copy_from_slice(found);
        }
        Ok(())
    }

    /// Records of `numbers` from its first one on: of all of them, or as many as the
    /// window has.
    fn gathered(
        &self,
        column: &ColumnReader,
        window: &Window,
        first: u64,
        numbers: std::ops::Range<u64>,
    ) -> Result<Arc<Gathered>> {
        let step = Gathered::step(column.width);
        let last = window.end.swap(numbers.end, Ordering::Relaxed);
        // Several readers of one range may come a little out of order. Others that
        // read here and there would only take each other's windows away.
        let near = last.abs_diff(first) <= step / 2 || first < column.grid.first + step / 2;
        if numbers.end - first < LEAST_RECORDS || !near {
            return Ok(Arc::new(self.gather(column, numbers)?));
        }
        // Nothing under this lock waits for other threads.
        let mut shared = window
            .gathered
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(gathered) = shared.as_ref().filter(|g| g.numbers().contains(&first)) {
            return Ok(Arc::clone(gathered));
        }
        let from = column.grid.first + (first - column.grid.first) / step * step;
        let to = (from + step).min(column.grid.first + column.grid.count);
        let made = Arc::new(self.gather(column, from..to)?);
        *shared = Some(Arc::clone(&made));
        Ok(made)
    }

    fn gather(&self, column: &ColumnReader, numbers: std::ops::Range<u64>) -> Result<Gathered> {
        Gathered::collect(
            &column.column,
            &column.order,
            numbers,
            1,
            |first, _, wanted, out| {
                out.resize(wanted * column.width, 0);
                match column.grid.place(first) {
                    Some(place) => self.decode_block(column, place, out),
                    None => Ok(()),
                }
            },
        )
    }
}

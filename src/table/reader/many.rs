//! Many records at once: batches, ranges, and the whole table in order.

use super::Reader;
use super::column::ColumnReader;
use super::direct::DIRECT_COLUMNS;
use crate::Result;
use crate::table::Records;

/// Records whose bytes are asked for before the first is decoded.
const BATCH_AHEAD: usize = 16;
/// Records that [`Chunks`] reads at a time, roughly, and their values at most.
const CHUNK_RECORDS: u64 = 4096;
const CHUNK_VALUES: u64 = 4 << 20;

impl Reader {
    /// Looks up many records, in any order: `out` takes them one after the
    /// other, in the order of `numbers`. What lies in memory is asked for some
    /// records ahead; otherwise blocks are visited in order, each once.
    /// Errors: as [`Reader::get`].
    pub fn get_batch(&self, numbers: &[u64], out: &mut [u32]) -> Result<()> {
        if out.len() != numbers.len() * self.width {
            return Err(self.width_error(out.len(), numbers.len() * self.width));
        }
        if let Some(bytes) = self.source.bytes()
            && self.direct
        {
            self.get_batch_direct(numbers, bytes, out)?;
            return Ok(());
        }
        for &number in numbers {
            self.check_number(number)?;
        }
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_unstable_by_key(|&i| numbers[i]);
        let mut at = 0;
        for column in &self.columns {
            if column.order.is_own() {
                let rows: Vec<u64> = numbers.iter().map(|&n| column.order.row_of(n)).collect();
                let mut order = order.clone();
                order.sort_unstable_by_key(|&i| rows[i]);
                self.get_batch_sorted(column, at, &rows, &order, out)?;
            } else {
                self.get_batch_sorted(column, at, numbers, &order, out)?;
            }
            at += column.width;
        }
        Ok(())
    }

    /// Many records from a source in memory: while one is decoded, the bytes of
    /// those behind it are on their way.
    fn get_batch_direct(&self, numbers: &[u64], bytes: &[u8], out: &mut [u32]) -> Result<()> {
        let mut places = [[None; DIRECT_COLUMNS]; BATCH_AHEAD];
        let mut ahead = numbers.iter();
        for (places, &number) in places.iter_mut().zip(&mut ahead) {
            self.check_number(number)?;
            self.announce(number, bytes, places);
        }
        let records = out.chunks_exact_mut(self.width);
        for (i, (&number, record)) in numbers.iter().zip(records).enumerate() {
            let places = &mut places[i % BATCH_AHEAD];
            if !self.decode(places, bytes, record) {
                self.get(number, record)?;
            }
            if let Some(&number) = ahead.next() {
                self.check_number(number)?;
                self.announce(number, bytes, places);
            }
        }
        Ok(())
    }

    /// One column of many records, `order` being that of their rows.
    fn get_batch_sorted(
        &self,
        column: &ColumnReader,
        at: usize,
        rows: &[u64],
        order: &[usize],
        out: &mut [u32],
    ) -> Result<()> {
        let place = |i: usize| column.grid.place(rows[i]);
        let same_block = |a: &usize, b: &usize| match (place(*a), place(*b)) {
            (Some(a), Some(b)) => a.block == b.block,
            (a, b) => a.is_none() == b.is_none(),
        };
        let mut block = Vec::new();
        for group in order.chunk_by(same_block) {
            // The last of a group is the furthest in its block.
            if let Some(furthest) = group.last().and_then(|&i| place(i)) {
                block.resize((furthest.slot + 1) * column.width, 0);
                self.decode_block(column, furthest, &mut block)?;
            }
            for &i in group {
                let record = &mut out[i * self.width + at..][..column.width];
                match place(i) {
                    Some(place) => {
                        let found = &block[place.slot * column.width..][..column.width];
                        record.copy_from_slice(found);
                    }
                    None => record.copy_from_slice(&column.column.elsewhere),
                }
            }
        }
        Ok(())
    }

    /// All records in number order, some thousand at a time.
    pub fn chunks(&self) -> Chunks<'_> {
        let unit = self.columns.iter().map(|c| c.grid.size).max().unwrap_or(1);
        Chunks {
            reader: self,
            next: 0,
            step: (unit * CHUNK_RECORDS.div_ceil(unit))
                .min(CHUNK_VALUES / self.width.max(1) as u64),
        }
    }

    /// One column of the records from `first` on, `width` values apart in `out`.
    fn read_column(
        &self,
        column: &ColumnReader,
        first: u64,
        at: usize,
        out: &mut [u32],
    ) -> Result<()> {
        let end = first + (out.len() / self.width) as u64;
        let alone = self.columns.len() == 1;
        let mut block = Vec::new();
        let mut number = first;
        while number < end {
            let skip = (number - first) as usize * self.width;
            let Some(place) = column.grid.place(number) else {
                let until = if number < column.grid.first {
                    column.grid.first.min(end)
                } else {
                    end
                };
                for record in out[skip..]
                    .chunks_exact_mut(self.width)
                    .take((until - number) as usize)
                {
                    record[at..at + column.width].copy_from_slice(&column.column.elsewhere);
                }
                number = until;
                continue;
            };
            let take = (place.count - place.slot).min((end - number) as usize);
            if alone && place.slot == 0 {
                self.decode_block(column, place, &mut out[skip..][..take * self.width])?;
            } else {
                block.resize((place.slot + take) * column.width, 0);
                self.decode_block(column, place, &mut block)?;
                let records = block.chunks_exact(column.width).skip(place.slot);
                for (to, from) in out[skip..].chunks_exact_mut(self.width).zip(records) {
                    to[at..at + column.width].copy_from_slice(from);
                }
            }
            number += take as u64;
        }
        Ok(())
    }
}

impl Records for Reader {
    fn len(&self) -> u64 {
        self.schema.positions
    }

    fn width(&self) -> usize {
        self.width
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        if !out.len().is_multiple_of(self.width) {
            return Err(self.width_error(out.len(), out.len().next_multiple_of(self.width)));
        }
        let count = (out.len() / self.width) as u64;
        if count == 0 {
            return Ok(());
        }
        self.check_number(first)?;
        self.check_number(first.saturating_add(count - 1))?;
        let mut at = 0;
        for (column, window) in self.columns.iter().zip(&self.windows) {
            if column.order.is_own() {
                self.read_own(column, window, first, at, out)?;
            } else {
                self.read_column(column, first, at, out)?;
            }
            at += column.width;
        }
        Ok(())
    }
}

/// Consecutive records of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Number of the first record.
    pub first: u64,
    /// Raw values of the records, one after the other.
    pub values: Vec<u32>,
}

/// Iterator over a whole table; see [`Reader::chunks`].
#[derive(Debug)]
pub struct Chunks<'a> {
    reader: &'a Reader,
    next: u64,
    step: u64,
}

impl Iterator for Chunks<'_> {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        let count = self.step.min(self.reader.len() - self.next);
        if count == 0 {
            return None;
        }
        let first = self.next;
        self.next += count;
        let mut values = vec![0; count as usize * self.reader.width];
        let read = self.reader.read(first, &mut values);
        Some(read.map(|()| Chunk { first, values }))
    }
}

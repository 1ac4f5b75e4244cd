//! Look-ups by way of whole blocks: from the cache, or past it.

use super::column::{ColumnReader, Place};
use super::direct::DIRECT_COLUMNS;
use super::{Reader, name_file};
use crate::Result;
use crate::codec::Access;
use crate::table::cache::Key;

/// Zero bytes behind a block in the cache, so that its last records are read as
/// quickly as the others.
const KEPT_PADDING: usize = 48;

impl Reader {
    /// Records of `columns`, one after the other in `out`, by way of their blocks.
    #[inline(never)]
    pub(super) fn get_from_blocks(
        &self,
        columns: &[ColumnReader],
        number: u64,
        out: &mut [u32],
    ) -> Result<()> {
        let found = match self.cache.is_off() {
            true => self.get_uncached(columns, number, out),
            false => self.get_cached(columns, number, out),
        };
        found.map_err(|e| name_file(e, &*self.source))
    }

    /// As [`Reader::get_from_blocks`], past the cache.
    fn get_uncached(&self, columns: &[ColumnReader], number: u64, out: &mut [u32]) -> Result<()> {
        // Blocks that will be decoded come from memory side by side.
        let mut places = [None; DIRECT_COLUMNS];
        for (column, place) in columns.iter().zip(&mut places) {
            *place = column.place(number);
            if let (Some(place), Some(bytes)) = (*place, self.source.bytes()) {
                column.prefetch_block(place.block, bytes);
            }
        }
        let mut rest = out;
        for (i, column) in columns.iter().enumerate() {
            let (out, tail) = rest.split_at_mut(column.width);
            rest = tail;
            let place = places.get(i).copied();
            match place.unwrap_or_else(|| column.place(number)) {
                Some(place) => self.uncached(column, place, out)?,
                None => out.copy_from_slice(&column.column.elsewhere),
            }
        }
        Ok(())
    }

    /// One record past the cache: no more is decoded than needed.
    fn uncached(&self, column: &ColumnReader, place: Place, out: &mut [u32]) -> Result<()> {
        self.with_payload(column, place, |payload| {
            let plan = column.order.plan();
            column
                .codec
                .decode_slot(place.first, place.count, place.slot, payload, plan, out)
        })
    }

    /// As [`Reader::get_from_blocks`], from the cache, into which blocks are brought
    /// if needed. Neighbouring blocks are found under one lock.
    fn get_cached(&self, columns: &[ColumnReader], number: u64, out: &mut [u32]) -> Result<()> {
        let mut locked = None;
        let mut rest = out;
        for column in columns {
            let (out, tail) = rest.split_at_mut(column.width);
            rest = tail;
            let Some(place) = column.place(number) else {
                out.copy_from_slice(&column.column.elsewhere);
                continue;
            };
            if column.in_memory {
                self.uncached(column, place, out)?;
                continue;
            }
            let key = column.key(place);
            let shard = self.cache.shard_of(self.cache_id, place.first);
            let mut guard = match locked.take() {
                Some((held, guard)) if held == shard => guard,
                other => {
                    drop(other);
                    self.cache.lock(shard)
                }
            };
            match guard.get(key, |kept| read_kept(column, place, kept, out)) {
                Some(done) => done?,
                None => {
                    let admitted = guard.admits(key);
                    // Others need not wait for the reading of a block.
                    drop(guard);
                    if !admitted {
                        // Decoding one record is less work than a block, and
                        // packing it.
                        self.uncached(column, place, out)?;
                        continue;
                    }
                    let kept = self.load(column, place, out)?;
                    guard = self.cache.lock(shard);
                    guard.insert(key, kept);
                }
            }
            locked = Some((shard, guard));
        }
        Ok(())
    }

    /// Two records whose blocks are all in the cache; `false` when they are not.
    /// Both locks are held at once, so that nothing waits for the other record.
    pub(super) fn get_two_cached(&self, numbers: [u64; 2], out: [&mut [u32]; 2]) -> bool {
        // Rows in an order of their own have other neighbours.
        if self.cache.is_off()
            || numbers.iter().any(|&n| n >= self.schema.positions)
            || self.columns.iter().any(|column| column.order.is_own())
        {
            return false;
        }
        let shards = numbers.map(|number| self.cache.shard_of(self.cache_id, number));
        let mut guards = self.cache.lock_two(shards);
        for ((number, shard), out) in numbers.into_iter().zip(shards).zip(out) {
            let mut rest = out;
            for column in &self.columns {
                let (out, tail) = rest.split_at_mut(column.width);
                rest = tail;
                let Some(place) = column.place(number) else {
                    out.copy_from_slice(&column.column.elsewhere);
                    continue;
                };
                if self.cache.shard_of(self.cache_id, place.first) != shard {
                    return false;
                }
                let read = |kept: &[u8]| read_kept(column, place, kept, out);
                let hit = guards.of(shard).get(column.key(place), read);
                if hit.is_none_or(|done| done.is_err()) {
                    return false;
                }
            }
        }
        true
    }

    /// Reads a block, answers from it, and gives what the cache is to keep.
    #[cold]
    fn load(&self, column: &ColumnReader, place: Place, out: &mut [u32]) -> Result<Box<[u8]>> {
        let Place {
            first, count, slot, ..
        } = place;
        let plan = column.order.plan();
        let mut kept = self.with_payload(column, place, |payload| match column.access {
            Access::Slot => {
                column.codec.check(count, payload)?;
                column
                    .codec
                    .decode_slot(first, count, slot, payload, plan, out)?;
                Ok(payload.to_vec())
            }
            Access::Block => {
                let mut values = vec![0; count * column.width];
                column
                    .codec
                    .decode(first, count, payload, plan, &mut values)?;
                out.copy_from_slice(&values[slot * column.width..][..column.width]);
                let mut bytes = Vec::new();
                column.kept.encode(first, &values, plan, &mut bytes)?;
                Ok(bytes)
            }
        })?;
        kept.resize(kept.len() + KEPT_PADDING, 0);
        Ok(kept.into())
    }
}

impl ColumnReader {
    #[inline]
    fn key(&self, place: Place) -> Key {
        Key {
            column: self.cache_id,
            block: place.block,
        }
    }
}

/// One record of a block in the cache, which was checked when it came.
#[inline]
fn read_kept(column: &ColumnReader, place: Place, kept: &[u8], out: &mut [u32]) -> Result<()> {
    if column
        .read_kept
        .is_some_and(|read| read(kept, place.slot, out))
    {
        return Ok(());
    }
    let block = &kept[..kept.len() - KEPT_PADDING];
    let plan = column.order.plan();
    column
        .kept
        .decode_slot(place.first, place.count, place.slot, block, plan, out)
}

//! One table in C: open, look up, close.

use std::ffi::{c_char, c_int};

use super::{EndtableStatus, Failure, Handle, call, input, output, path, put};
use crate::Error;
use crate::numbering::{Multiset, Numbering, Pair};
use crate::table::{OpenOptions, Reader};

/// An open table, for any number of threads.
pub struct EndtableTable(#[allow(dead_code)] Handle<Open>);

struct Open {
    reader: Reader,
    sides: Option<Sides>,
}

/// How chequers become a number.
enum Sides {
    One(Multiset),
    Two(Pair),
}

/// What a table says of itself.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct EndtableInfo {
    /// Positions in the table.
    pub positions: u64,
    /// Length of the file in bytes.
    pub file_bytes: u64,
    /// Values in a record.
    pub width: usize,
    /// 1 for one-sided bearoffs, 2 for two-sided ones, 0 for other tables.
    pub sides: u32,
    /// Points of a side of a bearoff.
    pub points: u32,
    /// Chequers of a side of a bearoff, at most.
    pub chequers: u32,
}

/// How a table's block cache has done so far.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct EndtableCacheStatistics {
    /// Look-ups answered from the cache.
    pub hits: u64,
    /// Look-ups for which a block was read.
    pub misses: u64,
    /// Blocks held now.
    pub blocks: u64,
    /// Bytes held now, bookkeeping included.
    pub bytes: u64,
}

/// # Safety
/// As [`Handle::get`].
#[inline]
unsafe fn open<'a>(table: *const EndtableTable) -> Result<&'a Open, Failure> {
    // SAFETY: an `EndtableTable` is a handle, and the caller's promise.
    unsafe { Handle::get(table.cast()) }
}

/// Opens a table. `cache_bytes` is the budget of its block cache, 0 for none.
/// With `mapped` other than 0 the file is mapped into memory, which is the
/// fastest and for which nobody may change the file until it is closed.
/// `*table` is set to null on failure.
///
/// # Safety
/// `name` ends with a zero; `table` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_table_open(
    name: *const c_char,
    cache_bytes: usize,
    mapped: c_int,
    table: *mut *mut EndtableTable,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        unsafe {
            put(table, std::ptr::null_mut(), "the place for the table")?;
            let path = path(name)?;
            let options = OpenOptions::new().cache_bytes(cache_bytes);
            let reader = match mapped {
                0 => options.open(path)?,
                _ => options.map(path)?,
            };
            let id = &reader.schema().numbering;
            let sides = match id.name.as_str() {
                Multiset::NAME => Some(Sides::One(Multiset::from_params(&id.params)?)),
                Pair::NAME => Some(Sides::Two(Pair::from_params(&id.params)?)),
                _ => None,
            };
            let handle = Handle::open(Open { reader, sides });
            put(table, handle.cast(), "the place for the table")
        }
    })
}

/// Closes a table. No call with it may be running in another thread; later
/// ones get `ENDTABLE_STATUS_CLOSED`.
///
/// # Safety
/// `table` is null or came from `endtable_table_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_table_close(table: *mut EndtableTable) -> EndtableStatus {
    // SAFETY: the caller's promise.
    call(|| unsafe { Handle::<Open>::close(table.cast()) })
}

/// Tells what a table says of itself.
///
/// # Safety
/// `table` is null or came from `endtable_table_open`; `info` points to room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_table_info(
    table: *const EndtableTable,
    info: *mut EndtableInfo,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promise.
        let open = unsafe { open(table)? };
        let (sides, side) = match &open.sides {
            None => (0, None),
            Some(Sides::One(side)) => (1, Some(side)),
            Some(Sides::Two(pair)) => (2, Some(pair.side())),
        };
        let found = EndtableInfo {
            positions: open.reader.len(),
            file_bytes: open.reader.file_bytes(),
            width: open.reader.width(),
            sides,
            points: side.map_or(0, |side| side.points() as u32),
            chequers: side.map_or(0, |side| u32::from(side.chequers())),
        };
        // SAFETY: the caller's promise.
        unsafe { put(info, found, "the place for the information") }
    })
}

/// Looks up the record of a number: `values` takes as many raw values as the
/// table's width, of `capacity` for which it has room.
///
/// # Safety
/// `table` is null or came from `endtable_table_open`; `values` has room for
/// `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_get(
    table: *const EndtableTable,
    number: u64,
    values: *mut u32,
    capacity: usize,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        unsafe {
            let reader = &open(table)?.reader;
            let values = output(values, capacity, reader.width(), "the buffer for values")?;
            Ok(reader.get(number, values)?)
        }
    })
}

/// The number of a position of a bearoff table: `on_roll[i]` chequers on point
/// `i + 1` for `points` points, which may be more or less than the table has
/// if the others are empty; `opponent` likewise for a two-sided table and null
/// for a one-sided one.
///
/// # Safety
/// `table` is null or came from `endtable_table_open`; `on_roll` and
/// `opponent` have `points` counts unless null; `number` points to room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_number(
    table: *const EndtableTable,
    on_roll: *const u8,
    opponent: *const u8,
    points: usize,
    number: *mut u64,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        unsafe {
            let found = rank(open(table)?, on_roll, opponent, points)?;
            put(number, found, "the place for the number")
        }
    })
}

/// Looks up the record of a position, as `endtable_number` and then
/// `endtable_get`.
///
/// # Safety
/// As `endtable_number` and `endtable_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_get_chequers(
    table: *const EndtableTable,
    on_roll: *const u8,
    opponent: *const u8,
    points: usize,
    values: *mut u32,
    capacity: usize,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        unsafe {
            let open = open(table)?;
            let number = rank(open, on_roll, opponent, points)?;
            let width = open.reader.width();
            let values = output(values, capacity, width, "the buffer for values")?;
            Ok(open.reader.get(number, values)?)
        }
    })
}

/// Looks up many records at once, in any order: `values` takes `count` records
/// one after the other, of `capacity` values for which it has room.
///
/// # Safety
/// `table` is null or came from `endtable_table_open`; `numbers` has `count`
/// numbers, `values` room for `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_get_batch(
    table: *const EndtableTable,
    numbers: *const u64,
    count: usize,
    values: *mut u32,
    capacity: usize,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        unsafe {
            let reader = &open(table)?.reader;
            let numbers = input(numbers, count, "the numbers")?;
            let needed = count.saturating_mul(reader.width());
            let values = output(values, capacity, needed, "the buffer for values")?;
            Ok(reader.get_batch(numbers, values)?)
        }
    })
}

/// Tells how the table's block cache has done so far.
///
/// # Safety
/// `table` is null or came from `endtable_table_open`; `statistics` points to room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_cache_statistics(
    table: *const EndtableTable,
    statistics: *mut EndtableCacheStatistics,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        unsafe {
            let seen = open(table)?.reader.cache_statistics();
            let seen = EndtableCacheStatistics {
                hits: seen.hits,
                misses: seen.misses,
                blocks: seen.blocks,
                bytes: seen.bytes,
            };
            put(statistics, seen, "the place for the statistics")
        }
    })
}

/// Points of the largest numbering, and so of the buffer for a side.
const MOST_POINTS: usize = crate::numbering::MAX_POINTS;

/// # Safety
/// As `endtable_number`.
unsafe fn rank(
    open: &Open,
    on_roll: *const u8,
    opponent: *const u8,
    points: usize,
) -> Result<u64, Failure> {
    let side = |counts: *const u8, numbering: &Multiset, what: &str| {
        if points > MOST_POINTS {
            let message = format!("{points} points given, a side has at most {MOST_POINTS}");
            return Err(Failure::from(Error::invalid(message)));
        }
        // SAFETY: the caller's promise.
        let given = unsafe { input(counts, points, what)? };
        let mut all = [0; MOST_POINTS];
        all[..points].copy_from_slice(given);
        let (inside, outside) = all.split_at(numbering.points());
        if outside.iter().any(|&count| count > 0) {
            let message = format!("a chequer lies outside the table's {} points", inside.len());
            return Err(Failure::new(EndtableStatus::NotCovered, message));
        }
        Ok(numbering.rank(inside)?)
    };
    match &open.sides {
        Some(Sides::One(_)) if !opponent.is_null() => Err(Failure::from(Error::invalid(
            "the table is one-sided: the opponent's chequers are to be a null pointer",
        ))),
        Some(Sides::One(numbering)) => side(on_roll, numbering, "the chequers"),
        Some(Sides::Two(pair)) => {
            let us = side(on_roll, pair.side(), "the chequers of the side on roll")?;
            let them = side(opponent, pair.side(), "the chequers of the opponent")?;
            Ok(us * pair.side().len() + them)
        }
        None => Err(Failure::from(Error::invalid(
            "the table is not numbered by chequers; use endtable_get",
        ))),
    }
}

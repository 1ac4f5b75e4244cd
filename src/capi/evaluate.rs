//! Evaluations in C.

use std::ffi::c_char;

use super::{EndtableStatus, Failure, Handle, call, input, output, path, put};
use crate::bearoff::board::{BAR, Board, Points};
use crate::bearoff::database::is_known;
use crate::bearoff::evaluate::{CubeAction, RatedPlays};
use crate::bearoff::position::{self, CubeOwner};
use crate::bearoff::{Evaluation, Tables};
use crate::table::library;
use crate::{Error, Result};

/// Bearoff tables that are open together, for any number of threads.
pub struct EndtableTables(#[allow(dead_code)] Handle<Tables>);

/// Boards of a batch that are evaluated at a time, on the stack.
const CHUNK: usize = 32;

/// Counts of a side: its points 1 to 24 and its bar.
pub const ENDTABLE_POINTS: usize = BAR + 1;

/// What to do with the cube when the side on roll may turn it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum EndtableCubeAction {
    /// No open table tells.
    Unknown = 0,
    /// Roll on.
    NoDouble = 1,
    /// Double, and the opponent takes.
    DoubleTake = 2,
    /// Double, and the opponent gives up.
    DoublePass = 3,
}

/// Who may double.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum EndtableCube {
    /// Nobody: equities without a cube, as at a match score.
    None = 0,
    /// Both sides.
    Centred = 1,
    /// The side on roll.
    OnRoll = 2,
    /// Its opponent.
    Opponent = 3,
}

// C passes any number where an enumeration is expected.
const NOBODY: i32 = EndtableCube::None as i32;
const BOTH: i32 = EndtableCube::Centred as i32;
const OURS: i32 = EndtableCube::OnRoll as i32;
const THEIRS: i32 = EndtableCube::Opponent as i32;

/// What is known of a position, as the side on roll sees it. Chances are from
/// 0 to 1, equities in points for money at a cube of 1; what the open tables
/// do not tell is NaN. Arrays are the side on roll and its opponent.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct EndtableEvaluation {
    /// Whether this position was evaluated (`ENDTABLE_STATUS_OK`), or why not.
    pub status: EndtableStatus,
    /// 1 when the chances come from a two-sided table.
    pub exact: i32,
    /// Chance of winning, gammons included.
    pub win: f64,
    /// Chance of winning a gammon.
    pub win_gammon: f64,
    /// Chance of losing a gammon.
    pub lose_gammon: f64,
    /// Equity when nobody can double.
    pub equity_cubeless: f64,
    /// Equity, not doubling now, when the side on roll owns the cube.
    pub equity_owned: f64,
    /// Equity, not doubling now, with the cube in the middle.
    pub equity_centred: f64,
    /// Equity when the opponent owns the cube.
    pub equity_opponent: f64,
    /// What to do when the cube is in the middle.
    pub action_centred: EndtableCubeAction,
    /// What to do when the side on roll owns it.
    pub action_owned: EndtableCubeAction,
    /// Mean number of rolls to bear off.
    pub mean_rolls: [f64; 2],
    /// Its standard deviation.
    pub deviation_rolls: [f64; 2],
    /// Effective pip count.
    pub epc: [f64; 2],
    /// Effective less plain pip count.
    pub wastage: [f64; 2],
}

/// A legal play and what it is worth to the side that makes it; NaN where the
/// open tables do not tell.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct EndtablePlay {
    /// Chequers moved, 0 to 4.
    pub moves: u32,
    /// Where each starts: 1 to 24, 25 for the bar.
    pub from: [u8; 4],
    /// Where each ends: 1 to 24, 0 for off.
    pub to: [u8; 4],
    /// What plays are sorted by; with the cube if the tables tell.
    pub equity: f64,
    /// Equity when nobody can double.
    pub equity_cubeless: f64,
    /// Chance of winning, gammons included.
    pub win: f64,
    /// Chance of winning a gammon.
    pub win_gammon: f64,
    /// Chance of losing a gammon.
    pub lose_gammon: f64,
}

/// Opens tables for evaluation, each a table or a gnubg database whatever its
/// name. With a `count` of 0 it opens what lies in `ENDTABLE_PATH` and the
/// user's data folder, passing over what is no bearoff or cannot be read.
/// `*tables` is set to null on failure.
///
/// # Safety
/// `names` has `count` names that end with a zero; `tables` points to room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_tables_open(
    names: *const *const c_char,
    count: usize,
    tables: *mut *mut EndtableTables,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        unsafe {
            put(tables, std::ptr::null_mut(), "the place for the tables")?;
            let mut opened = Tables::new();
            for &name in input(names, count, "the names")? {
                opened.open(path(name)?)?;
            }
            if count == 0 {
                for found in library::find(&library::search_path(), is_known) {
                    // Other games' tables and broken files are not asked for.
                    let _ = opened.open(&found);
                }
            }
            put(
                tables,
                Handle::open(opened).cast(),
                "the place for the tables",
            )
        }
    })
}

/// How many tables are open together.
///
/// # Safety
/// `tables` is null or came from `endtable_tables_open`; `count` points to room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_tables_count(
    tables: *const EndtableTables,
    count: *mut usize,
) -> EndtableStatus {
    // SAFETY: the caller's promises.
    call(|| unsafe {
        put(
            count,
            open(tables)?.names().len(),
            "the place for the count",
        )
    })
}

/// Closes the tables. No call with them may be running in another thread;
/// later ones get `ENDTABLE_STATUS_CLOSED`.
///
/// # Safety
/// `tables` is null or came from `endtable_tables_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_tables_close(tables: *mut EndtableTables) -> EndtableStatus {
    // SAFETY: the caller's promise.
    call(|| unsafe { Handle::<Tables>::close(tables.cast()) })
}

/// Evaluates a position: `on_roll[i]` chequers of the side on roll on its
/// point `i + 1`, `on_roll[24]` on the bar; `opponent` likewise from its own
/// side.
///
/// # Safety
/// `tables` is null or came from `endtable_tables_open`; `on_roll` and
/// `opponent` have `ENDTABLE_POINTS` counts each; `evaluation` points to room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_evaluate(
    tables: *const EndtableTables,
    on_roll: *const u8,
    opponent: *const u8,
    evaluation: *mut EndtableEvaluation,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        unsafe {
            let tables = open(tables)?;
            let board = board(on_roll, opponent)?;
            let seen = tables.evaluate(&board)?;
            put(evaluation, (&seen).into(), "the place for the evaluation")
        }
    })
}

/// Evaluates `count` positions: for each `ENDTABLE_POINTS` counts of the side
/// on roll and as many of its opponent in `boards`. What cannot be evaluated
/// says so in its `status`; the call's own status is that of the first such.
///
/// # Safety
/// `tables` is null or came from `endtable_tables_open`; `boards` has
/// `2 * ENDTABLE_POINTS * count` counts, `evaluations` room for `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn endtable_evaluate_batch(
    tables: *const EndtableTables,
    boards: *const u8,
    count: usize,
    evaluations: *mut EndtableEvaluation,
    capacity: usize,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        let (tables, boards, out) = unsafe {
            let counts = count.saturating_mul(2 * ENDTABLE_POINTS);
            (
                open(tables)?,
                input(boards, counts, "the boards")?,
                output(evaluations, capacity, count, "the place for evaluations")?,
            )
        };
        let mut first = None;
        let mut note = |error: Error| {
            let failure = Failure::from(error);
            let status = failure.status;
            first.get_or_insert(failure);
            EndtableEvaluation::unknown(status)
        };
        let mut held = [Board::START; CHUNK];
        let mut seen = [const { Err(Error::Interrupted) }; CHUNK];
        let chunks = boards.chunks(CHUNK * 2 * ENDTABLE_POINTS);
        for (counts, out) in chunks.zip(out.chunks_mut(CHUNK)) {
            let mut faults = [const { None }; CHUNK];
            for (i, counts) in counts.chunks_exact(2 * ENDTABLE_POINTS).enumerate() {
                match sides(counts) {
                    Ok(board) => held[i] = board,
                    Err(error) => faults[i] = Some(error),
                }
            }
            tables.evaluate_batch(&held[..out.len()], &mut seen[..out.len()])?;
            for ((out, seen), fault) in out.iter_mut().zip(&mut seen).zip(faults) {
                let seen = std::mem::replace(seen, Err(Error::Interrupted));
                *out = match fault.map_or(seen, Err) {
                    Ok(evaluation) => (&evaluation).into(),
                    Err(error) => note(error),
                };
            }
        }
        first.map_or(Ok(()), Err)
    })
}

/// Lists the legal plays of two dice, the best first. `*count` is set to how
/// many there are; `plays` takes the best `capacity` of them and may be null
/// for none. `dice` are two numbers from 1 to 6; `cube` tells who may double,
/// for money, and is one of `EndtableCube`.
///
/// # Safety
/// `tables` is null or came from `endtable_tables_open`; `on_roll` and
/// `opponent` have `ENDTABLE_POINTS` counts each; `plays` has room for
/// `capacity`, `count` for a number.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // C has no named arguments.
pub unsafe extern "C" fn endtable_plays(
    tables: *const EndtableTables,
    on_roll: *const u8,
    opponent: *const u8,
    dice: *const u8,
    cube: i32,
    plays: *mut EndtablePlay,
    capacity: usize,
    count: *mut usize,
) -> EndtableStatus {
    call(|| {
        // SAFETY: the caller's promises.
        let (tables, board, thrown) = unsafe {
            (
                open(tables)?,
                board(on_roll, opponent)?,
                input(dice, 2, "the dice")?,
            )
        };
        let owner = match cube {
            NOBODY => None,
            BOTH => Some(CubeOwner::Centred),
            OURS => Some(CubeOwner::OnRoll),
            THEIRS => Some(CubeOwner::Opponent),
            _ => return Err(Error::invalid(format!("{cube} is no owner of a cube")).into()),
        };
        let mut rated = RatedPlays::new();
        tables.rate_plays(
            &board,
            position::dice(thrown[0], thrown[1])?,
            owner,
            &mut rated,
        )?;
        let list = rated.as_slice();
        let some = list.len().min(if plays.is_null() { 0 } else { capacity });
        // SAFETY: the caller's promises.
        let out = unsafe {
            put(count, list.len(), "the place for the count")?;
            output(plays, capacity, some, "the place for plays")?
        };
        for (out, rated) in out.iter_mut().zip(list) {
            let (mut from, mut to) = ([0; 4], [0; 4]);
            for (i, step) in rated.play.moves().iter().enumerate() {
                (from[i], to[i]) = (step.from, step.to);
            }
            *out = EndtablePlay {
                moves: rated.play.moves().len() as u32,
                from,
                to,
                equity: rated.equity,
                equity_cubeless: rated.equity_cubeless.unwrap_or(f64::NAN),
                win: rated.win,
                win_gammon: rated.win_gammon.unwrap_or(f64::NAN),
                lose_gammon: rated.lose_gammon.unwrap_or(f64::NAN),
            };
        }
        Ok(())
    })
}

/// # Safety
/// As [`Handle::get`].
#[inline]
unsafe fn open<'a>(tables: *const EndtableTables) -> Result<&'a Tables, Failure> {
    // SAFETY: an `EndtableTables` is a handle, and the caller's promise.
    unsafe { Handle::get(tables.cast()) }
}

/// # Safety
/// Both have `ENDTABLE_POINTS` counts unless null.
unsafe fn board(on_roll: *const u8, opponent: *const u8) -> Result<Board, Failure> {
    let side = |counts: *const u8, what: &str| {
        // SAFETY: the caller's promise.
        let counts = unsafe { input(counts, ENDTABLE_POINTS, what)? };
        let mut side: Points = [0; ENDTABLE_POINTS];
        side.copy_from_slice(counts);
        Ok::<_, Failure>(side)
    };
    let us = side(on_roll, "the chequers of the side on roll")?;
    let them = side(opponent, "the chequers of the opponent")?;
    Ok(Board::new(us, them)?)
}

fn sides(counts: &[u8]) -> Result<Board> {
    let (mut us, mut them): (Points, Points) = ([0; ENDTABLE_POINTS], [0; ENDTABLE_POINTS]);
    us.copy_from_slice(&counts[..ENDTABLE_POINTS]);
    them.copy_from_slice(&counts[ENDTABLE_POINTS..]);
    Board::new(us, them)
}

impl EndtableEvaluation {
    fn unknown(status: EndtableStatus) -> Self {
        let unknown = f64::NAN;
        EndtableEvaluation {
            status,
            exact: 0,
            win: unknown,
            win_gammon: unknown,
            lose_gammon: unknown,
            equity_cubeless: unknown,
            equity_owned: unknown,
            equity_centred: unknown,
            equity_opponent: unknown,
            action_centred: EndtableCubeAction::Unknown,
            action_owned: EndtableCubeAction::Unknown,
            mean_rolls: [unknown; 2],
            deviation_rolls: [unknown; 2],
            epc: [unknown; 2],
            wastage: [unknown; 2],
        }
    }
}

impl From<&Evaluation> for EndtableEvaluation {
    fn from(seen: &Evaluation) -> Self {
        let mut out = EndtableEvaluation {
            exact: i32::from(seen.two_sided.is_some()),
            win: seen.win,
            win_gammon: seen.win_gammon.unwrap_or(f64::NAN),
            lose_gammon: seen.lose_gammon.unwrap_or(f64::NAN),
            equity_cubeless: seen.equity_cubeless.unwrap_or(f64::NAN),
            ..Self::unknown(EndtableStatus::Ok)
        };
        if let Some(cubeful) = &seen.cubeful {
            (out.equity_owned, out.equity_centred) = (cubeful.owned, cubeful.centred);
            out.equity_opponent = cubeful.opponent;
            let action = |owner| match cubeful.action(owner) {
                Some(CubeAction::NoDouble) => EndtableCubeAction::NoDouble,
                Some(CubeAction::DoubleTake) => EndtableCubeAction::DoubleTake,
                Some(CubeAction::DoublePass) => EndtableCubeAction::DoublePass,
                None => EndtableCubeAction::Unknown,
            };
            out.action_centred = action(CubeOwner::Centred);
            out.action_owned = action(CubeOwner::OnRoll);
        }
        if let Some(rolls) = &seen.rolls {
            out.mean_rolls = rolls.each_ref().map(|r| r.mean);
            out.deviation_rolls = rolls.each_ref().map(|r| r.deviation);
            out.epc = rolls.each_ref().map(|r| r.epc);
            out.wastage = rolls.each_ref().map(|r| r.wastage);
        }
        out
    }
}

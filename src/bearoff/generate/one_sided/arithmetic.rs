//! How a position's row is computed from those of its best plays: gnubg's
//! rounded chances, exact ones, or gnubg's normal approximation.

use super::choice::Mean;
use crate::{Error, Result};

/// Different rolls, in the order 11, 21, 22, 31, … 66.
pub(crate) const ROLLS: usize = 21;

/// The place of a roll; `large` and `small` are dice less 1.
#[inline(always)]
pub(crate) const fn roll(large: usize, small: usize) -> usize {
    large * (large + 1) / 2 + small
}

/// Whether the roll in this place is a double.
pub(crate) const DOUBLE: [bool; ROLLS] = {
    let mut double = [false; ROLLS];
    let mut die = 0;
    while die < 6 {
        double[roll(die, die)] = true;
        die += 1;
    }
    double
};

/// A kind of row and its rules.
///
/// The mean orders plays: the play with the smallest is chosen, the first of
/// equal ones.
pub(crate) trait Arithmetic: Send + Sync + 'static {
    /// What is known of a position.
    type Row: Copy + Send + Sync;
    /// Expected rolls, in any unit.
    type Mean: Mean;
    /// More than every mean.
    const WORST: Self::Mean;
    /// Values of a finished record.
    const WIDTH: usize;
    /// Whether a row's bytes in a working file are about half a row's, and
    /// no more than that, because most chances are zero.
    const SPARSE: bool;

    /// Bytes that a row takes in a working file, about.
    fn typical_bytes() -> usize {
        size_of::<Self::Row>() / if Self::SPARSE { 2 } else { 1 }
    }

    /// The row of a position that needs no roll.
    fn off() -> Self::Row;

    /// The row of a position from those after the best play of each roll.
    fn average(rolls: &[&Self::Row; ROLLS]) -> Self::Row;

    /// Expected rolls.
    fn mean(row: &Self::Row) -> Self::Mean;

    /// Appends the row, to be read again by [`Self::take`].
    fn put(row: &Self::Row, out: &mut Vec<u8>);

    /// Splits a row off the front of `bytes`.
    fn take(bytes: &mut &[u8]) -> Result<Self::Row>;

    /// Drops a row from the front of `bytes`.
    fn skip(bytes: &mut &[u8]) -> Result<()> {
        Self::take(bytes).map(|_| ())
    }

    /// The finished record.
    fn values(row: &Self::Row, out: &mut [u32]);
}

/// gnubg's chances in 1/65535 on rolls `0..W`, rounded at each step.
pub(crate) struct Rounded<const W: usize>;

/// What the chances of a rounded row add up to.
const ONE: i32 = 65535;

impl<const W: usize> Arithmetic for Rounded<W> {
    type Row = [u16; W];
    /// Signed, because every SIMD instruction set compares signed numbers.
    type Mean = i32;
    const WORST: i32 = i32::MAX;
    const WIDTH: usize = W;
    const SPARSE: bool = true;

    fn off() -> [u16; W] {
        let mut row = [0; W];
        row[0] = ONE as u16;
        row
    }

    #[inline(always)]
    fn average(rolls: &[&[u16; W]; ROLLS]) -> [u16; W] {
        let mut sum = [0u32; W];
        for (row, double) in rolls.iter().zip(DOUBLE) {
            if !double {
                for (sum, &value) in sum.iter_mut().zip(*row) {
                    *sum += u32::from(value);
                }
            }
        }
        for sum in &mut sum {
            *sum *= 2;
        }
        for (row, double) in rolls.iter().zip(DOUBLE) {
            if double {
                for (sum, &value) in sum.iter_mut().zip(*row) {
                    *sum += u32::from(value);
                }
            }
        }
        let mut out = [0u16; W];
        for i in 1..W {
            out[i] = ((sum[i - 1] + 18) / 36) as u16;
        }
        let total: u32 = out.iter().map(|&v| u32::from(v)).sum();
        let largest = out.iter().copied().fold(0, u16::max);
        let mode = out.iter().position(|&v| v == largest).unwrap_or(0);
        out[mode] = out[mode].wrapping_add((ONE as u32).wrapping_sub(total) as u16);
        out
    }

    #[inline(always)]
    fn mean(row: &[u16; W]) -> i32 {
        row.iter()
            .enumerate()
            .map(|(i, &v)| i as i32 * i32::from(v))
            .sum()
    }

    #[inline(always)]
    fn put(row: &[u16; W], out: &mut Vec<u8>) {
        let first = row.iter().position(|&v| v != 0).unwrap_or(0);
        let last = row.iter().rposition(|&v| v != 0).unwrap_or(0);
        out.extend_from_slice(&[first as u8, (last + 1 - first) as u8]);
        for value in &row[first..=last] {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    #[inline]
    fn take(bytes: &mut &[u8]) -> Result<[u16; W]> {
        let (first, run) = split_run(bytes, 2)?;
        let mut row = [0; W];
        let places = row
            .get_mut(first..first + run.len() / 2)
            .ok_or_else(damaged)?;
        for (to, from) in places.iter_mut().zip(run.chunks_exact(2)) {
            *to = u16::from_le_bytes([from[0], from[1]]);
        }
        Ok(row)
    }

    fn skip(bytes: &mut &[u8]) -> Result<()> {
        split_run(bytes, 2).map(|_| ())
    }

    #[inline]
    fn values(row: &[u16; W], out: &mut [u32]) {
        for (to, &from) in out.iter_mut().zip(row) {
            *to = u32::from(from);
        }
    }
}

/// Splits a run of values of `size` bytes off: its first place and its bytes.
fn split_run<'a>(bytes: &mut &'a [u8], size: usize) -> Result<(usize, &'a [u8])> {
    let [first, count, rest @ ..] = *bytes else {
        return Err(damaged());
    };
    let (run, rest) = rest
        .split_at_checked(usize::from(*count) * size)
        .ok_or_else(damaged)?;
    *bytes = rest;
    Ok((usize::from(*first), run))
}

#[cold]
fn damaged() -> Error {
    Error::corrupt("working-row", "a row in the working file is cut short")
}

/// Chances on rolls `0..W` in `f64`, finished in 1/(2²⁴ − 1).
///
/// The last place also holds the chances of all later rolls.
pub(crate) struct Exact<const W: usize>;

/// What the chances of a finished exact record add up to.
const EXACT_ONE: f64 = ((1u32 << 24) - 1) as f64;

impl<const W: usize> Arithmetic for Exact<W> {
    type Row = [f64; W];
    type Mean = f64;
    const WORST: f64 = f64::INFINITY;
    const WIDTH: usize = W;
    const SPARSE: bool = false;

    fn off() -> [f64; W] {
        let mut row = [0.0; W];
        row[0] = 1.0;
        row
    }

    #[inline(always)]
    fn average(rolls: &[&[f64; W]; ROLLS]) -> [f64; W] {
        let mut sum = [0.0; W];
        for (row, double) in rolls.iter().zip(DOUBLE) {
            let weight = if double { 1.0 } else { 2.0 };
            for (sum, &value) in sum.iter_mut().zip(*row) {
                *sum += weight * value;
            }
        }
        let mut out = [0.0; W];
        for i in 1..W {
            out[i] = sum[i - 1] / 36.0;
        }
        out[W - 1] += sum[W - 1] / 36.0;
        out
    }

    #[inline(always)]
    fn mean(row: &[f64; W]) -> f64 {
        row.iter().enumerate().map(|(i, &v)| i as f64 * v).sum()
    }

    fn put(row: &[f64; W], out: &mut Vec<u8>) {
        let first = row.iter().position(|&v| v != 0.0).unwrap_or(0);
        let last = row.iter().rposition(|&v| v != 0.0).unwrap_or(0);
        out.extend_from_slice(&[first as u8, (last + 1 - first) as u8]);
        for value in &row[first..=last] {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<[f64; W]> {
        let (first, run) = split_run(bytes, 8)?;
        let mut row = [0.0; W];
        let places = row
            .get_mut(first..first + run.len() / 8)
            .ok_or_else(damaged)?;
        for (to, from) in places.iter_mut().zip(run.chunks_exact(8)) {
            let mut eight = [0; 8];
            eight.copy_from_slice(from);
            *to = f64::from_le_bytes(eight);
        }
        Ok(row)
    }

    fn skip(bytes: &mut &[u8]) -> Result<()> {
        split_run(bytes, 8).map(|_| ())
    }

    /// Rounds the sums up to each roll instead of the chances, so that the
    /// record adds up exactly and its mean stays true.
    fn values(row: &[f64; W], out: &mut [u32]) {
        let mut sum = 0.0;
        let mut before = 0;
        let last = row.len() - 1;
        for (i, (to, &from)) in out.iter_mut().zip(row).enumerate() {
            sum += from;
            let exact = if i == last {
                EXACT_ONE
            } else {
                (sum * EXACT_ONE).round()
            };
            let now = exact.min(EXACT_ONE) as u32;
            *to = now - before;
            before = now;
        }
    }
}

/// Mean and standard deviation in `f32`, as `makebearoff -n` has them.
pub(crate) struct Normal;

impl Arithmetic for Normal {
    type Row = [f32; 2];
    type Mean = f32;
    const WORST: f32 = f32::INFINITY;
    const WIDTH: usize = 2;
    const SPARSE: bool = false;

    fn off() -> [f32; 2] {
        [0.0; 2]
    }

    #[inline(always)]
    fn average(rolls: &[&[f32; 2]; ROLLS]) -> [f32; 2] {
        let (mut sum, mut squares) = (0.0f32, 0.0f32);
        for (&&[mean, deviation], double) in rolls.iter().zip(DOUBLE) {
            let weight = if double { 1.0 } else { 2.0 };
            let mean = 1.0 + mean;
            sum += weight * mean;
            squares += weight * (deviation * deviation + mean * mean);
        }
        // Times the reciprocal instead of divided: the roundings are those
        // of the program that Debian ships.
        let mean = sum * (1.0 / 36.0);
        [mean, (squares * (1.0 / 36.0) - mean * mean).sqrt()]
    }

    #[inline(always)]
    fn mean(row: &[f32; 2]) -> f32 {
        row[0]
    }

    fn put(row: &[f32; 2], out: &mut Vec<u8>) {
        for value in row {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<[f32; 2]> {
        let (row, rest) = bytes.split_at_checked(8).ok_or_else(damaged)?;
        *bytes = rest;
        Ok([
            f32::from_le_bytes([row[0], row[1], row[2], row[3]]),
            f32::from_le_bytes([row[4], row[5], row[6], row[7]]),
        ])
    }

    fn values(row: &[f32; 2], out: &mut [u32]) {
        for (to, from) in out.iter_mut().zip(row) {
            *to = from.to_bits();
        }
    }
}

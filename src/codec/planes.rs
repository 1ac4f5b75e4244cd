//! The byte form of a block that general compressors like: each value minus
//! the same value of the record before, byte planes apart.

use super::{Shape, length_error};
use crate::{Error, Result};

/// Bytes of a block of `count` records in this form.
pub(super) fn len(shape: &Shape, count: usize) -> usize {
    shape.record_bytes() * count
}

/// Writes `values` as planes: for each value of a record, for each of its
/// bytes from the lowest, one byte a record.
pub(super) fn from_values(shape: &Shape, values: &[u32]) -> Vec<u8> {
    let width = shape.width();
    let mut out = Vec::with_capacity(len(shape, values.len() / width.max(1)));
    for (i, &bits) in shape.bits.iter().enumerate() {
        for byte in 0..u32::from(bits.div_ceil(8)) {
            let mut before = 0u32;
            for &value in values.iter().skip(i).step_by(width) {
                let difference = value.wrapping_sub(before) & Shape::largest(bits);
                out.push((difference >> (8 * byte)) as u8);
                before = value;
            }
        }
    }
    out
}

/// The values of the first `out.len() / width` of `count` records.
pub(super) fn to_values(shape: &Shape, count: usize, planes: &[u8], out: &mut [u32]) -> Result<()> {
    let width = shape.width();
    if planes.len() != len(shape, count) {
        return Err(length_error("B-3", len(shape, count), planes.len()));
    }
    out.fill(0);
    let mut rows = planes.chunks_exact(count.max(1));
    for (i, &bits) in shape.bits.iter().enumerate() {
        for byte in 0..u32::from(bits.div_ceil(8)) {
            let row = rows.next().unwrap_or_default();
            for (record, &b) in out.chunks_exact_mut(width).zip(row) {
                if let Some(value) = record.get_mut(i) {
                    *value |= u32::from(b) << (8 * byte);
                }
            }
        }
        let largest = Shape::largest(bits);
        let mut before = 0u32;
        for value in out.iter_mut().skip(i).step_by(width) {
            if *value > largest {
                return Err(Error::corrupt(
                    "B-4",
                    format!("a difference of {value} has more than {bits} bits"),
                ));
            }
            *value = before.wrapping_add(*value) & largest;
            before = *value;
        }
    }
    Ok(())
}

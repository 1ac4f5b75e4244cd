//! Constants and small functions that encoder, decoder and trainer of `small`
//! share; each has its section in `spec/small.md`.

/// Values that are predicted together.
pub(super) const LANES: usize = 16;
/// Zeros kept before and after a record's values, so that neighbours exist.
pub(super) const LEFT: usize = 8;
/// See [`LEFT`].
const RIGHT: usize = 24;
/// Fractional bits of a prediction before feedback.
pub(super) const FRACTION: u32 = 4;
/// Fractional bits of weights.
pub(super) const WEIGHT_BITS: u32 = 12;
/// Features from which the scale of a residual is estimated.
pub(super) const SCALES: usize = 10;
/// Values of a context's static part.
pub(super) const STATIC_CLASSES: usize = 128;
/// Values of a context's dynamic part.
pub(super) const DYNAMIC_CLASSES: usize = 16;
/// Symbols of a residual.
pub(super) const SYMBOLS: usize = 32;
/// The most references of a set, the previous record included.
pub(super) const MAX_REFERENCES: usize = 16;
/// References, the base included, whose neighbouring values are features too.
pub(super) const NEAR: usize = 2;
/// The most features of a prediction.
pub(super) const MAX_FEATURES: usize = 6 + 3 * (MAX_REFERENCES - 1) + 1;
/// Modes of a record.
pub(super) const MODES: usize = 4;
/// The bit of a mask that stands for the previous record.
pub(super) const PREVIOUS: usize = 15;

/// How a record is coded, where its block tells that.
pub(super) mod mode {
    /// As predicted values.
    pub(crate) const PREDICTED: u8 = 0;
    /// Equal to its first reference.
    pub(crate) const FIRST: u8 = 1;
    /// Equal to its second reference.
    pub(crate) const SECOND: u8 = 2;
    /// As predicted values, from the first value on.
    pub(crate) const WHOLE: u8 = 3;
}

/// Elements from one record to the next in a buffer of rows.
pub(super) fn stride(width: usize) -> usize {
    LEFT + width.next_multiple_of(LANES) + RIGHT
}

/// First magnitude of each bin, and the bits within it; the last bin takes all
/// the bits that a value has.
pub(super) const BINS: [(u32, u32); 16] = [
    (0, 0),
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 1),
    (10, 1),
    (12, 2),
    (16, 3),
    (24, 4),
    (40, 5),
    (72, 7),
    (200, 32),
];

/// A residual as a symbol and raw bits: `(symbol, value, bits)`.
pub(super) fn split(residual: i64, shift: u32) -> (u8, u32, u32) {
    let negative = residual < 0;
    let magnitude = (if negative { -1 - residual } else { residual }) as u32;
    let bin = BINS.partition_point(|&(first, _)| first <= magnitude >> shift) - 1;
    let (base, bits) = bin_of((bin * 2) as u8, shift);
    ((bin * 2) as u8 | u8::from(negative), magnitude - base, bits)
}

/// The first magnitude of a symbol and the number of its raw bits.
pub(super) fn bin_of(symbol: u8, shift: u32) -> (u32, u32) {
    let bin = BINS.get(usize::from(symbol >> 1)).copied();
    bin_from(bin.unwrap_or_default(), shift)
}

/// The first magnitude of a bin and the number of its raw bits.
#[inline(always)]
pub(super) fn bin_from((first, bits): (u32, u32), shift: u32) -> (u32, u32) {
    (first.wrapping_shl(shift), (bits + shift).min(32))
}

/// The dynamic part of the next value's context, from the magnitude of this
/// residual.
pub(super) fn dynamic_class(magnitude: u32) -> u8 {
    match magnitude {
        0..4 => magnitude as u8,
        4..16 => {
            let log = magnitude.ilog2();
            (log * 2 + (magnitude >> (log - 1) & 1)) as u8
        }
        _ => (magnitude.ilog2() + 4).min(14) as u8,
    }
}

/// [`dynamic_class`] of the middle of a symbol's bin: the table's tag for it.
pub(super) fn symbol_class(symbol: u8, shift: u32) -> u8 {
    let (first, bits) = bin_of(symbol, shift);
    let half = if bits == 0 {
        0
    } else {
        1u32 << (bits - 1).min(30)
    };
    dynamic_class(first.saturating_add(half))
}

/// Twice the binary logarithm of a scale, rounded down to its first fractional bit.
pub(super) fn scale_class(scale: i32) -> u8 {
    let scale = scale.max(1) as u32;
    let log = scale.ilog2();
    let half = if log > 0 { scale >> (log - 1) & 1 } else { 0 };
    (log * 2 + half).min(39) as u8
}

/// The static class of a value outside of the window of lanes.
pub(super) fn outside_class(base: u32) -> u8 {
    120 + (32 - base.leading_zeros()).min(7) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_survive_their_symbols() {
        let mut values: Vec<i64> = (-3000..3000).collect();
        values.extend([
            i64::from(u32::MAX),
            -i64::from(u32::MAX),
            1 << 31,
            -(1 << 31),
        ]);
        for shift in 0..=20 {
            for &residual in &values {
                let (symbol, raw, bits) = split(residual, shift);
                assert!(usize::from(symbol) < SYMBOLS && u64::from(raw) < 1 << bits);
                let (first, same_bits) = bin_of(symbol, shift);
                assert_eq!(bits, same_bits);
                let magnitude = i64::from(first) + i64::from(raw);
                let back = if symbol & 1 == 1 {
                    -1 - magnitude
                } else {
                    magnitude
                };
                assert_eq!(back, residual, "shift {shift}");
            }
        }
    }

    #[test]
    fn classes_ascend_and_fit() {
        let classes: Vec<u8> = (0..100_000).map(dynamic_class).collect();
        assert!(classes.is_sorted() && classes.iter().all(|&c| usize::from(c) < DYNAMIC_CLASSES));
        assert_eq!(classes[4..8], [4, 4, 5, 5]);
        assert_eq!(classes[16], 8);
        let scales: Vec<u8> = (0..1_000_000).map(scale_class).collect();
        assert!(scales.is_sorted());
        assert_eq!(scales[..6], [0, 0, 2, 3, 4, 4]);
    }
}

//! Predicted values and scales of 16 neighbouring values of a record: the
//! portable arithmetic, which the vector one must match bit for bit.

use super::layout::{FRACTION, LANES, MAX_FEATURES, NEAR, SCALES, WEIGHT_BITS, scale_class};
use super::model::Cell;

/// Values of a record around a window of lanes: lane 0 is at 2.
pub(super) type Window<'a, T> = &'a [T; LANES + 8];

/// Values as they are kept while a block is coded.
pub(super) trait Sample:
    Copy + Default + Send + Sync + Into<u32> + std::fmt::Debug + 'static
{
    /// Whether differences are limited to 16 bits and sums to 32.
    const NARROW: bool;
    fn of(value: u32) -> Self;
    fn wide(self) -> i64 {
        i64::from(self.into())
    }
    /// [`window`] by vectors, where there is such a thing: false otherwise.
    fn vector_window(_: &Inputs<'_, Self>, _: &Cell, _: &mut Lanes) -> bool {
        false
    }
}

impl Sample for u16 {
    const NARROW: bool = true;
    fn of(value: u32) -> Self {
        value as u16
    }
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn vector_window(inputs: &Inputs<'_, Self>, cell: &Cell, out: &mut Lanes) -> bool {
        super::predict_avx2::window(inputs, cell, out);
        true
    }
}

impl Sample for u32 {
    const NARROW: bool = false;
    fn of(value: u32) -> Self {
        value
    }
}

/// All that a window is predicted from.
pub(super) struct Inputs<'a, T> {
    /// The base, then the other references.
    pub(super) rows: [Window<'a, T>; super::layout::MAX_REFERENCES],
    /// How many there are; at least the base.
    pub(super) count: usize,
    /// Magnitudes of the residuals of the first two references.
    pub(super) residuals: [Window<'a, u16>; 2],
    /// Mean magnitude of each one's residuals.
    pub(super) means: [u16; 2],
    /// Mean records of the record's own anchor and of its base's.
    pub(super) anchors: [Window<'a, T>; 2],
    /// Whether neighbouring values are features.
    pub(super) spread: bool,
}

/// What comes out for each lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lanes {
    /// The prediction with [`FRACTION`] fractional bits.
    pub(super) prediction: [i64; LANES],
    /// The static class.
    pub(super) class: [u8; LANES],
}

#[inline(always)]
fn at<T: Sample>(row: Window<'_, T>, place: usize) -> i64 {
    row.get(place).map_or(0, |v| v.wide())
}

/// The features of the value in `lane`; answers how many there are.
#[inline(always)]
pub(super) fn features<T: Sample>(
    inputs: &Inputs<'_, T>,
    lane: usize,
    out: &mut [i64; MAX_FEATURES],
) -> usize {
    let mut count = 0;
    let mut push = |value: i64| {
        let value = if T::NARROW {
            value.clamp(-32768, 32767)
        } else {
            value
        };
        if let Some(place) = out.get_mut(count) {
            *place = value;
            count += 1;
        }
    };
    let [base, others @ ..] = &inputs.rows;
    let here = at(base, lane + 2);
    push(-(here >> 1));
    let [own_anchor, base_anchor] = inputs.anchors;
    push(at(own_anchor, lane + 2) - at(base_anchor, lane + 2));
    if inputs.spread {
        for place in [lane + 1, lane + 3, lane, lane + 4] {
            push(at(base, place) - here);
        }
    }
    for (k, row) in (1..).zip(others.iter().take(inputs.count.saturating_sub(1))) {
        if inputs.spread && k < NEAR {
            for place in lane + 1..=lane + 3 {
                push(at(row, place) - at(base, place));
            }
        } else {
            push(at(row, lane + 2) - here);
        }
    }
    count
}

/// The features of the residual's scale in `lane`, after its prediction.
#[inline(always)]
pub(super) fn scale_features<T: Sample>(
    inputs: &Inputs<'_, T>,
    lane: usize,
    prediction: i64,
) -> [i32; SCALES] {
    let limit = |value: i64| value.clamp(0, 32767) as i32;
    let [base, second, ..] = inputs.rows;
    let [first_residuals, second_residuals] = inputs.residuals;
    let difference = if inputs.count > 1 {
        (at(base, lane + 2) - at(second, lane + 2)).abs() >> 1
    } else {
        0
    };
    let likely = limit(prediction >> FRACTION);
    [
        limit(at(first_residuals, lane + 2)),
        limit(at(first_residuals, lane + 3)),
        limit(at(second_residuals, lane + 2)),
        limit(difference),
        likely.min(16),
        likely.min(256),
        likely >> 4,
        limit(i64::from(inputs.means[0])),
        limit(i64::from(inputs.means[1])),
        16,
    ]
}

/// Predicts a window.
pub(super) fn window<T: Sample>(inputs: &Inputs<'_, T>, cell: &Cell, out: &mut Lanes) {
    let mut values = [0; MAX_FEATURES];
    let [base, ..] = inputs.rows;
    for (lane, (prediction, class)) in out.prediction.iter_mut().zip(&mut out.class).enumerate() {
        let count = features(inputs, lane, &mut values);
        let weighted = values.iter().take(count).enumerate();
        let mut sum: i64 = weighted
            .map(|(f, &value)| value * i64::from(cell.weight(f, lane)))
            .sum();
        if T::NARROW {
            // The vector arithmetic is modulo 2^32.
            sum = i64::from(sum as i32);
        }
        let half = 1 << (WEIGHT_BITS - FRACTION - 1);
        let value = (at(base, lane + 2) << FRACTION) + ((sum + half) >> (WEIGHT_BITS - FRACTION));
        *prediction = value.clamp(-(1 << 36), 1 << 36);
        *class = static_class(inputs, cell, lane, *prediction);
    }
}

/// The static class of a value, after its prediction.
fn static_class<T: Sample>(
    inputs: &Inputs<'_, T>,
    cell: &Cell,
    lane: usize,
    prediction: i64,
) -> u8 {
    let features = scale_features(inputs, lane, prediction);
    let products = features
        .iter()
        .zip(&cell.scales)
        .map(|(&f, &w)| f.wrapping_mul(i32::from(w)));
    let scale = products.fold(0i32, i32::wrapping_add) >> 4;
    let zone = if inputs.spread {
        let [base, ..] = inputs.rows;
        if at(base, lane + 2) == 0 {
            80
        } else if at(base, lane + 3) == 0 {
            40
        } else {
            0
        }
    } else {
        0
    };
    zone + scale_class(scale)
}

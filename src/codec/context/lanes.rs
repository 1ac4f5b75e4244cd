//! Features of the eight slots of a rank at once, as far as they do not depend
//! on the slot before.
#![allow(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "arrays of 8 lanes, with indices below 8; the compiler makes vectors of such loops"
)]

/// A number for each slot of a rank.
pub(super) type Lanes = [i16; 8];

/// The class of no difference.
pub(super) const SAME: i16 = 2;

/// Class of a difference: at most −2, −1, 0, 1, at least 2.
#[inline(always)]
pub(super) fn class(a: i16, b: i16) -> i16 {
    (a - b).clamp(-2, 2) + SAME
}

/// Each lane's left neighbour; of the first it is the rank below's first.
#[inline(always)]
pub(super) fn to_the_left(rank: &Lanes, below: &Lanes) -> Lanes {
    let mut out = [below[0]; 8];
    out[1..].copy_from_slice(&rank[..7]);
    out
}

/// What surrounds the slots of a rank.
pub(super) struct Around<'a> {
    /// The rank below, and the classes of its errors.
    pub(super) below: &'a Lanes,
    pub(super) below_errors: &'a Lanes,
    /// The row before: this rank, its errors, and the rank below.
    pub(super) last: &'a Lanes,
    pub(super) last_errors: &'a Lanes,
    pub(super) last_below: &'a Lanes,
    /// What the other value says of each slot, 0 for nothing.
    pub(super) same: &'a Lanes,
}

/// Features of a rank's slots for some pivots, without the part of the left
/// neighbour.
pub(super) struct Ahead {
    pub(super) pivot: Lanes,
    /// Classes of the value below and of that in the row before.
    pub(super) near: Lanes,
    pub(super) far: Lanes,
}

impl Ahead {
    pub(super) const NONE: Ahead = Ahead {
        pivot: [0; 8],
        near: [0; 8],
        far: [0; 8],
    };

    /// What both ways of coding without links have in common: of the second
    /// group the three digits of neighbours.
    #[inline(always)]
    fn neighbours(pivot: Lanes, a: &Around) -> Self {
        let both = to_the_left(a.below, a.below);
        let last_left = to_the_left(a.last, a.last_below);
        let (mut near, mut far) = ([0; 8], [0; 8]);
        for i in 0..8 {
            let of = |lanes: &Lanes| class(lanes[i], pivot[i]);
            near[i] = of(a.below) * 5 + of(a.last);
            far[i] = of(&both) * 25 + of(&last_left) * 5 + of(a.last_below);
        }
        Ahead { pivot, near, far }
    }

    /// Of a value coded first.
    #[inline(always)]
    pub(super) fn first(pivot: Lanes, a: &Around) -> Self {
        let mut ahead = Self::neighbours(pivot, a);
        for far in &mut ahead.far {
            *far *= 5;
        }
        ahead
    }

    /// Of a value coded second without links.
    #[inline(always)]
    pub(super) fn beside(pivot: Lanes, a: &Around) -> Self {
        let mut ahead = Self::neighbours(pivot, a);
        for i in 0..8 {
            let same = class(a.same[i], pivot[i]) * 125;
            ahead.far[i] += if a.same[i] == 0 { 0 } else { same };
        }
        ahead
    }

    /// Of a value coded second with links, which give the pivot.
    #[inline(always)]
    pub(super) fn linked(pivot: Lanes, a: &Around) -> Self {
        let (mut near, mut far) = ([0; 8], [0; 8]);
        for i in 0..8 {
            let of = |lanes: &Lanes| class(lanes[i], pivot[i]);
            near[i] = of(a.below) * 5 + of(a.last);
            let same = if a.same[i] == 0 { 0 } else { of(a.same) * 125 };
            far[i] = same + a.below_errors[i] * 5 + a.last_errors[i];
        }
        Ahead { pivot, near, far }
    }
}

/// The lesser of two numbers in each lane.
#[inline(always)]
pub(super) fn least(a: &Lanes, b: &Lanes) -> Lanes {
    let mut out = *a;
    for i in 0..8 {
        out[i] = a[i].min(b[i]);
    }
    out
}

/// The greater of two numbers in each lane.
#[inline(always)]
pub(super) fn greatest(a: &Lanes, b: &Lanes) -> Lanes {
    let mut out = *a;
    for i in 0..8 {
        out[i] = a[i].max(b[i]);
    }
    out
}

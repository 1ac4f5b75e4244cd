//! Walking over the slots of a row and collecting each one's features; shared
//! by training, encoding and decoding.
//!
//! A row is a board of eight ranks. What can be known of a rank before its
//! first slot is visited is computed for its eight slots at once, so that little
//! is left to do between a value and the next, which needs it.
#![allow(
    clippy::indexing_slicing,
    reason = "arrays of 8 ranks with 8 lanes each, with indices below 8"
)]

use super::lanes::{Ahead, Around, Lanes, SAME, class, greatest, least, to_the_left};
use super::model::{Model, NEAR_GROUPS};
use crate::codec::{Row, Rows};

/// One value of a row's 64 records as seen from later ones; slots without a
/// position hold a neighbour's value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface {
    values: [Lanes; 8],
    /// Classes of the differences between values and what the other value said.
    errors: [Lanes; 8],
    /// What stands before the first slot.
    before: i16,
}

impl Surface {
    fn new(before: i16) -> Self {
        Surface {
            values: [[before; 8]; 8],
            errors: [[SAME; 8]; 8],
            before,
        }
    }
}

/// What the value coded first says about the one coded second.
struct Hearsay {
    /// The pivot of each slot, 0 where there is none.
    outlook: [Lanes; 8],
    /// The other value of the same slot, translated; 0 where there is none.
    same: [Lanes; 8],
}

/// What is done with a slot: its features come in, its value goes out.
pub(super) trait Visit {
    /// What is made of a number of the first group of features before the
    /// class of the left neighbour is known.
    type Near: Copy + Default;
    /// Values with this index in the record follow.
    fn begin(&mut self, _value: usize) {}
    /// See [`Visit::Near`]; `group` is below [`NEAR_GROUPS`] for each pivot.
    fn near(&self, group: usize) -> Self::Near;
    /// The value of a slot.
    fn visit(&mut self, model: &Model, at: At<Self::Near>) -> i16;
    /// The values visited so far of value `value` of the record.
    fn values(&self, value: usize) -> &[i16; 64];
}

/// A slot with its features.
#[derive(Clone, Copy)]
pub(super) struct At<N> {
    /// Which value of the record, 0 or 1.
    pub(super) value: usize,
    pub(super) slot: usize,
    pub(super) pivot: i16,
    /// Features of the first group but the class of the left neighbour.
    pub(super) near: N,
    /// The class of the left neighbour.
    pub(super) left: usize,
    /// Features of the second group.
    pub(super) far: usize,
}

impl At<usize> {
    /// The number of the first group's features, of its group in `near`.
    pub(super) fn near_index(&self) -> usize {
        let (row, rest) = (self.near / NEAR_GROUPS, self.near % NEAR_GROUPS);
        (row * 5 + self.left) * NEAR_GROUPS + rest
    }
}

/// The last slots that are wanted of a row: those before `slots` of one of the
/// values of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Until {
    pub(super) value: usize,
    pub(super) slots: usize,
}

impl Until {
    /// The whole row.
    pub(super) const END: Until = Until {
        value: 2,
        slots: 64,
    };
}

/// The value is coded first, or second with links, or second without.
const FIRST: u8 = 0;
const LINKED: u8 = 1;
const BESIDE: u8 = 2;

/// Features of one slot.
#[derive(Clone, Copy)]
struct Features<N> {
    pivot: i16,
    near: N,
    left: i16,
    far: i16,
}

/// A slot's surroundings where they depend on the slot before.
struct Close {
    left: i16,
    left_error: i16,
    below: i16,
    below_error: i16,
    both: i16,
    last: i16,
    last_error: i16,
    last_left: i16,
    last_below: i16,
    same: i16,
    pivot: i16,
}

impl Close {
    /// Number in the first group without its pivot and the class of the left
    /// neighbour, that class, and the number in the second group.
    #[inline(always)]
    fn features<const MODE: u8>(&self) -> (i16, i16, i16) {
        let of = |v| class(v, self.pivot);
        let near = of(self.below) * 5 + of(self.last);
        let neighbours = of(self.both) * 25 + of(self.last_left) * 5 + of(self.last_below);
        let far = match MODE {
            FIRST => neighbours * 5,
            BESIDE => of(self.same) * 125 + neighbours,
            _ => {
                of(self.same) * 125 + self.left_error * 25 + self.below_error * 5 + self.last_error
            }
        };
        (near, of(self.left), far)
    }
}

/// Walks over one value of a row. `past` is the row before in the block, or
/// what stands for it when `FRESH`. Slots from `slots` on are left out.
#[inline(always)]
fn walk<V: Visit, const FRESH: bool, const MODE: u8>(
    model: &Model,
    row: &Row,
    value: usize,
    past: &Surface,
    hearsay: &Hearsay,
    slots: usize,
    visitor: &mut V,
) -> Surface {
    let present = row.present[value & 1] & u64::MAX >> (64 - slots.clamp(1, 64));
    let [first_hints, second_hints] = row.hints[value & 1];
    let mut here = Surface::new(past.values[0][0]);
    let (mut left, mut left_error) = (here.before, SAME);
    let (mut below, mut below_errors) = ([left; 8], [SAME; 8]);
    let mut last_below = [past.before; 8];
    visitor.begin(value);
    let group = |pivot: i16, near: i16| {
        (pivot as usize * 2 + usize::from(FRESH)) * NEAR_GROUPS + near as usize
    };
    for rank in 0..slots.div_ceil(8).min(8) {
        let (last, last_errors) = (past.values[rank], past.errors[rank]);
        let (same, said) = (hearsay.same[rank], hearsay.outlook[rank]);
        let around = Around {
            below: &below,
            below_errors: &below_errors,
            last: &last,
            last_errors: &last_errors,
            last_below: &last_below,
            same: &same,
        };
        // In the other cases too little is known.
        let early = !FRESH && rank > 0;
        let mut ahead = [Ahead::NONE; 2];
        let mut near = [[V::Near::default(); 8]; 2];
        if early {
            let (low, high) = (least(&below, &last), greatest(&below, &last));
            ahead = match MODE {
                FIRST => [Ahead::first(low, &around), Ahead::first(high, &around)],
                BESIDE => [Ahead::beside(low, &around), Ahead::beside(high, &around)],
                _ => [Ahead::linked(said, &around), Ahead::NONE],
            };
            for (near, ahead) in
                near.iter_mut()
                    .zip(&ahead)
                    .take(if MODE == LINKED { 1 } else { 2 })
            {
                for ((near, &pivot), &rest) in near.iter_mut().zip(&ahead.pivot).zip(&ahead.near) {
                    *near = visitor.near(group(pivot, rest));
                }
            }
        }
        let both = to_the_left(&below, &below);
        let both_errors = to_the_left(&below_errors, &below_errors);
        let last_left = to_the_left(&last, &last_below);
        if rank > 0 {
            (left, left_error) = (below[0], below_errors[0]);
        }
        let (mut values, mut errors) = ([0; 8], [SAME; 8]);
        for file in 0..8 {
            let slot = rank * 8 + file;
            let pivot = match MODE {
                LINKED if said[file] != 0 => said[file],
                _ => left,
            };
            if present >> slot & 1 != 0 {
                let close = |visitor: &V| {
                    let (below, both) = if rank > 0 {
                        (below[file], both[file])
                    } else {
                        (left, left)
                    };
                    let (below_error, both_error) = match rank {
                        0 => (left_error, left_error),
                        _ => (below_errors[file], both_errors[file]),
                    };
                    let close = Close {
                        left,
                        left_error,
                        below,
                        below_error,
                        both,
                        last: if FRESH { left } else { last[file] },
                        last_error: if FRESH { both_error } else { last_errors[file] },
                        last_left: if FRESH { both } else { last_left[file] },
                        last_below: match (FRESH, rank) {
                            (true, _) => both,
                            (false, 0) => last_left[file],
                            (false, _) => last_below[file],
                        },
                        same: if same[file] == 0 { left } else { same[file] },
                        pivot,
                    };
                    let (near, left, far) = close.features::<MODE>();
                    Features {
                        pivot,
                        near: visitor.near(group(pivot, near)),
                        left,
                        far,
                    }
                };
                let features = if !early {
                    close(visitor)
                } else if MODE == LINKED {
                    if said[file] == 0 {
                        close(visitor)
                    } else {
                        let on_left = class(left, pivot);
                        let same = if same[file] == 0 { on_left * 125 } else { 0 };
                        Features {
                            pivot,
                            near: near[0][file],
                            left: on_left,
                            far: ahead[0].far[file] + left_error * 25 + same,
                        }
                    }
                } else {
                    // Taken from an array, as a branch would often go wrong.
                    let above = usize::from(left > ahead[0].pivot[file]);
                    let (pivot, near, far) = (
                        ahead[above].pivot[file],
                        near[above][file],
                        ahead[above].far[file],
                    );
                    if above == 1 && left < pivot {
                        close(visitor)
                    } else {
                        let on_left = class(left, pivot);
                        let same = if MODE == BESIDE && same[file] == 0 {
                            on_left * 125
                        } else {
                            0
                        };
                        Features {
                            pivot,
                            near,
                            left: on_left,
                            far: far + same,
                        }
                    }
                };
                let hints = (first_hints >> slot & 1) * 2 + (second_hints >> slot & 1);
                let at = At {
                    value,
                    slot,
                    pivot: features.pivot,
                    near: features.near,
                    left: features.left as usize,
                    far: hints as usize * 625 + features.far as usize,
                };
                left = visitor.visit(model, at);
            }
            values[file] = left;
            if MODE == LINKED {
                left_error = class(left, pivot);
                errors[file] = left_error;
            }
        }
        here.values[rank] = values;
        here.errors[rank] = errors;
        (below, below_errors, last_below) = (values, errors, last);
    }
    here
}

/// Walks over one value of a row and makes it the row before, in a version for
/// each case.
#[inline(always)]
fn walk_case<V: Visit, const MODE: u8>(
    model: &Model,
    row: &Row,
    value: usize,
    past: &mut Option<Surface>,
    hearsay: &Hearsay,
    slots: usize,
    visitor: &mut V,
) {
    if row.present[value & 1] == 0 {
        return;
    }
    *past = Some(match past {
        None => {
            let start = Surface::new(model.start);
            walk::<V, true, MODE>(model, row, value, &start, hearsay, slots, visitor)
        }
        Some(past) => walk::<V, false, MODE>(model, row, value, past, hearsay, slots, visitor),
    });
}

/// Translates what the first value of each slot says into the second's terms.
#[inline(always)]
fn echo(model: &Model, values: &[i16; 64]) -> [Lanes; 8] {
    let mut out = [[0; 8]; 8];
    for (lane, &value) in out.as_flattened_mut().iter_mut().zip(values) {
        *lane = model.echo.get(value as usize).copied().unwrap_or(0);
    }
    out
}

/// Walks over the values of a row in the order of coding, as far as wanted.
#[inline(always)]
pub(super) fn walk_all<V: Visit>(
    models: &[Model],
    rows: &dyn Rows,
    row: &Row,
    past: &mut [Option<Surface>; 2],
    until: Until,
    visitor: &mut V,
) {
    let [past_first, past_second] = past;
    let first = if models.len() == 2 {
        rows.first_value() & 1
    } else {
        0
    };
    let second = 1 - first;
    let Some(model) = models.get(first) else {
        return;
    };
    let mut hearsay = Hearsay {
        outlook: [[0; 8]; 8],
        same: [[0; 8]; 8],
    };
    let slots_of = |value| match until.value == value {
        true => until.slots,
        false => 64,
    };
    walk_case::<V, FIRST>(
        model,
        row,
        first,
        past_first,
        &hearsay,
        slots_of(first),
        visitor,
    );
    let wanted = until.value != first && row.present[second] != 0;
    let Some(model) = models.get(second).filter(|_| wanted) else {
        return;
    };
    let slots = slots_of(second);
    let mut values = *visitor.values(first);
    hearsay.same = echo(model, &values);
    for (slot, value) in values.iter_mut().enumerate() {
        if row.present[first] >> slot & 1 == 0 {
            *value = i16::MAX;
        }
    }
    if let Some(outlook) = rows.outlook(row, &values) {
        hearsay.outlook = echo(model, &outlook);
        walk_case::<V, LINKED>(model, row, second, past_second, &hearsay, slots, visitor);
    } else {
        walk_case::<V, BESIDE>(model, row, second, past_second, &hearsay, slots, visitor);
    }
}

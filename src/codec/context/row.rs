//! Walking over the slots of a row and collecting each one's features; shared
//! by training, encoding and decoding.
#![allow(
    clippy::indexing_slicing,
    reason = "arrays of 64 and 65 entries, with slots below 64 and neighbours below 65"
)]

use super::model::{Model, NEAR};
use crate::codec::{Row, Rows};

/// Index of the value that stands before the first slot.
const BEFORE: usize = 64;

/// For each slot its neighbour on the left, below, and both; at an edge one
/// that has been visited as well.
const fn neighbours() -> [[u8; 3]; 64] {
    let mut out = [[BEFORE as u8; 3]; 64];
    let mut s = 0;
    while s < 64 {
        let (file, rank) = (s % 8, s / 8);
        let left = if file > 0 {
            s - 1
        } else if rank > 0 {
            s - 8
        } else {
            BEFORE
        };
        let below = if rank > 0 { s - 8 } else { left };
        let both = if rank > 0 && file > 0 {
            s - 9
        } else if rank > 0 {
            s - 8
        } else {
            left
        };
        out[s] = [left as u8, below as u8, both as u8];
        s += 1;
    }
    out
}

static NEIGHBOURS: [[u8; 3]; 64] = neighbours();

/// One value of a row's 64 records as seen from later ones; slots without a
/// position hold a neighbour's value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surface {
    /// Values, and one before the first.
    values: [i16; 65],
    /// What the other value said of each slot.
    outlook: [i16; 65],
}

impl Surface {
    fn new(start: i16) -> Self {
        Surface {
            values: [start; 65],
            outlook: [start; 65],
        }
    }
}

/// What the value coded first says about the one coded second.
struct Hearsay {
    /// The pivot of each slot, 0 where there is none.
    outlook: Option<[i16; 64]>,
    /// The other value of the same slot, translated; 0 where there is none.
    same: [i16; 64],
}

/// What is done with a slot: its features come in, its value goes out.
pub(super) trait Visit {
    fn visit(&mut self, model: &Model, at: At) -> i16;
    /// The values visited so far of value `value` of the record.
    fn values(&self, value: usize) -> &[i16; 64];
}

/// A slot with its features.
#[derive(Clone, Copy)]
pub(super) struct At {
    /// Which value of the record, 0 or 1.
    pub(super) value: usize,
    pub(super) slot: usize,
    pub(super) near: usize,
    pub(super) far: usize,
    pub(super) pivot: i16,
}

/// Class of a difference: at most −2, −1, 0, 1, at least 2.
#[inline(always)]
fn class(a: i16, b: i16) -> usize {
    ((a - b).clamp(-2, 2) + 2) as usize
}

/// The value is coded first, or second with links, or second without.
const FIRST: u8 = 0;
const LINKED: u8 = 1;
const BESIDE: u8 = 2;

/// Walks over one value of a row, in a version for each case.
#[inline(always)]
fn walk_case<V: Visit, const MODE: u8>(
    model: &Model,
    row: &Row,
    value: usize,
    before: &mut Option<Surface>,
    hearsay: Option<&Hearsay>,
    visitor: &mut V,
) {
    if before.is_none() {
        walk::<V, true, MODE>(model, row, value, before, hearsay, visitor);
    } else {
        walk::<V, false, MODE>(model, row, value, before, hearsay, visitor);
    }
}

/// Walks over one value of a row. `before` is the row before in the block, if
/// there is one; it becomes this row.
#[inline(never)]
fn walk<V: Visit, const FRESH: bool, const MODE: u8>(
    model: &Model,
    row: &Row,
    value: usize,
    before: &mut Option<Surface>,
    hearsay: Option<&Hearsay>,
    visitor: &mut V,
) {
    let present = row.present[value & 1];
    if present == 0 {
        return;
    }
    let [first_hint, second_hint] = row.hints[value & 1];
    let past = before.unwrap_or_else(|| Surface::new(model.start));
    let mut here = Surface::new(past.values[0]);
    let outlook = hearsay.and_then(|h| h.outlook.as_ref());
    let most = model.most as i16;
    for slot in 0..64 {
        let [l, b, d] = NEIGHBOURS[slot].map(usize::from);
        let (left, below, both) = (here.values[l], here.values[b], here.values[d]);
        if let Some(outlook) = outlook {
            here.outlook[slot] = if outlook[slot] == 0 {
                left
            } else {
                outlook[slot]
            };
        }
        if present >> slot & 1 == 0 {
            here.values[slot] = left;
            continue;
        }
        let (last, last_left, last_below) = if FRESH {
            (left, both, both)
        } else {
            (past.values[slot], past.values[l], past.values[b])
        };
        let hints = (first_hint >> slot & 1) as usize * 2 + (second_hint >> slot & 1) as usize;
        let (pivot, far) = match (MODE, hearsay) {
            (FIRST, _) | (_, None) => {
                let pivot = median(left, below, last);
                let far = (class(both, pivot) * 5 + class(last_left, pivot)) * 5
                    + class(last_below, pivot);
                (pivot, far * 5)
            }
            (_, Some(h)) => {
                let same = if h.same[slot] == 0 {
                    left
                } else {
                    h.same[slot]
                };
                if MODE == LINKED {
                    let pivot = here.outlook[slot];
                    let error = |s: &Surface, at: usize| class(s.values[at], s.outlook[at]);
                    let last_error = if FRESH {
                        error(&here, d)
                    } else {
                        error(&past, slot)
                    };
                    let far = (class(same, pivot) * 5 + error(&here, l)) * 5 + error(&here, b);
                    (pivot, far * 5 + last_error)
                } else {
                    let pivot = median(left, below, last);
                    let far =
                        (class(same, pivot) * 5 + class(both, pivot)) * 5 + class(last_left, pivot);
                    (pivot, far * 5 + class(last_below, pivot))
                }
            }
        };
        let pivot = pivot.clamp(0, most);
        let near = (class(left, pivot) * 5 + class(below, pivot)) * 5 + class(last, pivot);
        let near = pivot as usize * NEAR + usize::from(FRESH) * 125 + near;
        let at = At {
            value,
            slot,
            near,
            far: hints * 625 + far,
            pivot,
        };
        here.values[slot] = visitor.visit(model, at);
    }
    *before = Some(here);
}

#[inline(always)]
fn median(a: i16, b: i16, c: i16) -> i16 {
    a.max(b).min(a.min(b).max(c))
}

/// Translates what the first value of each slot says into the second's terms.
#[inline(always)]
fn echo(model: &Model, values: &[i16; 64]) -> [i16; 64] {
    values.map(|v| model.echo.get(v as usize).copied().unwrap_or(0))
}

/// Walks over all values of a row in the order of coding.
#[inline(always)]
pub(super) fn walk_all<V: Visit>(
    models: &[Model],
    rows: &dyn Rows,
    row: &Row,
    past: &mut [Option<Surface>; 2],
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
    walk_case::<V, FIRST>(model, row, first, past_first, None, visitor);
    let Some(model) = models.get(second).filter(|_| row.present[second] != 0) else {
        return;
    };
    let mut values = *visitor.values(first);
    let same = echo(model, &values);
    for (slot, value) in values.iter_mut().enumerate() {
        if row.present[first] >> slot & 1 == 0 {
            *value = i16::MAX;
        }
    }
    let outlook = rows.outlook(row, &values).map(|o| echo(model, &o));
    let hearsay = Hearsay { outlook, same };
    if outlook.is_some() {
        walk_case::<V, LINKED>(model, row, second, past_second, Some(&hearsay), visitor);
    } else {
        walk_case::<V, BESIDE>(model, row, second, past_second, Some(&hearsay), visitor);
    }
}

//! What the network sees of a board.
//!
//! Every input is a *slot* with a small whole number as its value. A slot's
//! value stands for a fixed combination of *units*, the network's real inputs:
//! five chequers on a point are the units "two or more", "three or more" and
//! one of "how many above three". The first layer is linear, so that each
//! (slot, value) has one row of hidden sums, which is computed when weights
//! are loaded. An evaluation then adds up some sixty rows and multiplies
//! nothing in the first layer.

use std::sync::LazyLock;

use crate::bearoff::Board;
use crate::bearoff::board::{BAR, CHEQUERS, Points};
use crate::bearoff::plays::ROLLS;

/// How the values of a slot become units.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Chequers on a point: exactly one, two or more, three or more, and half
    /// of what is above three.
    Count,
    /// One unit for each value.
    Class,
    /// A broken line: `value / scale`, and from each knot on `(value − knot) / scale`.
    Line { scale: f32, knots: &'static [u16] },
}

/// A slot: its values are `0..values`.
#[derive(Debug, Clone, Copy)]
struct Slot {
    kind: Kind,
    values: u16,
}

impl Slot {
    fn units(&self) -> usize {
        match self.kind {
            Kind::Count => 4,
            Kind::Class => usize::from(self.values),
            Kind::Line { knots, .. } => 1 + knots.len(),
        }
    }

    fn expand(&self, value: u16) -> Vec<f32> {
        match self.kind {
            Kind::Count => {
                let n = f32::from(value);
                let when = |condition: bool| f32::from(u8::from(condition));
                vec![
                    when(value == 1),
                    when(value >= 2),
                    when(value >= 3),
                    (n - 3.0).max(0.0) / 2.0,
                ]
            }
            Kind::Class => (0..self.values)
                .map(|v| f32::from(u8::from(v == value)))
                .collect(),
            Kind::Line { scale, knots } => std::iter::once(0)
                .chain(knots.iter().copied())
                .map(|knot| f32::from(value.saturating_sub(knot)) / scale)
                .collect(),
        }
    }
}

const fn line(values: u16, scale: f32, knots: &'static [u16]) -> Slot {
    Slot {
        kind: Kind::Line { scale, knots },
        values,
    }
}

const fn class(values: u16) -> Slot {
    Slot {
        kind: Kind::Class,
        values,
    }
}

const POINT: Slot = Slot {
    kind: Kind::Count,
    values: CHEQUERS as u16 + 1,
};
const OFF: Slot = line(16, 5.0, &[5, 10]);
const PIPS: Slot = line(376, 64.0, &[32, 64, 96, 128, 160, 200]);
/// Pips of the side on roll less those of its opponent, plus 128.
const LEAD: Slot = line(
    257,
    32.0,
    &[32, 64, 96, 112, 120, 128, 136, 144, 160, 192, 224],
);

/// What one side contributes beside its points, in a position with contact.
const SIDE: [Slot; 16] = [
    OFF,
    PIPS,
    class(7),                  // points made in its home board
    class(26),                 // its last chequer
    class(8),                  // its longest prime
    line(37, 12.0, &[11, 20]), // rolls that hit a blot
    line(37, 12.0, &[9, 20]),  // rolls that leave its last chequer where it is
    line(50, 16.0, &[16, 32]), // mean pips that its last chequer can run, in sixths
    line(50, 16.0, &[16, 32]), // the same for the chequer before it
    class(28),                 // chequers on the bar (to 3) × closed points against them
    class(5),                  // blots in its home board
    class(5),                  // blots elsewhere
    line(16, 5.0, &[2, 5]),    // chequers that have yet to pass the opponent's last one
    class(6),                  // points held in the opponent's home board
    line(16, 5.0, &[4, 8]),    // chequers on its three lowest points
    line(16, 5.0, &[8, 11]),   // chequers in its home and outer board
];

/// The two kinds of position that have networks of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The sides can still meet.
    Contact,
    /// They cannot.
    Race,
}

/// The inputs of one class of positions.
#[derive(Debug)]
pub struct Layout {
    slots: Vec<Slot>,
    row_count: usize,
    unit_count: usize,
}

/// More rows than any board activates.
pub const MAX_ROWS: usize = 64;

/// The active rows of one board.
#[derive(Debug, Clone, Copy)]
pub struct Active {
    rows: [u16; MAX_ROWS],
    len: usize,
}

impl Active {
    /// The rows, one for each slot that is not 0.
    pub fn rows(&self) -> &[u16] {
        &self.rows[..self.len]
    }

    #[inline(always)]
    fn push(&mut self, row: u16) {
        self.rows[self.len] = row;
        self.len += 1;
    }
}

static CONTACT: LazyLock<Layout> = LazyLock::new(|| {
    let mut slots = vec![POINT; 50];
    slots.extend(SIDE);
    slots.extend(SIDE);
    slots.push(LEAD);
    Layout::new(slots)
});

static RACE: LazyLock<Layout> = LazyLock::new(|| {
    let mut slots = vec![POINT; 48];
    slots.extend([OFF, PIPS, OFF, PIPS, LEAD]);
    Layout::new(slots)
});

impl Layout {
    /// The layout of a class.
    pub fn of(class: Class) -> &'static Layout {
        match class {
            Class::Contact => &CONTACT,
            Class::Race => &RACE,
        }
    }

    fn new(slots: Vec<Slot>) -> Self {
        let row_count = slots.iter().map(|slot| usize::from(slot.values)).sum();
        let unit_count = slots.iter().map(Slot::units).sum();
        Layout {
            slots,
            row_count,
            unit_count,
        }
    }

    /// Rows of the expanded first layer.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Units: rows of the first layer as it is trained and stored.
    pub fn unit_count(&self) -> usize {
        self.unit_count
    }

    /// For each row the units that it stands for, with their activation;
    /// units that are 0 are left out.
    pub fn expansion(&self) -> Vec<Vec<(usize, f32)>> {
        let mut out = Vec::with_capacity(self.row_count);
        let mut unit = 0;
        for slot in &self.slots {
            for value in 0..slot.values {
                let active = slot.expand(value).into_iter().enumerate();
                out.push(
                    active
                        .filter(|&(_, a)| a != 0.0)
                        .map(|(i, a)| (unit + i, a))
                        .collect(),
                );
            }
            unit += slot.units();
        }
        out
    }
}

/// First rows of the slots after the points, by class.
const CONTACT_SLOTS: [u16; 33] = {
    let mut out = [0; 33];
    let (mut next, mut i) = (50 * POINT.values, 0);
    while i < 32 {
        out[i] = next;
        next += SIDE[i % 16].values;
        i += 1;
    }
    out[32] = next;
    out
};
const RACE_SLOTS: [u16; 5] = {
    let start = 48 * POINT.values;
    let side = OFF.values + PIPS.values;
    [
        start,
        start + OFF.values,
        start + side,
        start + side + OFF.values,
        start + 2 * side,
    ]
};

/// Encodes a board for the network of its class.
#[inline]
pub fn encode(board: &Board) -> (Class, Active) {
    let sides = [board.on_roll(), board.opponent()];
    let masks = sides.map(Masks::of);
    let last = [masks[0].last, masks[1].last];
    let contact = last[0] + last[1] > 24 && last[0] > 0 && last[1] > 0;
    let mut active = Active {
        rows: [0; MAX_ROWS],
        len: 0,
    };
    let points: u16 = if contact { 25 } else { 24 };
    let mut sums = [Sums::default(); 2];
    for k in 0..2 {
        // Without contact the other side's last chequer has nothing behind it.
        let behind = 25 - last[1 - k];
        let mut held = masks[k].held;
        while held != 0 {
            let i = held.trailing_zeros() as usize;
            held &= held - 1;
            let n = u16::from(sides[k][i]);
            active.push((k as u16 * points + i as u16) * POINT.values + n);
            sums[k].add(i, n, behind);
        }
    }
    let lead = (sums[0].pips as i32 - sums[1].pips as i32 + 128).clamp(0, 256) as u16;
    if !contact {
        let values = [
            15 - sums[0].all,
            sums[0].pips,
            15 - sums[1].all,
            sums[1].pips,
            lead,
        ];
        for (first, value) in RACE_SLOTS.into_iter().zip(values) {
            active.push(first + value);
        }
        return (Class::Race, active);
    }
    for (me, it) in [(0, 1), (1, 0)] {
        let values = side_values(sides[me], &masks[me], &masks[it], &sums[me]);
        for (first, value) in CONTACT_SLOTS[16 * me..].iter().zip(values) {
            active.push(first + value);
        }
    }
    active.push(CONTACT_SLOTS[32] + lead);
    (Class::Contact, active)
}

/// Chequers of one side, summed up in several ways.
#[derive(Clone, Copy, Default)]
struct Sums {
    all: u16,
    pips: u16,
    /// On its three lowest points.
    low: u16,
    /// In its home and outer board.
    near: u16,
    /// Yet to pass the opponent's last chequer.
    behind: u16,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, index: usize, n: u16, behind: usize) {
        let when = |condition: bool| u16::from(condition) * n;
        self.all += n;
        self.pips += n * (index as u16 + 1);
        self.low += when(index < 3);
        self.near += when(index < 12);
        self.behind += when(index >= behind);
    }
}

/// Bit sets of one side: bit 0 its ace-point, bit 24 its bar.
struct Masks {
    held: u32,
    made: u32,
    last: usize,
}

impl Masks {
    #[inline(always)]
    fn of(side: &Points) -> Self {
        let (mut held, mut made) = (0u32, 0u32);
        for (k, bytes) in side.as_chunks::<8>().0.iter().enumerate() {
            let counts = u64::from_le_bytes(*bytes);
            held |= at_least(counts, 1) << (8 * k);
            made |= at_least(counts, 2) << (8 * k);
        }
        held |= u32::from(side[BAR] > 0) << BAR;
        made |= u32::from(side[BAR] > 1) << BAR;
        Masks {
            held,
            made,
            last: (32 - held.leading_zeros()) as usize,
        }
    }

    fn blots(&self) -> u32 {
        self.held & !self.made
    }
}

/// Which of eight bytes, none above 127, are at least `n`: a bit for each.
#[inline(always)]
fn at_least(bytes: u64, n: u8) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let tops = (bytes + ONES * u64::from(128 - n)) >> 7 & ONES;
    // Moves the lowest bit of byte k to bit 56 + k.
    (tops.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

/// Points 1 to 24 as the other side numbers them.
fn mirrored(mask: u32) -> u32 {
    (mask << 8).reverse_bits() & 0xff_ffff
}

const HOME: u32 = 0x3f;

/// The values of [`SIDE`] for one side.
#[inline]
fn side_values(side: &Points, me: &Masks, it: &Masks, sums: &Sums) -> [u16; SIDE.len()] {
    let blocked = mirrored(it.made & 0xff_ffff);
    let blots = mirrored(it.blots() & 0xff_ffff);
    let before = (me.held & !(1 << (me.last - 1)))
        .checked_ilog2()
        .map_or(me.last, |i| i as usize + 1);
    let (stuck, run) = mobility(blocked, me.last);
    let (_, run_before) = mobility(blocked, before);
    let closed = (it.made & HOME).count_ones() as u16;
    let own_blots = me.blots() & 0xff_ffff;
    let home_blots = (own_blots & HOME).count_ones().min(4) as u16;
    let other_blots = (own_blots & !HOME).count_ones().min(4) as u16;
    [
        u16::from(CHEQUERS) - sums.all,
        sums.pips,
        (me.made & HOME).count_ones() as u16,
        me.last as u16,
        longest_run(me.made & 0xff_ffff).min(7),
        hitting_rolls(me.held, side[BAR], blocked, blots),
        stuck,
        run,
        run_before,
        u16::from(side[BAR].min(3)) * 7 + closed,
        home_blots,
        other_blots,
        sums.behind,
        ((me.made >> 18 & HOME).count_ones() as u16).min(5),
        sums.low,
        sums.near,
    ]
}

fn longest_run(mut mask: u32) -> u16 {
    let mut length = 0;
    while mask != 0 {
        mask &= mask >> 1;
        length += 1;
    }
    length
}

/// Of the 36 rolls, those with which a side can hit at least one blot.
fn hitting_rolls(held: u32, on_bar: u8, blocked: u32, blots: u32) -> u16 {
    if blots == 0 {
        return 0;
    }
    let bar = 1u32 << BAR;
    let others = held & !bar;
    let movable = if on_bar > 0 { bar } else { held };
    // Where each die alone leads.
    let to: [u32; 7] = std::array::from_fn(|die| movable >> die & !blocked);
    let mut rolls = 0;
    for a in 1..=6 {
        // Doubles: chequers on the bar use up moves before any other moves.
        let mut reached = to[a];
        let mut step = 1u8;
        while reached & blots == 0 && reached != 0 && step < 4 {
            let from = match step.cmp(&on_bar) {
                std::cmp::Ordering::Less => bar,
                std::cmp::Ordering::Equal => reached | others,
                std::cmp::Ordering::Greater => reached,
            };
            reached = from >> a & !blocked;
            step += 1;
        }
        rolls += u16::from(reached & blots != 0);
        for b in 1..a {
            let direct = to[a] | to[b];
            let second = match on_bar {
                0 => to[a] >> b | to[b] >> a,
                1 => {
                    let after = |entered: u32, die: usize| {
                        if entered == 0 {
                            0
                        } else {
                            (entered | others) >> die
                        }
                    };
                    after(to[a], b) | after(to[b], a)
                }
                _ => 0,
            };
            rolls += 2 * u16::from((direct | second) & blots != 0);
        }
    }
    rolls
}

/// For each set of blocked points among the twelve ahead of a chequer (bit 0
/// the next one): the rolls that don't move it at all, and the sum over the 36
/// rolls of the pips that it can run at most, divided by six.
static MOBILITY: LazyLock<Vec<[u8; 2]>> = LazyLock::new(|| {
    let open = |mask: u32, pips: u8| pips > 12 || mask >> (pips - 1) & 1 == 0;
    let entry = |mask: u32| {
        let (mut stuck, mut sum) = (0, 0);
        for ([a, b], weight) in ROLLS {
            let run = if a == b {
                a * (1..=4).take_while(|&k| open(mask, k * a)).count() as u8
            } else if open(mask, a + b) && (open(mask, a) || open(mask, b)) {
                a + b
            } else if open(mask, a) {
                a
            } else if open(mask, b) {
                b
            } else {
                0
            };
            stuck += if run == 0 { weight } else { 0 };
            sum += u32::from(run) * weight;
        }
        [stuck as u8, (sum / 6) as u8]
    };
    (0..1 << 12).map(entry).collect()
});

/// [`MOBILITY`] of a chequer on `point` (1 to 25).
fn mobility(blocked: u32, point: usize) -> (u16, u16) {
    // Moves the point just ahead to bit 63, then mirrors it to bit 0.
    let ahead = (u64::from(blocked) << 1 << (64 - point)).reverse_bits() as u32 & 0xfff;
    let [stuck, run] = MOBILITY[ahead as usize];
    (u16::from(stuck), u16::from(run))
}

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
use crate::bearoff::board::{BAR, CHEQUERS, Points, highest};
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
    /// First row of each slot.
    rows: Vec<u16>,
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
    /// The rows, in ascending order.
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
        let mut rows = Vec::with_capacity(slots.len());
        let mut next = 0;
        for slot in &slots {
            rows.push(next);
            next += slot.values;
        }
        let unit_count = slots.iter().map(Slot::units).sum();
        Layout {
            slots,
            rows,
            row_count: usize::from(next),
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

/// Encodes a board for the network of its class.
#[inline]
pub fn encode(board: &Board) -> (Class, Active) {
    let class = if board.contact() {
        Class::Contact
    } else {
        Class::Race
    };
    let layout = Layout::of(class);
    let mut active = Active {
        rows: [0; MAX_ROWS],
        len: 0,
    };
    let points = if class == Class::Contact { 25 } else { 24 };
    let sides = [board.on_roll(), board.opponent()];
    for (side, first) in sides.into_iter().zip([0, points * 16]) {
        for (i, &n) in side[..points].iter().enumerate() {
            if n > 0 {
                active.push((first + i * 16) as u16 + u16::from(n));
            }
        }
    }
    let pips = board.pips();
    let lead = (pips[0] as i32 - pips[1] as i32 + 128).clamp(0, 256) as u16;
    let mut slot = 2 * points;
    let mut put = |value: u16| {
        active.push(layout.rows[slot] + value);
        slot += 1;
    };
    match class {
        Class::Race => {
            let off = board.off();
            for value in [
                u16::from(off[0]),
                pips[0] as u16,
                u16::from(off[1]),
                pips[1] as u16,
            ] {
                put(value);
            }
        }
        Class::Contact => {
            let masks = sides.map(Masks::of);
            for (me, it) in [(0, 1), (1, 0)] {
                for value in side_values(sides[me], &masks[me], &masks[it], pips[me]) {
                    put(value);
                }
            }
        }
    }
    put(lead);
    (class, active)
}

/// Bit sets of one side: bit 0 its ace-point, bit 24 its bar.
struct Masks {
    held: u32,
    made: u32,
    last: usize,
}

impl Masks {
    fn of(side: &Points) -> Self {
        let (mut held, mut made) = (0u32, 0u32);
        for (i, &n) in side.iter().enumerate() {
            held |= u32::from(n > 0) << i;
            made |= u32::from(n > 1) << i;
        }
        Masks {
            held,
            made,
            last: highest(side),
        }
    }

    fn blots(&self) -> u32 {
        self.held & !self.made
    }
}

/// Points 1 to 24 as the other side numbers them.
fn mirrored(mask: u32) -> u32 {
    (mask << 8).reverse_bits() & 0xff_ffff
}

const HOME: u32 = 0x3f;

/// The values of [`SIDE`] for one side.
#[inline]
fn side_values(side: &Points, me: &Masks, it: &Masks, pips: u32) -> [u16; SIDE.len()] {
    let blocked = mirrored(it.made & 0xff_ffff);
    let blots = mirrored(it.blots() & 0xff_ffff);
    let total =
        |range: std::ops::Range<usize>| side[range].iter().map(|&n| u16::from(n)).sum::<u16>();
    let off = u16::from(CHEQUERS) - total(0..25);
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
        off,
        pips as u16,
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
        total(25 - it.last..25),
        ((me.made >> 18 & HOME).count_ones() as u16).min(5),
        total(0..3),
        total(0..12),
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
    let free = !blocked;
    let mut rolls = 0;
    for a in 1..=6 {
        // Doubles: chequers on the bar use up moves before any other moves.
        let mut from = if on_bar > 0 { bar } else { held };
        for step in 1..=4u8 {
            let to = from >> a & free;
            if to & blots != 0 {
                rolls += 1;
                break;
            }
            if to == 0 {
                break;
            }
            from = match step.cmp(&on_bar) {
                std::cmp::Ordering::Less => bar,
                std::cmp::Ordering::Equal => to | others,
                std::cmp::Ordering::Greater => to,
            };
        }
        for b in 1..a {
            let hit = match on_bar {
                0 => {
                    let via = (held >> a & free) >> b | (held >> b & free) >> a;
                    (held >> a | held >> b | via) & blots != 0
                }
                1 => {
                    let (first, second) = (bar >> a & free, bar >> b & free);
                    let after = |entered: u32, die: u32| {
                        entered != 0 && (entered | others) >> die & blots != 0
                    };
                    (first | second) & blots != 0 || after(first, b) || after(second, a)
                }
                _ => (bar >> a | bar >> b) & blots != 0,
            };
            rolls += 2 * u16::from(hit);
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

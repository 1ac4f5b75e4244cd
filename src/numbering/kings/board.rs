//! The geometry of an 8×8 board: squares, reflections, lines between squares.
//!
//! A square is `8·rank + file`, a1 = 0, h8 = 63; a set of squares is a `u64`
//! with bit `s` for square `s`.

use super::men::{Kind, Side};

/// Squares of file a.
pub const FILE_A: u64 = 0x0101_0101_0101_0101;
/// Squares of file h.
pub const FILE_H: u64 = FILE_A << 7;
/// Squares where a pawn may stand: ranks 2 to 7.
pub const PAWN_SQUARES: u64 = 0x00ff_ffff_ffff_ff00;

/// The set that holds only `square`.
#[inline(always)]
pub const fn bit(square: u8) -> u64 {
    1 << square
}

/// The squares of a set in ascending order.
#[inline(always)]
pub fn squares(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let square = set.trailing_zeros() as u8;
            set &= set - 1;
            square
        })
    })
}

/// A symmetry of the board, a vector of three bits applied in this order:
/// 1 mirrors the files (a ↔ h), 2 mirrors the ranks (1 ↔ 8), 4 swaps files
/// and ranks (a1–h8 stays).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reflection(pub u8);

impl Reflection {
    /// Files mirrored.
    pub const FILES: u8 = 1;
    /// Ranks mirrored.
    pub const RANKS: u8 = 2;
    /// Files and ranks swapped.
    pub const DIAGONAL: u8 = 4;

    /// The image of a square.
    #[inline(always)]
    pub const fn square(self, square: u8) -> u8 {
        let mut s = square;
        if self.0 & Self::FILES != 0 {
            s ^= 7;
        }
        if self.0 & Self::RANKS != 0 {
            s ^= 56;
        }
        if self.0 & Self::DIAGONAL != 0 {
            s = ((s & 7) << 3) | (s >> 3);
        }
        s
    }

    /// The set whose image is `set`.
    #[inline(always)]
    pub const fn preimage(self, set: u64) -> u64 {
        let mut b = set;
        if self.0 & Self::DIAGONAL != 0 {
            b = transpose(b);
        }
        if self.0 & Self::RANKS != 0 {
            b = b.swap_bytes();
        }
        if self.0 & Self::FILES != 0 {
            b = b.reverse_bits().swap_bytes();
        }
        b
    }
}

const fn transpose(mut b: u64) -> u64 {
    let t = 0x0f0f_0f0f_0000_0000 & (b ^ (b << 28));
    b ^= t ^ (t >> 28);
    let t = 0x3333_0000_3333_0000 & (b ^ (b << 14));
    b ^= t ^ (t >> 14);
    let t = 0x5500_5500_5500_5500 & (b ^ (b << 7));
    b ^ t ^ (t >> 7)
}

/// File and rank steps of the eight directions, straight ones first.
const DIRECTIONS: [(i8, i8); 8] = [
    (1, 0),
    (-1, 0),
    (0, 1),
    (0, -1),
    (1, 1),
    (-1, -1),
    (1, -1),
    (-1, 1),
];

const fn jumps(steps: [(i8, i8); 8]) -> [u64; 64] {
    let mut out = [0; 64];
    let mut s = 0;
    while s < 64 {
        let mut d = 0;
        while d < 8 {
            let file = (s % 8) as i8 + steps[d].0;
            let rank = (s / 8) as i8 + steps[d].1;
            if file >= 0 && file < 8 && rank >= 0 && rank < 8 {
                out[s] |= 1 << (rank * 8 + file);
            }
            d += 1;
        }
        s += 1;
    }
    out
}

/// Squares next to a square.
pub static KING: [u64; 64] = jumps(DIRECTIONS);
/// Squares a knight's jump away.
pub static KNIGHT: [u64; 64] = jumps([
    (1, 2),
    (2, 1),
    (2, -1),
    (1, -2),
    (-1, -2),
    (-2, -1),
    (-2, 1),
    (-1, 2),
]);

const fn rays() -> [[u64; 64]; 8] {
    let mut out = [[0; 64]; 8];
    let mut d = 0;
    while d < 8 {
        let mut s = 0;
        while s < 64 {
            let mut file = (s % 8) as i8 + DIRECTIONS[d].0;
            let mut rank = (s / 8) as i8 + DIRECTIONS[d].1;
            while file >= 0 && file < 8 && rank >= 0 && rank < 8 {
                out[d][s] |= 1 << (rank * 8 + file);
                file += DIRECTIONS[d].0;
                rank += DIRECTIONS[d].1;
            }
            s += 1;
        }
        d += 1;
    }
    out
}

static RAYS: [[u64; 64]; 8] = rays();

const fn between_table() -> [[u64; 64]; 64] {
    let rays = rays();
    let mut out = [[0; 64]; 64];
    let mut d = 0;
    while d < 8 {
        let mut s = 0;
        while s < 64 {
            let mut rest = rays[d][s];
            while rest != 0 {
                let t = rest.trailing_zeros() as usize;
                out[s][t] = rays[d][s] & !rays[d][t] & !(1 << t);
                rest &= rest - 1;
            }
            s += 1;
        }
        d += 1;
    }
    out
}

static BETWEEN: [[u64; 64]; 64] = between_table();

/// Squares strictly between two squares of one line; none when the two share
/// no line.
#[inline(always)]
pub fn between(a: u8, b: u8) -> u64 {
    BETWEEN[usize::from(a & 63)][usize::from(b & 63)]
}

/// Squares that a sliding man on `square` reaches with `occupied` in its way
/// (the first occupied square of each line included).
#[inline(always)]
fn slide(square: u8, occupied: u64, directions: std::ops::Range<usize>) -> u64 {
    let s = usize::from(square & 63);
    let mut reach = 0;
    for d in directions {
        let ray = RAYS[d][s];
        let hit = ray & occupied;
        reach |= if hit == 0 {
            ray
        } else if DIRECTIONS[d].1 * 8 + DIRECTIONS[d].0 > 0 {
            ray & !RAYS[d][hit.trailing_zeros() as usize]
        } else {
            ray & !RAYS[d][63 - hit.leading_zeros() as usize]
        };
    }
    reach
}

/// Squares that a man attacks, given all occupied squares.
#[inline(always)]
pub fn attacks(kind: Kind, side: Side, square: u8, occupied: u64) -> u64 {
    match kind {
        Kind::King => KING[usize::from(square & 63)],
        Kind::Knight => KNIGHT[usize::from(square & 63)],
        Kind::Rook => slide(square, occupied, 0..4),
        Kind::Bishop => slide(square, occupied, 4..8),
        Kind::Queen => slide(square, occupied, 0..8),
        Kind::Pawn => pawn_attacks(side, bit(square)),
    }
}

/// Squares attacked by pawns of `side` on the squares of `pawns`.
#[inline(always)]
pub const fn pawn_attacks(side: Side, pawns: u64) -> u64 {
    let (left, right) = (pawns & !FILE_A, pawns & !FILE_H);
    match side {
        Side::White => (left << 7) | (right << 9),
        Side::Black => (left >> 9) | (right >> 7),
    }
}

/// Squares from which a man of `kind` and `side` attacks `target`.
#[inline(always)]
pub fn attackers(kind: Kind, side: Side, target: u8, occupied: u64) -> u64 {
    attacks(
        kind,
        if kind == Kind::Pawn {
            side.other()
        } else {
            side
        },
        target,
        occupied,
    )
}

/// Empty squares from which some square of `goals` is reached in one move of a
/// man of `kind` (not a pawn) that passes only over squares of `empty`.
#[inline(always)]
pub fn spread(kind: Kind, goals: u64, empty: u64) -> u64 {
    match kind {
        Kind::Pawn => 0,
        Kind::King => {
            let row = ((goals & !FILE_H) << 1) | ((goals & !FILE_A) >> 1);
            let three = row | goals;
            (row | (three << 8) | (three >> 8)) & empty
        }
        Kind::Knight => {
            let one = ((goals & !FILE_H) << 1) | ((goals & !FILE_A) >> 1);
            let two =
                ((goals & !(FILE_H | FILE_H >> 1)) << 2) | ((goals & !(FILE_A | FILE_A << 1)) >> 2);
            ((one << 16) | (one >> 16) | (two << 8) | (two >> 8)) & empty
        }
        Kind::Rook => straight(goals, empty) & empty,
        Kind::Bishop => oblique(goals, empty) & empty,
        Kind::Queen => (straight(goals, empty) | oblique(goals, empty)) & empty,
    }
}

/// Fills from `goals` by `SHIFT` (left when `LEFT`) over `empty` squares of
/// `keep` (the squares that a step may enter), then steps once more.
#[inline(always)]
fn fill<const SHIFT: u32, const LEFT: bool>(goals: u64, empty: u64, keep: u64) -> u64 {
    let step = |b: u64, times: u32| {
        if LEFT {
            b << (SHIFT * times)
        } else {
            b >> (SHIFT * times)
        }
    };
    let mut through = empty & keep;
    let mut reach = goals;
    reach |= through & step(reach, 1);
    through &= step(through, 1);
    reach |= through & step(reach, 2);
    through &= step(through, 2);
    reach |= through & step(reach, 4);
    step(reach, 1) & keep
}

#[inline(always)]
fn straight(goals: u64, empty: u64) -> u64 {
    fill::<8, true>(goals, empty, !0)
        | fill::<8, false>(goals, empty, !0)
        | fill::<1, true>(goals, empty, !FILE_A)
        | fill::<1, false>(goals, empty, !FILE_H)
}

#[inline(always)]
fn oblique(goals: u64, empty: u64) -> u64 {
    fill::<9, true>(goals, empty, !FILE_A)
        | fill::<9, false>(goals, empty, !FILE_H)
        | fill::<7, true>(goals, empty, !FILE_H)
        | fill::<7, false>(goals, empty, !FILE_A)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reflections_of_sets_and_squares_agree() {
        for r in 0..8 {
            let r = Reflection(r);
            for s in 0..64u8 {
                assert_eq!(r.preimage(bit(r.square(s))), bit(s));
            }
        }
    }

    #[test]
    fn spreading_is_moving_backwards() {
        let mut x = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..2000 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            let occupied = x & x.rotate_left(23);
            let goals = x.rotate_left(41) & x.rotate_left(5) & !occupied;
            for kind in [
                Kind::King,
                Kind::Queen,
                Kind::Rook,
                Kind::Bishop,
                Kind::Knight,
            ] {
                let expected = squares(!occupied)
                    .filter(|&s| attacks(kind, Side::White, s, occupied) & goals != 0)
                    .fold(0, |set, s| set | bit(s));
                assert_eq!(spread(kind, goals, !occupied), expected, "{kind:?}");
            }
        }
    }
}

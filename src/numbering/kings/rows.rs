//! What is known of a row of numbers: the placements of the last man with all
//! others fixed, a slot for each of the 64 squares.
//!
//! Which squares stand for positions, which of them resemble each other, and
//! which the last man's moves connect, follows from the geometry of the men.

use super::board::{KING, PAWN_SQUARES, Reflection, attackers, attacks, between, bit, squares};
use super::men::{Kind, Man, Side};
use super::segments::Symmetry;
use super::{Kings, Placement, canonical};
use crate::codec::{Plan, Row, Rows};

/// The fixed men of a row.
struct Fixed<'a> {
    men: &'a [Man],
    placement: Placement,
    occupied: u64,
}

impl Fixed<'_> {
    fn last(&self) -> Man {
        self.men[self.men.len() - 1]
    }

    /// The men but the last, with their squares.
    fn others(&self) -> impl Iterator<Item = (Man, u8)> + '_ {
        let n = self.men.len() - 1;
        self.men[..n].iter().copied().zip(self.placement.men)
    }

    /// The slots for which `by` attacks `target`, kings left out.
    fn attacked(&self, by: Side, target: u8) -> u64 {
        let mut slots = 0;
        for (man, square) in self.others() {
            if man.side == by && attacks(man.kind, by, square, self.occupied) & bit(target) != 0 {
                slots |= !between(square, target);
            }
        }
        let last = self.last();
        if last.side == by {
            slots |= attackers(last.kind, by, target, self.occupied);
        }
        slots
    }

    /// The slots that stand for positions, whoever is to move: no square taken
    /// twice, and the placement its own canonical image.
    fn distinct(&self) -> u64 {
        let last = self.last();
        let mut slots = !self.occupied;
        if last.kind == Kind::Pawn {
            slots &= PAWN_SQUARES;
        }
        let mut p = self.placement;
        let n = self.men.len() - 1;
        if n > 0 && self.men[n - 1] == last {
            // Like men in ascending order.
            slots &= !1 << p.men[n - 1];
        }
        let level = |s: u8| (s >> 3) == (s & 7);
        let pawns = self.men[0].squares() == 48;
        if !pawns && p.kings.iter().all(|&k| level(k)) {
            let own = |slot: &u8| {
                p.men[n] = *slot;
                canonical(self.men, &p) == Some(p)
            };
            return squares(slots).filter(own).fold(0, |set, s| set | bit(s));
        }
        slots
    }

    /// The slots where `side` to move can capture a man, roughly: without
    /// regard to pins.
    fn captures(&self, side: Side) -> u64 {
        let other = side.other();
        let own_king = KING[usize::from(self.placement.kings[side.index()])];
        let their_king = KING[usize::from(self.placement.kings[other.index()])];
        let mut slots = 0;
        for (man, square) in self.others() {
            if man.side == side {
                continue;
            }
            slots |= self.attacked(side, square);
            if own_king & !their_king & bit(square) != 0 {
                slots |= !self.attacked(other, square);
            }
        }
        if self.last().side != side {
            let (mut reach, mut guarded) = (0, their_king);
            for (man, square) in self.others() {
                let attacked = attacks(man.kind, man.side, square, self.occupied);
                if man.side == side {
                    reach |= attacked
                } else {
                    guarded |= attacked
                }
            }
            slots |= reach | own_king & !guarded;
        }
        slots
    }
}

impl Rows for Kings {
    fn slots(&self) -> std::ops::Range<usize> {
        match self.men.last() {
            Some(man) if man.kind == Kind::Pawn => 8..56,
            _ => 0..64,
        }
    }

    fn first_value(&self) -> usize {
        let last = self.men[self.men.len() - 1];
        match self.sides.list() {
            [_, _] => last.side.other().index(),
            _ => 0,
        }
    }

    fn row(&self, first: u64) -> Row {
        let mut row = Row::default();
        let Some(placement) = self.placement(first) else {
            return row;
        };
        let n = self.men.len() - 1;
        let mut occupied = bit(placement.kings[0]) | bit(placement.kings[1]);
        for (i, &square) in placement.men.iter().enumerate().take(n) {
            if occupied & bit(square) != 0 {
                return row;
            }
            occupied |= bit(square);
            if i > 0 && self.men[i] == self.men[i - 1] && square < placement.men[i - 1] {
                return row;
            }
        }
        let above = |s: u8| (s >> 3) > (s & 7);
        if self.symmetry == Symmetry::Triangle
            && Reflection(Reflection::DIAGONAL).square(placement.kings[0]) == placement.kings[0]
            && above(placement.kings[1])
        {
            return row;
        }
        let fixed = Fixed {
            men: &self.men,
            placement,
            occupied,
        };
        row.blocked = occupied;
        let distinct = fixed.distinct();
        for (value, &side) in self.sides.list().iter().enumerate() {
            let king = placement.kings[side.other().index()];
            row.present[value] = distinct & !fixed.attacked(side, king);
            let own = placement.kings[side.index()];
            row.hints[value] = [fixed.attacked(side.other(), own), fixed.captures(side)];
        }
        row
    }

    fn outlook(&self, row: &Row, values: &[i16; 64]) -> Option<[i16; 64]> {
        let last = self.men[self.men.len() - 1];
        let mut least = Board([[i16::MAX; 8]; 8]);
        let from = Board::new(values);
        let walls = Board::walls(row.blocked);
        let (straight, oblique) = match last.kind {
            Kind::Queen => (true, true),
            Kind::Rook => (true, false),
            Kind::Bishop => (false, true),
            Kind::Knight => {
                least.jumps(&from);
                return Some(least.list());
            }
            Kind::King | Kind::Pawn => return None,
        };
        if straight {
            least.lines::<0>(&from, &walls);
            let mut turned = Board([[i16::MAX; 8]; 8]);
            turned.lines::<0>(&from.transposed(), &walls.transposed());
            least.and(&turned.transposed());
        }
        if oblique {
            least.lines::<1>(&from, &walls);
            least.lines::<-1>(&from, &walls);
        }
        Some(least.list())
    }
}

impl Plan for Kings {
    fn rows(&self) -> Option<&dyn Rows> {
        Some(self)
    }
}

/// Values by rank and file; whole ranks are handled at once.
#[derive(Clone, Copy)]
struct Board([[i16; 8]; 8]);

impl Board {
    fn new(values: &[i16; 64]) -> Self {
        let mut board = Board([[0; 8]; 8]);
        for (rank, row) in board.0.iter_mut().zip(values.chunks_exact(8)) {
            rank.copy_from_slice(row);
        }
        board
    }

    fn list(&self) -> [i16; 64] {
        let mut out = [0; 64];
        for (row, rank) in out.chunks_exact_mut(8).zip(&self.0) {
            row.copy_from_slice(rank);
        }
        out
    }

    /// The greatest value on blocked squares, the least elsewhere.
    fn walls(blocked: u64) -> Self {
        let mut board = Board([[i16::MIN; 8]; 8]);
        for s in squares(blocked) {
            board.0[usize::from(s >> 3)][usize::from(s & 7)] = i16::MAX;
        }
        board
    }

    #[inline]
    fn transposed(&self) -> Self {
        let mut out = Board([[0; 8]; 8]);
        for r in 0..8 {
            for f in 0..8 {
                out.0[f][r] = self.0[r][f];
            }
        }
        out
    }

    #[inline]
    fn and(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a = least(a, b);
        }
    }

    /// Takes the least value along the lines that leave each square with
    /// `TURN` files a rank, in both directions, up to a wall.
    #[inline]
    fn lines<const TURN: i32>(&mut self, from: &Self, walls: &Self) {
        let (mut up, mut down) = ([i16::MAX; 8], [i16::MAX; 8]);
        for i in 0..7 {
            // Seen from rank 6 − i upwards, and from rank i + 1 downwards.
            up = shift::<TURN>(&beyond(&up, &from.0[7 - i], &walls.0[7 - i]));
            self.0[6 - i] = least(&self.0[6 - i], &up);
            down = match TURN {
                1 => shift::<-1>(&beyond(&down, &from.0[i], &walls.0[i])),
                -1 => shift::<1>(&beyond(&down, &from.0[i], &walls.0[i])),
                _ => beyond(&down, &from.0[i], &walls.0[i]),
            };
            self.0[i + 1] = least(&self.0[i + 1], &down);
        }
    }

    #[inline]
    fn jumps(&mut self, from: &Self) {
        for r in 0..8 {
            for (step, far) in [(-2i32, false), (-1, true), (1, true), (2, false)] {
                let Some(rank) = usize::try_from(r as i32 + step)
                    .ok()
                    .and_then(|r| from.0.get(r))
                else {
                    continue;
                };
                let (mut left, mut right) = (shift::<1>(rank), shift::<-1>(rank));
                if far {
                    (left, right) = (shift::<1>(&left), shift::<-1>(&right));
                }
                self.0[r] = least(&self.0[r], &least(&left, &right));
            }
        }
    }
}

#[inline(always)]
fn least(a: &[i16; 8], b: &[i16; 8]) -> [i16; 8] {
    std::array::from_fn(|i| a[i].min(b[i]))
}

/// What is seen past a rank: itself and what is behind, or nothing at a wall.
#[inline(always)]
fn beyond(behind: &[i16; 8], rank: &[i16; 8], wall: &[i16; 8]) -> [i16; 8] {
    std::array::from_fn(|i| behind[i].min(rank[i]).max(wall[i]))
}

/// The rank as seen from squares `BY` files to the left (from the right when
/// negative).
#[inline(always)]
fn shift<const BY: i32>(rank: &[i16; 8]) -> [i16; 8] {
    std::array::from_fn(|i| {
        let j = i as i32 + BY;
        if (0..8).contains(&j) {
            rank[j as usize]
        } else {
            i16::MAX
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::Sides;
    use super::super::men::Material;
    use super::*;

    #[test]
    fn the_outlook_is_the_least_value_that_a_move_reaches() {
        for name in ["KQvKR", "KRvKP", "KBvKN", "KNNvK"] {
            let kings = Kings::new(&Material::parse(name).unwrap(), Sides::Both, true).unwrap();
            let kind = kings.men.last().unwrap().kind;
            let mut x = 7u64;
            for first in (0..u64::MAX)
                .step_by(64 * 1013)
                .take_while(|&f| f < kings.segments.len() as u64 * kings.per_segment)
            {
                let row = kings.row(first);
                let values: [i16; 64] = std::array::from_fn(|s| {
                    x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let blocked = row.blocked >> s & 1 != 0;
                    if blocked { i16::MAX } else { (x >> 50) as i16 }
                });
                let outlook = kings.outlook(&row, &values).unwrap();
                for s in 0..64 {
                    let reached = attacks(kind, Side::White, s, row.blocked) & !row.blocked;
                    let least = squares(reached).map(|t| values[usize::from(t)]).min();
                    assert_eq!(
                        outlook[usize::from(s)],
                        least.unwrap_or(i16::MAX),
                        "{name} {first} {s}"
                    );
                }
            }
        }
    }
}

//! The men of a position as a number, under which its table is found.

use std::hash::Hasher;

use super::position::Position;
use super::{Kind, Material, Side};
use crate::numbering::kings::board::squares;

/// Spreads numbers of few bits over a hash table.
#[derive(Default)]
pub(super) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, n: u64) {
        let mixed = (self.0 ^ n ^ n >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// How many men of each kind the sides have, as a number for each side that is
/// the greater the more men, and of as many the stronger ones, it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signature {
    white: u32,
    black: u32,
}

impl Signature {
    fn of(count: impl Fn(Side, Kind) -> u32) -> Self {
        let side = |side| {
            let (mut men, mut kinds) = (0, 0);
            for kind in Kind::MEN {
                let n = count(side, kind);
                men += n;
                kinds = kinds << 3 | n;
            }
            men << 15 | kinds
        };
        Signature {
            white: side(Side::White),
            black: side(Side::Black),
        }
    }

    pub(super) fn of_position(position: &Position) -> Self {
        Self::of(|side, kind| {
            // There are few, so that this takes less than counting bits.
            squares(position.men(side, kind)).count() as u32
        })
    }

    pub(super) fn of_material(material: &Material) -> Self {
        Self::of(|side, kind| material.side(side).iter().filter(|&&k| k == kind).count() as u32)
    }

    /// Whether the table of these men has the colours exchanged; as
    /// [`Material::canonical`].
    pub(super) fn is_swapped(self) -> bool {
        self.black > self.white
    }

    pub(super) fn is_symmetric(self) -> bool {
        self.black == self.white
    }

    /// Names the table: the same with the colours exchanged.
    pub(super) fn key(self) -> u64 {
        u64::from(self.white.max(self.black)) << 32 | u64::from(self.white.min(self.black))
    }
}

//! A chess position: where the men stand, who moves, and what may be taken en
//! passant.

use std::fmt;

use crate::numbering::kings::MAX_OTHERS;
use crate::numbering::kings::Placement;
use crate::numbering::kings::board::{KING, PAWN_SQUARES, attacks, bit, pawn_attacks, squares};
use crate::numbering::kings::men::{Kind, Man, Material, Side};

/// A legal position without castling rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    pub(super) sides: [u64; 2],
    pub(super) kinds: [u64; 6],
    pub(super) mover: Side,
    /// The square that a pawn has just passed, when it can be taken there.
    pub(super) en_passant: Option<u8>,
}

/// What a position lacks to be legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault(pub(super) &'static str);

impl Position {
    /// An empty board.
    pub(super) fn empty(mover: Side) -> Self {
        Self {
            sides: [0; 2],
            kinds: [0; 6],
            mover,
            en_passant: None,
        }
    }

    /// Puts a man on an empty square.
    pub(super) fn put(&mut self, man: Man, square: u8) {
        self.sides[man.side.index()] |= bit(square);
        self.kinds[man.kind as usize] |= bit(square);
    }

    /// The position of a placement, when it is legal.
    pub fn from_placement(men: &[Man], placement: &Placement, mover: Side) -> Option<Self> {
        let mut position = Self::empty(mover);
        for side in Side::BOTH {
            position.put(
                Man {
                    side,
                    kind: Kind::King,
                },
                placement.kings[side.index()],
            );
        }
        for (&man, &square) in men.iter().zip(&placement.men) {
            position.put(man, square);
        }
        let taken = position.occupied().count_ones() as usize == men.len() + 2;
        (taken && position.fault().is_none()).then_some(position)
    }

    /// The side to move.
    pub fn mover(&self) -> Side {
        self.mover
    }

    /// All squares with a man.
    pub fn occupied(&self) -> u64 {
        self.sides[0] | self.sides[1]
    }

    /// The squares of one kind of men of a side.
    pub fn men(&self, side: Side, kind: Kind) -> u64 {
        self.sides[side.index()] & self.kinds[kind as usize]
    }

    /// The man on a square.
    pub fn man_at(&self, square: u8) -> Option<Man> {
        let side = Side::BOTH
            .into_iter()
            .find(|s| self.sides[s.index()] & bit(square) != 0)?;
        let kind = (0..6).find(|&k| self.kinds[k] & bit(square) != 0)?;
        let kinds = [
            Kind::King,
            Kind::Queen,
            Kind::Rook,
            Kind::Bishop,
            Kind::Knight,
            Kind::Pawn,
        ];
        Some(Man {
            side,
            kind: kinds[kind],
        })
    }

    pub(super) fn king(&self, side: Side) -> u8 {
        self.men(side, Kind::King).trailing_zeros() as u8
    }

    /// The material.
    pub(super) fn material(&self) -> crate::Result<Material> {
        let of = |side| -> Vec<Kind> {
            let kinds = Kind::MEN.into_iter();
            kinds
                .flat_map(|k| vec![k; self.men(side, k).count_ones() as usize])
                .collect()
        };
        Material::new(&of(Side::White), &of(Side::Black))
    }

    /// The placement with its men in the order of `men`, which is this
    /// position's material.
    pub(super) fn placement(&self, men: &[Man]) -> Placement {
        let mut placement = Placement {
            kings: Side::BOTH.map(|s| self.king(s)),
            men: [0; MAX_OTHERS],
        };
        let mut left = *self;
        for (square, man) in placement.men.iter_mut().zip(men) {
            let set = left.men(man.side, man.kind);
            *square = set.trailing_zeros() as u8 & 63;
            left.kinds[man.kind as usize] &= !(set & set.wrapping_neg());
        }
        placement
    }

    /// The position with the colours exchanged and the board turned over.
    pub(super) fn swapped(&self) -> Self {
        Self {
            sides: [self.sides[1].swap_bytes(), self.sides[0].swap_bytes()],
            kinds: self.kinds.map(u64::swap_bytes),
            mover: self.mover.other(),
            en_passant: self.en_passant.map(|s| s ^ 56),
        }
    }

    /// Whether `by` attacks `square`.
    pub(super) fn attacked(&self, by: Side, square: u8) -> bool {
        let occupied = self.occupied();
        let from = |kind| attacks(kind, by.other(), square, occupied) & self.men(by, kind) != 0;
        Kind::MEN.into_iter().any(from)
            || KING[usize::from(square & 63)] & self.men(by, Kind::King) != 0
    }

    /// Whether the side to move is in check.
    pub fn in_check(&self) -> bool {
        self.attacked(self.mover.other(), self.king(self.mover))
    }

    /// Why the position is not legal.
    pub(super) fn fault(&self) -> Option<Fault> {
        for side in Side::BOTH {
            if self.men(side, Kind::King).count_ones() != 1 {
                return Some(Fault("each side must have one king"));
            }
        }
        if self.kinds[Kind::Pawn as usize] & !PAWN_SQUARES != 0 {
            return Some(Fault("a pawn stands on the first or last rank"));
        }
        if self.attacked(self.mover, self.king(self.mover.other())) {
            return Some(Fault("the side that is not to move is in check"));
        }
        if let Some(passed) = self.en_passant {
            let pushed = self.mover.other();
            let (rank, to, from) = match pushed {
                Side::White => (2, passed.wrapping_add(8), passed.wrapping_sub(8)),
                Side::Black => (5, passed.wrapping_sub(8), passed.wrapping_add(8)),
            };
            let empty = (bit(passed) | bit(from & 63)) & self.occupied() == 0;
            if passed >> 3 != rank || !empty || self.men(pushed, Kind::Pawn) & bit(to & 63) == 0 {
                return Some(Fault(
                    "no pawn can have made the double step that en passant needs",
                ));
            }
        }
        None
    }
}

/// One legal move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// The square that the man leaves.
    pub from: u8,
    /// The square that it goes to.
    pub to: u8,
    /// What a pawn becomes on the last rank.
    pub promotion: Option<Kind>,
}

/// `e7e8q`, as chess engines write moves.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for s in [self.from, self.to] {
            write!(
                f,
                "{}{}",
                (b'a' + (s & 7)) as char,
                (b'1' + (s >> 3)) as char
            )?;
        }
        match self.promotion {
            Some(kind) => write!(f, "{}", kind.letter().to_ascii_lowercase()),
            None => Ok(()),
        }
    }
}

impl Position {
    /// All legal moves, in a fixed order, with the positions they lead to.
    pub fn moves(&self) -> Vec<(Move, Position)> {
        let mut out = Vec::with_capacity(32);
        let (side, own) = (self.mover, self.sides[self.mover.index()]);
        let theirs = self.sides[side.other().index()];
        let occupied = own | theirs;
        for from in squares(own) {
            let Some(man) = self.man_at(from) else {
                continue;
            };
            if man.kind != Kind::Pawn {
                for to in squares(attacks(man.kind, side, from, occupied) & !own) {
                    self.push(&mut out, man, from, to, None);
                }
                continue;
            }
            let ahead = |set: u64| match side {
                Side::White => set << 8,
                Side::Black => set >> 8,
            };
            let home = if side == Side::White {
                0xff00
            } else {
                0xff << 48
            };
            let one = ahead(bit(from)) & !occupied;
            let two = if bit(from) & home != 0 {
                ahead(one) & !occupied
            } else {
                0
            };
            let passed = self.en_passant.map_or(0, bit);
            let takes = pawn_attacks(side, bit(from)) & (theirs | passed);
            for to in squares(one | two | takes) {
                if bit(to) & PAWN_SQUARES == 0 {
                    for kind in Kind::PROMOTIONS {
                        self.push(&mut out, man, from, to, Some(kind));
                    }
                } else {
                    self.push(&mut out, man, from, to, None);
                }
            }
        }
        out
    }

    /// Plays a move and keeps it when it does not leave the king in check.
    fn push(
        &self,
        out: &mut Vec<(Move, Position)>,
        man: Man,
        from: u8,
        to: u8,
        promotion: Option<Kind>,
    ) {
        let mut after = *self;
        let other = man.side.other();
        let mut captured = bit(to);
        if man.kind == Kind::Pawn && Some(to) == self.en_passant {
            captured |= match man.side {
                Side::White => bit(to) >> 8,
                Side::Black => bit(to) << 8,
            };
        }
        after.sides[other.index()] &= !captured;
        after.sides[man.side.index()] &= !bit(from);
        after
            .kinds
            .iter_mut()
            .for_each(|k| *k &= !(captured | bit(from)));
        after.put(
            Man {
                kind: promotion.unwrap_or(man.kind),
                ..man
            },
            to,
        );
        after.mover = other;
        after.en_passant = None;
        if after.attacked(other, after.king(man.side)) {
            return;
        }
        if man.kind == Kind::Pawn && from.abs_diff(to) == 16 {
            after.en_passant = Some(from.midpoint(to));
            if !after.can_take_en_passant() {
                after.en_passant = None;
            }
        }
        out.push((
            Move {
                from,
                to,
                promotion,
            },
            after,
        ));
    }

    /// Whether some legal move takes en passant.
    pub(super) fn can_take_en_passant(&self) -> bool {
        self.en_passant.is_some_and(|passed| {
            let from =
                pawn_attacks(self.mover.other(), bit(passed)) & self.men(self.mover, Kind::Pawn);
            squares(from).any(|from| {
                let mut kept = Vec::new();
                let man = Man {
                    side: self.mover,
                    kind: Kind::Pawn,
                };
                self.push(&mut kept, man, from, passed, None);
                !kept.is_empty()
            })
        })
    }

    /// Whether a move takes en passant here.
    pub(super) fn takes_en_passant(&self, m: Move) -> bool {
        Some(m.to) == self.en_passant && self.men(self.mover, Kind::Pawn) & bit(m.from) != 0
    }
}

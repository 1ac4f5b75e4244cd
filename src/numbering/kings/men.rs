//! Kinds of men, and the material of an ending.

use crate::{Error, Result};

/// The colour of a man, or of the player to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// White, index 0.
    White,
    /// Black, index 1.
    Black,
}

impl Side {
    /// Both, White first.
    pub const BOTH: [Side; 2] = [Side::White, Side::Black];

    /// The opponent.
    #[inline(always)]
    pub const fn other(self) -> Side {
        match self {
            Side::White => Side::Black,
            Side::Black => Side::White,
        }
    }

    /// 0 for White, 1 for Black.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What a man is, the strongest first after the king.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    King,
    Queen,
    Rook,
    Bishop,
    Knight,
    Pawn,
}

impl Kind {
    /// All kinds but the king, the strongest first.
    pub const MEN: [Kind; 5] = [
        Kind::Queen,
        Kind::Rook,
        Kind::Bishop,
        Kind::Knight,
        Kind::Pawn,
    ];
    /// What a pawn may become.
    pub const PROMOTIONS: [Kind; 4] = [Kind::Queen, Kind::Rook, Kind::Bishop, Kind::Knight];

    /// The upper-case letter of English notation.
    pub const fn letter(self) -> char {
        match self {
            Kind::King => 'K',
            Kind::Queen => 'Q',
            Kind::Rook => 'R',
            Kind::Bishop => 'B',
            Kind::Knight => 'N',
            Kind::Pawn => 'P',
        }
    }

    /// The kind with this upper-case letter.
    pub const fn from_letter(letter: char) -> Option<Kind> {
        Some(match letter {
            'K' => Kind::King,
            'Q' => Kind::Queen,
            'R' => Kind::Rook,
            'B' => Kind::Bishop,
            'N' => Kind::Knight,
            'P' => Kind::Pawn,
            _ => return None,
        })
    }
}

/// One man: whose it is and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Man {
    /// Its colour.
    pub side: Side,
    /// Its kind.
    pub kind: Kind,
}

impl Man {
    /// The letter of FEN: upper case for White.
    pub fn letter(self) -> char {
        match self.side {
            Side::White => self.kind.letter(),
            Side::Black => self.kind.letter().to_ascii_lowercase(),
        }
    }

    /// The man with this letter of FEN.
    pub fn from_letter(letter: char) -> Option<Man> {
        let side = if letter.is_ascii_uppercase() {
            Side::White
        } else {
            Side::Black
        };
        Some(Man {
            side,
            kind: Kind::from_letter(letter.to_ascii_uppercase())?,
        })
    }

    /// The same man of the other colour.
    #[must_use]
    pub const fn recoloured(self) -> Man {
        Man {
            side: self.side.other(),
            kind: self.kind,
        }
    }

    /// How many squares it may stand on.
    pub const fn squares(self) -> u64 {
        if matches!(self.kind, Kind::Pawn) {
            48
        } else {
            64
        }
    }
}

/// The material of an ending: the men of both sides beside the two kings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Material {
    /// White's men, then Black's; of each side the strongest first.
    sides: [Vec<Kind>; 2],
}

impl Material {
    /// The most men that a material may have, kings included.
    pub const MAX_MEN: usize = 7;

    /// The material with these men; kings are implied and must not be given.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a king, or for more than seven men in all.
    pub fn new(white: &[Kind], black: &[Kind]) -> Result<Self> {
        if white.len() + black.len() + 2 > Self::MAX_MEN {
            return Err(Error::invalid(format!(
                "at most {} men, kings included; {} given",
                Self::MAX_MEN,
                white.len() + black.len() + 2
            )));
        }
        if white.iter().chain(black).any(|&k| k == Kind::King) {
            return Err(Error::invalid("each side has exactly one king"));
        }
        let mut sides = [white.to_vec(), black.to_vec()];
        sides.iter_mut().for_each(|s| s.sort_unstable());
        Ok(Self { sides })
    }

    /// Reads a name such as `KRPvKR`, `KRPKR` or `KRP-KR`.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it is no such name.
    pub fn parse(name: &str) -> Result<Self> {
        let bad = || {
            Error::invalid(format!(
                "\"{name}\" is not an ending; expected two kings with their men, such as KRPvKR"
            ))
        };
        let letters: Vec<char> = name
            .chars()
            .filter(|c| !matches!(c, 'v' | '-' | '_'))
            .collect();
        let kinds: Option<Vec<Kind>> = letters.iter().map(|&c| Kind::from_letter(c)).collect();
        let kinds = kinds.ok_or_else(bad)?;
        let mut parts = kinds.split(|&k| k == Kind::King);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some([]), Some(white), Some(black), None) => Self::new(white, black),
            _ => Err(bad()),
        }
    }

    /// White's or Black's men without the king, the strongest first.
    pub fn side(&self, side: Side) -> &[Kind] {
        &self.sides[side.index()]
    }

    /// How many men, kings included.
    pub fn men(&self) -> usize {
        2 + self.sides[0].len() + self.sides[1].len()
    }

    /// Whether either side has a pawn.
    pub fn has_pawns(&self) -> bool {
        self.sides.iter().any(|s| s.contains(&Kind::Pawn))
    }

    /// Whether both sides have a pawn, so that en passant can happen.
    pub fn en_passant(&self) -> bool {
        self.sides.iter().all(|s| s.contains(&Kind::Pawn))
    }

    /// Whether the two sides have the same men.
    pub fn is_symmetric(&self) -> bool {
        self.sides[0] == self.sides[1]
    }

    /// The same material with the colours exchanged.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let [white, black] = self.sides.clone();
        Self {
            sides: [black, white],
        }
    }

    /// The form that names tables, and whether the colours were exchanged for
    /// it: White has more men, or as many and the stronger ones.
    pub fn canonical(&self) -> (Self, bool) {
        let [white, black] = &self.sides;
        let swap = black.len() > white.len() || (black.len() == white.len() && black < white);
        if swap {
            (self.swapped(), true)
        } else {
            (self.clone(), false)
        }
    }

    /// The men beside the kings in the order in which a numbering counts them:
    /// pawns before pieces and stronger pieces later, so that the man with most
    /// mobility has neighbouring numbers for its squares.
    pub fn numbered_men(&self) -> Vec<Man> {
        let mut men: Vec<Man> = Side::BOTH
            .iter()
            .flat_map(|&side| self.side(side).iter().map(move |&kind| Man { side, kind }))
            .collect();
        men.sort_by_key(|m| (std::cmp::Reverse(m.kind), m.side));
        men
    }

    /// All canonical materials of `men` men, in a fixed order.
    pub fn all(men: usize) -> Vec<Self> {
        fn choose(count: usize, from: usize, chosen: &mut Vec<Kind>, out: &mut Vec<Vec<Kind>>) {
            if count == 0 {
                out.push(chosen.clone());
                return;
            }
            for k in from..Kind::MEN.len() {
                chosen.push(Kind::MEN[k]);
                choose(count - 1, k, chosen, out);
                chosen.pop();
            }
        }
        let mut all = Vec::new();
        let Some(others) = men.checked_sub(2).filter(|&n| n + 2 <= Self::MAX_MEN) else {
            return all;
        };
        for black in 0..=others / 2 {
            let (mut whites, mut blacks) = (Vec::new(), Vec::new());
            choose(others - black, 0, &mut Vec::new(), &mut whites);
            choose(black, 0, &mut Vec::new(), &mut blacks);
            for white in &whites {
                for black in &blacks {
                    let material = Self {
                        sides: [white.clone(), black.clone()],
                    };
                    if !material.canonical().1 {
                        all.push(material);
                    }
                }
            }
        }
        all
    }
}

impl std::fmt::Display for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("K")?;
        self.sides[0]
            .iter()
            .try_for_each(|k| write!(f, "{}", k.letter()))?;
        f.write_str("vK")?;
        self.sides[1]
            .iter()
            .try_for_each(|k| write!(f, "{}", k.letter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_made_canonical() {
        let m = Material::parse("KQvKBB").unwrap();
        let (canonical, swapped) = m.canonical();
        assert_eq!((canonical.to_string().as_str(), swapped), ("KBBvKQ", true));
        assert_eq!(Material::parse("KRPKR").unwrap().to_string(), "KRPvKR");
        for bad in ["", "K", "KQ", "KvKvK", "QKvK", "KXvK", "KQQQvKQQQ"] {
            assert!(Material::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn there_are_5_30_and_110_endings_of_3_4_and_5_men() {
        let counts: Vec<usize> = (2..=5).map(|n| Material::all(n).len()).collect();
        assert_eq!(counts, [1, 5, 30, 110]);
    }
}

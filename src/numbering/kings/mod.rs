//! `kings`: chess placements, numbered by the squares of the two kings first.
//!
//! A 64×64 table leads from the kings' squares to a segment of contiguous
//! numbers and to the reflections that bring the position there. Within a
//! segment each other man multiplies by its squares: 64, a pawn 48, the last
//! man fastest. Version 1 is this plan; [`Tight`] is version 2.

pub mod board;
pub mod men;
mod rows;
pub mod segments;
mod tight;

use board::Reflection;
use men::{Man, Material, Side};
use segments::{Segments, Symmetry};

use super::{Numbering, blame_file, required};
use crate::{Error, Properties, Result};

pub use tight::Tight;

/// Most men beside the kings.
pub const MAX_OTHERS: usize = Material::MAX_MEN - 2;

/// Squares of all men of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Placement {
    /// White's and Black's king.
    pub kings: [u8; 2],
    /// The other men in the numbering's order; what is behind them is 0.
    pub men: [u8; MAX_OTHERS],
}

/// The sides to move that a record holds values for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sides {
    /// White to move.
    White,
    /// Black to move.
    Black,
    /// White to move, then Black to move.
    Both,
}

impl Sides {
    /// The sides, in the order of a record's values.
    pub fn list(self) -> &'static [Side] {
        match self {
            Sides::White => &[Side::White],
            Sides::Black => &[Side::Black],
            Sides::Both => &Side::BOTH,
        }
    }

    fn code(self) -> u64 {
        match self {
            Sides::White => 1,
            Sides::Black => 2,
            Sides::Both => 3,
        }
    }

    fn from_code(code: u64) -> Result<Self> {
        match code {
            1 => Ok(Sides::White),
            2 => Ok(Sides::Black),
            3 => Ok(Sides::Both),
            _ => Err(Error::invalid(format!(
                "`sides` is {code}, 1 to 3 expected"
            ))),
        }
    }
}

/// Numbering `kings`, version 1.
#[derive(Debug, Clone)]
pub struct Kings {
    men: Vec<Man>,
    sides: Sides,
    symmetry: Symmetry,
    segments: &'static Segments,
    /// Numbers between neighbouring squares of each man.
    strides: [u64; MAX_OTHERS],
    per_segment: u64,
}

impl Kings {
    /// The name in the file.
    pub const NAME: &'static str = "kings";

    /// The numbering of a material. Without pawns there are 564 segments as
    /// planned, or 462 when `narrow`: those that a reflection at the long
    /// diagonal does not make equal to another. With pawns there are 1806.
    ///
    /// # Errors
    /// [`Error::Invalid`] for two bare kings.
    pub fn new(material: &Material, sides: Sides, narrow: bool) -> Result<Self> {
        let symmetry = match (material.has_pawns(), narrow) {
            (true, _) => Symmetry::Half,
            (false, false) => Symmetry::Triangle,
            (false, true) => Symmetry::TriangleTight,
        };
        Self::from_men(material.numbered_men(), sides, symmetry)
    }

    fn from_men(men: Vec<Man>, sides: Sides, symmetry: Symmetry) -> Result<Self> {
        if men.is_empty() || men.len() > MAX_OTHERS {
            return Err(Error::invalid(format!(
                "{} men beside the kings, 1 to {MAX_OTHERS} expected",
                men.len()
            )));
        }
        let mut strides = [0; MAX_OTHERS];
        let mut per_segment = 1;
        for (i, man) in men.iter().enumerate().rev() {
            strides[i] = per_segment;
            per_segment *= man.squares();
        }
        Ok(Self {
            men,
            sides,
            symmetry,
            segments: Segments::of(symmetry),
            strides,
            per_segment,
        })
    }

    /// From the parameters in a file.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for parameters that the numbering does not allow.
    pub fn from_params(params: &Properties) -> Result<Self> {
        let (men, sides) = men_and_sides(params)?;
        let segments = required(params, "segments")?;
        let pawns = men.iter().any(|m| m.squares() == 48);
        let symmetry = [Symmetry::Triangle, Symmetry::TriangleTight, Symmetry::Half]
            .into_iter()
            .find(|&s| Segments::of(s).len() as u64 == segments && pawns == (s == Symmetry::Half));
        let made = match symmetry {
            Some(symmetry) => Self::from_men(men, sides, symmetry),
            None => Err(Error::invalid(format!(
                "{segments} segments; 564 or 462 expected without pawns, 1806 with"
            ))),
        };
        blame_file(made)
    }

    /// The men beside the kings, in the order of [`Placement::men`].
    pub fn men(&self) -> &[Man] {
        &self.men
    }

    /// The sides to move that a record holds.
    pub fn sides(&self) -> Sides {
        self.sides
    }

    /// The number that stands for a placement and all its images; none when the
    /// kings touch or a pawn is on the first or last rank.
    pub fn number(&self, placement: &Placement) -> Option<u64> {
        let canonical = canonical(&self.men, placement)?;
        let entry = self.segments.find(canonical.kings[0], canonical.kings[1])?;
        let mut number = u64::from(entry.segment) * self.per_segment;
        for ((man, &square), stride) in self.men.iter().zip(&canonical.men).zip(self.strides) {
            let base = if man.squares() == 48 { 8 } else { 0 };
            let place = u64::from(square.checked_sub(base)?);
            if place >= man.squares() {
                return None;
            }
            number += place * stride;
        }
        Some(number)
    }

    /// The placement of a number; none behind the last. Men may share a square,
    /// and the number of the placement's image may be another: such numbers
    /// stand for no position.
    pub fn placement(&self, number: u64) -> Option<Placement> {
        let segment = usize::try_from(number / self.per_segment).ok()?;
        if segment >= self.segments.len() {
            return None;
        }
        let mut placement = Placement {
            kings: self.segments.kings(segment),
            men: [0; MAX_OTHERS],
        };
        let mut rest = number % self.per_segment;
        for ((man, square), stride) in self.men.iter().zip(&mut placement.men).zip(self.strides) {
            let base = if man.squares() == 48 { 8 } else { 0 };
            *square = (rest / stride) as u8 + base;
            rest %= stride;
        }
        Some(placement)
    }
}

/// The image that stands for a placement: the first king in its region, the
/// second not above the long diagonal when the first is on it, like men in
/// ascending order, and when both kings are on the diagonal the lesser of the
/// two reflections. None when the kings touch.
pub(super) fn canonical(men: &[Man], placement: &Placement) -> Option<Placement> {
    let pawns = men.iter().any(|m| m.squares() == 48);
    let symmetry = if pawns {
        Symmetry::Half
    } else {
        Symmetry::TriangleTight
    };
    let entry = Segments::of(symmetry).find(placement.kings[0], placement.kings[1])?;
    let image = reflected(men, placement, entry.reflection);
    let level = |s: u8| (s >> 3) == (s & 7);
    if !pawns && image.kings.iter().all(|&k| level(k)) {
        let other = reflected(men, &image, Reflection(Reflection::DIAGONAL));
        if other.men < image.men {
            return Some(other);
        }
    }
    Some(image)
}

/// The placement under a reflection, like men in ascending order.
fn reflected(men: &[Man], placement: &Placement, reflection: Reflection) -> Placement {
    let mut image = Placement {
        kings: placement.kings.map(|k| reflection.square(k)),
        men: [0; MAX_OTHERS],
    };
    let mut start = 0;
    for i in 0..men.len() {
        image.men[i] = reflection.square(placement.men[i]);
        if men[i] != men[start] {
            start = i;
        }
        let mut j = i;
        while j > start && image.men[j - 1] > image.men[j] {
            image.men.swap(j - 1, j);
            j -= 1;
        }
    }
    image
}

/// The parameters `men` and `sides` of a file.
fn men_and_sides(params: &Properties) -> Result<(Vec<Man>, Sides)> {
    let letters = params.text("men").unwrap_or_default();
    let men: Option<Vec<Man>> = letters.chars().map(Man::from_letter).collect();
    let men = men.filter(|m| m.len() <= MAX_OTHERS && m.iter().all(|m| m.kind != men::Kind::King));
    let men = men.ok_or_else(|| Error::invalid(format!("`men` is \"{letters}\"")));
    blame_file(men.and_then(|m| Ok((m, Sides::from_code(required(params, "sides")?)?))))
}

fn letters(men: &[Man]) -> String {
    men.iter().map(|m| m.letter()).collect()
}

impl Numbering for Kings {
    fn name(&self) -> &'static str {
        Kings::NAME
    }

    fn version(&self) -> u16 {
        1
    }

    fn params(&self) -> Properties {
        Properties::new()
            .with_text("men", letters(&self.men))
            .with("segments", self.segments.len() as u64)
            .with("sides", self.sides.code())
    }

    fn len(&self) -> u64 {
        self.segments.len() as u64 * self.per_segment
    }
}

#[cfg(test)]
mod tests;

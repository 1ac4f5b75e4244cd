//! `kings`, version 2 ("kings-tight"): like men unordered, men on different
//! squares, 462 segments without pawns.
//!
//! Within a segment each group of like men counts its sets of squares in colex
//! order, the first group slowest. Pawn squares (a2–h7) are counted without the
//! squares of earlier pawns, all other squares without those of the kings and of
//! every earlier man.

use super::board::{PAWN_SQUARES, bit, squares};
use super::men::{Man, Material};
use super::segments::{Segments, Symmetry};
use super::{MAX_OTHERS, Numbering, Placement, Sides, canonical, letters, men_and_sides};
use crate::codec::Plan;
use crate::{Error, Properties, Result};

/// Numbering `kings`, version 2.
#[derive(Debug, Clone)]
pub struct Tight {
    men: Vec<Man>,
    sides: Sides,
    segments: &'static Segments,
    groups: Vec<Group>,
    per_segment: u64,
}

/// Like men: where they begin, how many, and how many sets of squares.
#[derive(Debug, Clone)]
struct Group {
    start: usize,
    count: usize,
    sets: u64,
}

/// C(n, k) for k up to [`MAX_OTHERS`] and n up to 64.
fn choose(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| {
        if i < n {
            product * (n - i) / (i + 1)
        } else {
            0
        }
    })
}

impl Tight {
    /// The numbering of a material.
    ///
    /// # Errors
    /// [`Error::Invalid`] for two bare kings.
    pub fn new(material: &Material, sides: Sides) -> Result<Self> {
        Self::from_men(material.numbered_men(), sides)
    }

    fn from_men(men: Vec<Man>, sides: Sides) -> Result<Self> {
        if men.is_empty() || men.len() > MAX_OTHERS || !men.is_sorted_by_key(|m| m.squares()) {
            return Err(Error::invalid(
                "1 to 5 men beside the kings expected, pawns first",
            ));
        }
        let pawns = men[0].squares() == 48;
        let symmetry = if pawns {
            Symmetry::Half
        } else {
            Symmetry::TriangleTight
        };
        let mut groups: Vec<Group> = Vec::new();
        for (i, man) in men.iter().enumerate() {
            match groups.last_mut().filter(|g| men[g.start] == *man) {
                Some(group) => group.count += 1,
                None => groups.push(Group {
                    start: i,
                    count: 1,
                    sets: 0,
                }),
            }
        }
        for group in &mut groups {
            let free = men[group.start].squares()
                - group.start as u64
                - if men[group.start].squares() == 64 {
                    2
                } else {
                    0
                };
            group.sets = choose(free, group.count as u64);
        }
        let per_segment = groups.iter().map(|g| g.sets).product();
        Ok(Self {
            men,
            sides,
            segments: Segments::of(symmetry),
            groups,
            per_segment,
        })
    }

    /// From the parameters in a file.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for parameters that the numbering does not allow.
    pub fn from_params(params: &Properties) -> Result<Self> {
        let (men, sides) = men_and_sides(params)?;
        super::blame_file(Self::from_men(men, sides))
    }

    /// The men beside the kings, in the order of [`Placement::men`].
    pub fn men(&self) -> &[Man] {
        &self.men
    }

    /// The sides to move that a record holds.
    pub fn sides(&self) -> Sides {
        self.sides
    }

    /// The squares that a group's men may stand on.
    fn free(&self, group: &Group, kings: [u8; 2], taken: u64) -> u64 {
        if self.men[group.start].squares() == 48 {
            PAWN_SQUARES & !taken
        } else {
            !(taken | bit(kings[0]) | bit(kings[1]))
        }
    }

    /// The number that stands for a placement and all its images; none when two
    /// men share a square, the kings touch or a pawn is on a last rank.
    pub fn number(&self, placement: &Placement) -> Option<u64> {
        let p = canonical(&self.men, placement)?;
        let entry = self.segments.find(p.kings[0], p.kings[1])?;
        let mut number = u64::from(entry.segment);
        let mut taken = 0;
        for group in &self.groups {
            let free = self.free(group, p.kings, taken);
            let mut rank = 0;
            for k in 0..group.count {
                let square = bit(p.men[group.start + k]);
                if square & free & !taken == 0 || square & (bit(p.kings[0]) | bit(p.kings[1])) != 0
                {
                    return None;
                }
                taken |= square;
                rank += choose(u64::from((free & (square - 1)).count_ones()), k as u64 + 1);
            }
            number = number * group.sets + rank;
        }
        Some(number)
    }

    /// The placement of a number; none behind the last. Where a king stands on a
    /// pawn's square, or where the placement's image has another number, the
    /// number stands for no position.
    pub fn placement(&self, number: u64) -> Option<Placement> {
        let segment = usize::try_from(number / self.per_segment).ok()?;
        if segment >= self.segments.len() {
            return None;
        }
        let kings = self.segments.kings(segment);
        let mut p = Placement {
            kings,
            men: [0; MAX_OTHERS],
        };
        let mut rest = number % self.per_segment;
        let mut below = self.per_segment;
        let mut taken = 0;
        for group in &self.groups {
            below /= group.sets;
            let mut rank = rest / below;
            rest %= below;
            let free: Vec<u8> = squares(self.free(group, kings, taken)).collect();
            for k in (0..group.count).rev() {
                // The greatest square whose count of sets below is not above the rank.
                let place = (k..free.len())
                    .rev()
                    .find(|&n| choose(n as u64, k as u64 + 1) <= rank)?;
                rank -= choose(place as u64, k as u64 + 1);
                p.men[group.start + k] = free[place];
            }
            for k in 0..group.count {
                taken |= bit(p.men[group.start + k]);
            }
        }
        Some(p)
    }
}

impl Plan for Tight {}

impl Numbering for Tight {
    fn name(&self) -> &'static str {
        super::Kings::NAME
    }

    fn version(&self) -> u16 {
        2
    }

    fn params(&self) -> Properties {
        Properties::new()
            .with_text("men", letters(&self.men))
            .with("sides", self.sides.code())
    }

    fn len(&self) -> u64 {
        self.segments.len() as u64 * self.per_segment
    }
}

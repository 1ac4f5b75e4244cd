//! One open table of an ending: from a placement to its number and value.

use super::position::Position;
use super::store::Coding;
use super::{Material, Score, Side};
use crate::numbering::kings::{Kings, Placement, Sides, Tight};
use crate::table::Reader;
use crate::{Error, Result};

/// A number of either version of the numbering.
#[derive(Debug)]
enum Numbers {
    Plain(Kings),
    Tight(Tight),
}

impl Numbers {
    fn number(&self, placement: &Placement) -> Option<u64> {
        match self {
            Numbers::Plain(n) => n.number(placement),
            Numbers::Tight(n) => n.number(placement),
        }
    }

    fn sides(&self) -> Sides {
        match self {
            Numbers::Plain(n) => n.sides(),
            Numbers::Tight(n) => n.sides(),
        }
    }

    fn men(&self) -> &[super::Man] {
        match self {
            Numbers::Plain(n) => n.men(),
            Numbers::Tight(n) => n.men(),
        }
    }

    fn placement(&self, number: u64) -> Option<Placement> {
        match self {
            Numbers::Plain(n) => n.placement(number),
            Numbers::Tight(n) => n.placement(number),
        }
    }
}

/// One open table of an ending.
#[derive(Debug)]
pub struct Table {
    reader: Reader,
    numbers: Numbers,
    /// By value of a record.
    codings: Vec<Coding>,
}

impl Table {
    /// Takes an open table for one of a chess ending.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when its numbering is another; [`Error::Corrupt`]
    /// when its fields are no distances to mate.
    pub fn new(reader: Reader) -> Result<Self> {
        let id = &reader.schema().numbering;
        let numbers = match (id.name.as_str(), id.version) {
            (Kings::NAME, 1) => Numbers::Plain(Kings::from_params(&id.params)?),
            (Kings::NAME, 2) => Numbers::Tight(Tight::from_params(&id.params)?),
            (name, version) => {
                return Err(Error::unsupported(format!(
                    "numbering `{name}` version {version}; a chess table has `kings` 1 or 2"
                )));
            }
        };
        let fields = reader.schema().columns.iter().flat_map(|c| &c.fields);
        let codings = fields.map(Coding::of_field).collect::<Result<Vec<_>>>()?;
        if codings.len() != numbers.sides().list().len() {
            return Err(Error::corrupt(
                "K-3",
                format!(
                    "{} fields, one for each side to move expected",
                    codings.len()
                ),
            ));
        }
        Ok(Self {
            reader,
            numbers,
            codings,
        })
    }

    /// The table itself.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The men beside the kings, in the numbering's order.
    pub fn men(&self) -> &[super::Man] {
        self.numbers.men()
    }

    /// The material.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a numbering with too many men.
    pub fn material(&self) -> Result<Material> {
        let of = |side| -> Vec<super::Kind> {
            self.men()
                .iter()
                .filter(|m| m.side == side)
                .map(|m| m.kind)
                .collect()
        };
        Material::new(&of(Side::White), &of(Side::Black))
    }

    /// The sides to move that are stored.
    pub fn sides(&self) -> &'static [Side] {
        self.numbers.sides().list()
    }

    /// The placement of a number.
    pub fn placement(&self, number: u64) -> Option<Placement> {
        self.numbers.placement(number)
    }

    /// The number of a placement.
    pub fn number(&self, placement: &Placement) -> Option<u64> {
        self.numbers.number(placement)
    }

    /// What the raw values with `side` to move mean; none when it is not stored.
    pub fn coding(&self, side: Side) -> Option<Coding> {
        let value = self.sides().iter().position(|&s| s == side)?;
        self.codings.get(value).copied()
    }

    /// Where the score of a position of this material is, en passant left out;
    /// none when its side to move is not stored.
    #[inline]
    pub(super) fn place(&self, position: &Position) -> Result<Option<Place>> {
        let Some(value) = self.sides().iter().position(|&s| s == position.mover) else {
            return Ok(None);
        };
        let placement = position.placement(self.men());
        let number = self.numbers.number(&placement);
        let number = number.ok_or_else(|| missing(position))?;
        Ok(Some(Place { number, value }))
    }

    /// The score at a place.
    #[inline]
    pub(super) fn score(&self, place: Place, position: &Position) -> Result<Score> {
        let raw = self.reader.get_value(place.number, place.value)?;
        self.meaning(raw, place, position)
    }

    /// The scores at some places, with their positions; each block is decoded
    /// once, past the cache.
    pub(super) fn scores<'a>(
        &self,
        places: impl Iterator<Item = (Place, &'a Position)> + Clone,
    ) -> Result<Vec<Score>> {
        let numbers: Vec<u64> = places.clone().map(|(place, _)| place.number).collect();
        let width = self.codings.len();
        let mut records = vec![0; numbers.len() * width];
        self.reader.get_batch(&numbers, &mut records)?;
        let records = records.chunks_exact(width.max(1));
        let read = records.zip(places).map(|(record, (place, position))| {
            let raw = record.get(place.value).copied().unwrap_or(0);
            self.meaning(raw, place, position)
        });
        read.collect()
    }

    #[inline]
    fn meaning(&self, raw: u32, place: Place, position: &Position) -> Result<Score> {
        let coding = self.codings.get(place.value);
        let score = coding.map_or(Score::ILLEGAL, |c| c.score(raw));
        match score.is_legal() {
            true => Ok(score),
            false => Err(missing(position)),
        }
    }
}

/// Where a score is in a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    number: u64,
    /// Which value of the record.
    value: usize,
}

#[cold]
fn missing(position: &Position) -> Error {
    Error::corrupt("K-5", format!("no value for the legal position {position}"))
}

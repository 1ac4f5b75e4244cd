//! Finished endings as tables: what the raw values mean, and their records.

use super::generate::Working;
use super::{Material, Score, Side};
use crate::codec::Rows;
use crate::format::{CodecId, Column, Field, NumberingId, Schema};
use crate::numbering::Numbering;
use crate::numbering::kings::{Kings, Placement, Sides};
use crate::table::Records;
use crate::{Error, Properties, Result};

/// What the raw values of one side to move mean.
///
/// They ascend by preference: 0 stands for no position, 1 to `losses` for being
/// mated in 0, 2, 4, … plies, then comes the draw, then `wins` values for mating
/// in 2·`wins` − 1, …, 3, 1 plies. The side that mates plays the last ply, so
/// that wins take an odd and losses an even number of plies and neither needs a
/// value for the other's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coding {
    /// Values for losses.
    pub losses: u16,
    /// Values for wins.
    pub wins: u16,
}

impl Coding {
    /// The greatest raw value.
    pub fn most(self) -> u32 {
        u32::from(self.losses) + 1 + u32::from(self.wins)
    }

    /// The raw value of a score, 0 for what is no position.
    pub fn raw(self, score: Score) -> u32 {
        match score.plies() {
            None if !score.is_legal() => 0,
            None => u32::from(self.losses) + 1,
            Some(plies) if score.is_loss() => 1 + u32::from(plies / 2),
            Some(plies) => self.most() - u32::from(plies / 2),
        }
    }

    /// The score of a raw value; [`Score::ILLEGAL`] for 0 and for more than
    /// [`Coding::most`].
    pub fn score(self, raw: u32) -> Score {
        let draw = u32::from(self.losses) + 1;
        if raw == 0 || raw > self.most() {
            Score::ILLEGAL
        } else if raw < draw {
            Score::loss(2 * (raw - 1) as u16)
        } else if raw == draw {
            Score::DRAW
        } else {
            Score::win(2 * (self.most() - raw) as u16 + 1)
        }
    }

    fn field(self, side: Side) -> Field {
        let name = match side {
            Side::White => "white_to_move",
            Side::Black => "black_to_move",
        };
        let mut field = Field::unsigned(name, 1, self.most(), "ply", 1);
        field.properties = Properties::new()
            .with_text("metric", "dtm")
            .with_text("unit", "ply")
            .with("none", 0)
            .with("losses", u64::from(self.losses))
            .with("draw", u64::from(self.losses) + 1)
            .with("wins", u64::from(self.wins));
        field
    }

    /// The coding that a table's field states.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it states none.
    pub fn of_field(field: &Field) -> Result<Self> {
        let of = |key| {
            field
                .properties
                .unsigned(key)
                .and_then(|v| u16::try_from(v).ok())
        };
        match (field.properties.text("metric"), of("losses"), of("wins")) {
            (Some("dtm"), Some(losses), Some(wins)) if losses < 8000 && wins < 8000 => {
                Ok(Coding { losses, wins })
            }
            _ => Err(Error::corrupt(
                "K-3",
                format!("field `{}` states no distance to mate", field.name),
            )),
        }
    }
}

/// An ending's records in the order of its table's numbers.
#[derive(Debug)]
pub struct Ending<'a> {
    working: &'a Working,
    kings: Kings,
    codings: [Coding; 2],
}

impl<'a> Ending<'a> {
    /// The records of a finished ending, with these sides to move.
    ///
    /// # Errors
    /// [`Error::Invalid`] for two bare kings.
    pub fn new(working: &'a Working, sides: Sides) -> Result<Self> {
        let kings = Kings::new(working.material(), sides, true)?;
        Ok(Self {
            working,
            kings,
            codings: working.codings(),
        })
    }

    /// The schema of the table: numbering `kings`, one column, a value for each
    /// side to move, coded by `codec` in blocks of `block_positions`; where that
    /// is a number of rows of 64, but a row has 48 as the last man is a pawn,
    /// in blocks of as many rows.
    pub fn schema(&self, codec: &str, block_positions: u32) -> Schema {
        let sides = self.kings.sides().list();
        let complete =
            Records::len(self) * sides.len() as u64 <= crate::codec::sample_values(codec) as u64;
        let row = self.kings.slots().len() as u32;
        let block_positions = match block_positions {
            n if n.is_multiple_of(row) => n,
            n if n.is_multiple_of(64) => n / 64 * row,
            n => n,
        };
        let mut wishes = Properties::new().with("complete", u64::from(complete));
        let keys = [("most0", "landmark0"), ("most1", "landmark1")];
        for ((most, landmark), side) in keys.into_iter().zip(sides) {
            let coding = self.codings[side.index()];
            wishes = wishes
                .with(most, u64::from(coding.most()))
                .with(landmark, u64::from(coding.raw(Score::DRAW)));
        }
        Schema {
            positions: Records::len(self),
            numbering: NumberingId {
                name: self.kings.name().to_owned(),
                version: self.kings.version(),
                params: self.kings.params(),
            },
            columns: vec![Column {
                name: "dtm".to_owned(),
                first: 0,
                count: Records::len(self),
                block_positions,
                order: None,
                codec: CodecId {
                    name: codec.to_owned(),
                    version: 1,
                    params: wishes,
                },
                fields: sides
                    .iter()
                    .map(|&s| self.codings[s.index()].field(s))
                    .collect(),
                elsewhere: Vec::new(),
            }],
            properties: provenance(self.working.material()),
        }
    }
}

fn provenance(material: &Material) -> Properties {
    Properties::new()
        .with_text("content", "chess ending")
        .with_text("ending", material.to_string())
        .with_text("made_by", concat!("endtable ", env!("CARGO_PKG_VERSION")))
        .with_text(
            "rules",
            "no castling, no 50-move rule; en passant resolved by the reader",
        )
}

impl Records for Ending<'_> {
    fn len(&self) -> u64 {
        self.kings.len()
    }

    fn width(&self) -> usize {
        self.kings.sides().list().len()
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        let sides = self.kings.sides().list();
        let slots = self.kings.slots();
        let (base, size) = (slots.start, slots.len() as u64);
        let mut number = first;
        let mut rest = out;
        while !rest.is_empty() {
            let from = number % size;
            let (part, after) =
                rest.split_at_mut(rest.len().min((size - from) as usize * sides.len()));
            let start = number - from;
            let row = self.kings.row(start);
            let word = self
                .kings
                .placement(start)
                .and_then(|Placement { kings, men }| {
                    self.working
                        .layout
                        .locate(kings, &men[..self.kings.men().len()])
                });
            for (record, slot) in part
                .chunks_exact_mut(sides.len())
                .zip(base + from as usize..)
            {
                for (value, (raw, side)) in record.iter_mut().zip(sides).enumerate() {
                    *raw = match word {
                        Some((word, _)) if row.present[value & 1] >> slot & 1 != 0 => {
                            let score = self.working.scores[side.index()][word * 64 + slot];
                            self.codings[side.index()].raw(score)
                        }
                        _ => 0,
                    };
                }
            }
            number = start + size;
            rest = after;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_values_ascend_by_preference_and_come_back() {
        let coding = Coding { losses: 3, wins: 4 };
        let scores: Vec<Score> = (1..=coding.most()).map(|raw| coding.score(raw)).collect();
        assert!(scores.is_sorted());
        assert_eq!(scores[0], Score::loss(0));
        assert_eq!(scores[3], Score::DRAW);
        assert_eq!(scores[7], Score::win(1));
        for (raw, &score) in (1..).zip(&scores) {
            assert_eq!(coding.raw(score), raw);
        }
        assert_eq!(coding.score(0), Score::ILLEGAL);
        assert_eq!(coding.score(9), Score::ILLEGAL);
        assert_eq!(coding.raw(Score::ILLEGAL), 0);
    }
}

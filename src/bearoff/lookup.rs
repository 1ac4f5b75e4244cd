//! From a player's notation to the number of a position in a table, and back.

use super::board::Points;
use super::notation::{format_side, parse_side};
use super::position::Position;
use crate::format::Schema;
use crate::numbering::{Multiset, Numbering, Pair};
use crate::{Error, Result};

/// The positions of a table that holds chequers on points.
#[derive(Debug, Clone)]
pub enum Positions {
    /// One side's chequers.
    Side(Multiset),
    /// Both sides', the side on roll first.
    Pair(Pair),
}

impl Positions {
    /// The positions of a table, or `None` when its numbers mean something else.
    pub fn of(schema: &Schema) -> Option<Self> {
        let id = &schema.numbering;
        match (id.name.as_str(), id.version) {
            (Multiset::NAME, 1) => Multiset::from_params(&id.params).ok().map(Positions::Side),
            (Pair::NAME, 1) => Pair::from_params(&id.params).ok().map(Positions::Pair),
            _ => None,
        }
    }

    /// The number of the position that `text` names: a number (`1234` or
    /// `#1234`), one side or two in the plain notation, a Position ID or an
    /// XGID, of which a table of one side takes the side on roll.
    ///
    /// Errors: [`Error::Invalid`] for text that is no position and for
    /// positions that the table does not have.
    pub fn parse(&self, text: &str) -> Result<u64> {
        if let Some(number) = parse_number(text) {
            return match number < self.len() {
                true => Ok(number),
                false => Err(Error::invalid(format!(
                    "position {number}: the table has numbers 0 to {}",
                    self.len() - 1
                ))),
            };
        }
        match self {
            Positions::Side(side) => {
                let points = match parse_side(text) {
                    Ok(points) => points,
                    Err(error) => Position::parse(text)
                        .map(|p| *p.board.on_roll())
                        .map_err(|_| error)?,
                };
                side.rank(fitting(&points, side)?)
            }
            Positions::Pair(pair) => {
                let board = Position::parse(text)?.board;
                let (us, them) = (board.on_roll(), board.opponent());
                pair.rank(fitting(us, pair.side())?, fitting(them, pair.side())?)
            }
        }
    }

    /// The plain notation of a position.
    ///
    /// Errors: [`Error::Invalid`] for a number that the table does not have.
    pub fn format(&self, number: u64) -> Result<String> {
        let (mut us, mut them) = ([0; 25], [0; 25]);
        match self {
            Positions::Side(side) => {
                side.unrank(number, &mut us[..side.points()])?;
                Ok(format_side(&us))
            }
            Positions::Pair(pair) => {
                let points = pair.side().points();
                pair.unrank(number, &mut us[..points], &mut them[..points])?;
                Ok(format!("{} / {}", format_side(&us), format_side(&them)))
            }
        }
    }

    /// Chequers on each point of the side on roll, from the ace-point.
    ///
    /// Errors: [`Error::Invalid`] for a number that the table does not have.
    pub fn on_roll(&self, number: u64) -> Result<Points> {
        let (mut us, mut them) = ([0; 25], [0; 25]);
        match self {
            Positions::Side(side) => side.unrank(number, &mut us[..side.points()])?,
            Positions::Pair(pair) => {
                let points = pair.side().points();
                pair.unrank(number, &mut us[..points], &mut them[..points])?;
            }
        }
        Ok(us)
    }

    fn len(&self) -> u64 {
        match self {
            Positions::Side(side) => side.len(),
            Positions::Pair(pair) => pair.len(),
        }
    }
}

/// Reads `1234` or `#1234`.
pub fn parse_number(text: &str) -> Option<u64> {
    let text = text.trim();
    text.strip_prefix('#').unwrap_or(text).parse().ok()
}

/// The counts of the table's points, when no chequer stands behind them.
fn fitting<'a>(points: &'a Points, side: &Multiset) -> Result<&'a [u8]> {
    let (inside, outside) = points.split_at(side.points());
    if let Some(i) = outside.iter().rposition(|&n| n > 0) {
        return Err(Error::invalid(format!(
            "a chequer on point {}: the table covers {} points; make one with more",
            side.points() + i + 1,
            side.points()
        )));
    }
    Ok(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_numbers_meet() {
        let positions = Positions::Side(Multiset::new(6, 15).unwrap());
        let number = positions.parse("6:2 5:3 1:1").unwrap();
        assert_eq!(positions.format(number).unwrap(), "6:2 5:3 1:1");
        assert_eq!(positions.parse(&format!("#{number}")).unwrap(), number);
        assert!(
            positions
                .parse("7:1")
                .unwrap_err()
                .to_string()
                .contains("point 7")
        );
        assert!(
            positions
                .parse("54264")
                .unwrap_err()
                .to_string()
                .contains("54263")
        );
        let pair = Positions::Pair(Pair::new(6, 6).unwrap());
        let number = pair.parse("6:1 / 5:2").unwrap();
        assert_eq!(pair.format(number).unwrap(), "6:1 / 5:2");
        // `4HPwATDgc/ABMA` is the start: not a bearoff.
        assert!(pair.parse("4HPwATDgc/ABMA").is_err());
    }
}

//! A position as players write it: a board and what its notation adds.

use super::board::Board;
use super::{notation, position_id, xgid};
use crate::{Error, Result};

/// Two dice.
pub type Dice = [u8; 2];

/// Who may double.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CubeOwner {
    /// Both sides: the cube is in the middle.
    #[default]
    Centred,
    /// The side on roll.
    OnRoll,
    /// Its opponent.
    Opponent,
}

/// The doubling cube.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cube {
    /// Exponent of its value: 0 is 1, 1 is 2, …
    pub log2: u8,
    /// Who may turn it.
    pub owner: CubeOwner,
}

/// The score of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Points that win the match.
    pub length: u16,
    /// Points of the side on roll.
    pub on_roll: u16,
    /// Points of its opponent.
    pub opponent: u16,
    /// Whether this is the game in which nobody may double.
    pub crawford: bool,
}

/// A board with dice, cube and score, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The board, seen by the side on roll.
    pub board: Board,
    /// The roll to be played, if the dice have been thrown.
    pub dice: Option<Dice>,
    /// The cube; centred at 1 where the notation does not tell.
    pub cube: Cube,
    /// The score; `None` for money or where the notation does not tell.
    pub score: Option<Score>,
    /// Whether a double is on offer and waits for an answer.
    pub double_offered: bool,
}

impl Position {
    /// A board alone: no dice, cube in the middle, money.
    pub fn of(board: Board) -> Self {
        Position {
            board,
            dice: None,
            cube: Cube::default(),
            score: None,
            double_offered: false,
        }
    }

    /// Reads any notation that backgammon players write:
    ///
    /// * an XGID, with or without `XGID=`;
    /// * a Position ID (14 characters), or Position ID `:` Match ID (12);
    /// * the plain notation of [`notation`], two sides separated by `/`;
    /// * `start` for the starting position.
    ///
    /// # Errors
    /// [`Error::Invalid`], saying what in the text was not understood.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("start") {
            return Ok(Position::of(Board::START));
        }
        if xgid::looks_like(text) {
            return xgid::parse(text);
        }
        if position_id::looks_like(text) {
            return position_id::parse(text);
        }
        if text.contains('/') {
            return notation::parse_board(text).map(Position::of);
        }
        Err(Error::invalid(format!(
            "`{}` is no position: expected a Position ID (14 characters), an XGID, or two sides such as `6:2 5:3 / 4:1`",
            text.escape_debug()
        )))
    }
}

/// Checks that a roll is two dice from 1 to 6 and returns the larger first.
///
/// # Errors
/// [`Error::Invalid`] for any other number.
pub fn dice(a: u8, b: u8) -> Result<Dice> {
    if (1..=6).contains(&a) && (1..=6).contains(&b) {
        Ok([a.max(b), a.min(b)])
    } else {
        Err(Error::invalid(format!(
            "{a} and {b} are no roll: a die shows 1 to 6"
        )))
    }
}

/// Reads a roll: two digits from 1 to 6, such as `31`, `3-1` or `3 1`.
///
/// # Errors
/// [`Error::Invalid`] for anything else.
pub fn parse_dice(text: &str) -> Result<Dice> {
    let wrong = || {
        Error::invalid(format!(
            "`{}` is no roll: expected two dice such as 31",
            text.escape_debug()
        ))
    };
    let mut digits = Vec::with_capacity(2);
    for c in text.trim().chars() {
        match c.to_digit(10) {
            Some(d) if (1..=6).contains(&d) => digits.push(d as u8),
            None if matches!(c, '-' | ' ' | ',') && digits.len() == 1 => {}
            _ => return Err(wrong()),
        }
    }
    match digits[..] {
        [a, b] => dice(a, b),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notation_of_the_start_is_the_same_board() {
        for text in [
            "start",
            "4HPwATDgc/ABMA",
            "4HPwATDgc/ABMA:cAkAAAAAAAAA",
            "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10",
            "-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10",
            "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5",
        ] {
            assert_eq!(Position::parse(text).unwrap().board, Board::START, "{text}");
        }
    }

    #[test]
    fn other_text_is_refused_with_what_was_expected() {
        for text in [
            "",
            "hello",
            "4HPwATDgc/ABM",
            "6:2 5:3",
            "\u{1b}[2J",
            "XGID=",
            "🎲🎲",
        ] {
            let error = Position::parse(text).unwrap_err();
            assert!(matches!(error, Error::Invalid { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn rolls_are_two_dice_larger_first() {
        for (text, roll) in [
            ("31", [3, 1]),
            ("13", [3, 1]),
            ("6-6", [6, 6]),
            (" 5 2 ", [5, 2]),
        ] {
            assert_eq!(parse_dice(text).unwrap(), roll);
        }
        for text in ["", "3", "333", "07", "3-", "--", "3--1-", "ab"] {
            assert!(parse_dice(text).is_err(), "{text}");
        }
    }
}

//! eXtreme Gammon's XGID.
//!
//! `XGID=` and ten fields separated by colons: 26 characters of board (the
//! upper player's bar, the 24 points as the lower player counts them, the
//! lower player's bar; `A` to `O` are 1 to 15 chequers of the lower player,
//! `a` to `o` of the upper one, `-` none), cube exponent, cube owner (1 lower,
//! 0 centred, −1 upper), turn (1 lower, −1 upper), dice (`00` not rolled, `D`
//! doubled), score of the lower and of the upper player, Crawford flag (for
//! money: Jacoby and beaver flags), match length (0 money), largest cube.

use super::board::{BAR, Board, Points};
use super::position::{Cube, CubeOwner, Dice, Position, Score, dice};
use super::position_id::score;
use crate::{Error, Result};

/// Whether `text` has the form of an XGID.
pub(crate) fn looks_like(text: &str) -> bool {
    text.get(..5)
        .is_some_and(|prefix| prefix.eq_ignore_ascii_case("XGID="))
        || text
            .split_once(':')
            .is_some_and(|(board, rest)| board.len() == 26 && rest.contains(':'))
}

/// Reads an XGID; `XGID=` may be missing, as may fields after the dice.
///
/// # Errors
/// [`Error::Invalid`] that names the first field that is wrong.
pub fn parse(text: &str) -> Result<Position> {
    let body = if text
        .get(..5)
        .is_some_and(|p| p.eq_ignore_ascii_case("XGID="))
    {
        &text[5..]
    } else {
        text
    };
    let fields: Vec<&str> = body.trim().split(':').collect();
    if fields.len() < 5 || fields.len() > 10 {
        return Err(Error::invalid(format!(
            "`{}` is no XGID: 5 to 10 fields separated by colons expected, {} found",
            text.escape_debug(),
            fields.len()
        )));
    }
    let lower_rolls = match number(&fields, 3, "turn", -1, 1)? {
        1 => true,
        -1 => false,
        _ => return Err(Error::invalid("XGID: turn is 0, expected 1 or -1")),
    };
    let [lower, upper] = parse_points(fields[0])?;
    let board = if lower_rolls {
        Board::new(lower, upper)?
    } else {
        Board::new(upper, lower)?
    };
    let log2 = number(&fields, 1, "cube exponent", 0, 15)? as u8;
    let owner = match (number(&fields, 2, "cube owner", -1, 1)?, lower_rolls) {
        (0, _) => CubeOwner::Centred,
        (1, true) | (-1, false) => CubeOwner::OnRoll,
        _ => CubeOwner::Opponent,
    };
    let (dice, double_offered) = parse_roll(fields[4])?;
    let lower_score = number(&fields, 5, "score", 0, 32767)? as u16;
    let upper_score = number(&fields, 6, "score", 0, 32767)? as u16;
    let flags = number(&fields, 7, "Crawford flag", 0, 3)?;
    let length = number(&fields, 8, "match length", 0, 32767)? as u16;
    number(&fields, 9, "largest cube", 0, 64)?;
    let [mine, theirs] = if lower_rolls {
        [lower_score, upper_score]
    } else {
        [upper_score, lower_score]
    };
    let score = score(length, mine, theirs, flags == 1)?;
    Ok(Position {
        board,
        dice,
        cube: Cube { log2, owner },
        score,
        double_offered,
    })
}

/// Writes an XGID; the side on roll is the lower player.
pub fn format(position: &Position) -> String {
    let mut points = String::with_capacity(26);
    let (mine, theirs) = (position.board.on_roll(), position.board.opponent());
    for i in 0..26 {
        // A point that the side on roll does not hold may be its opponent's.
        let own = if i > 0 { mine[i - 1] } else { 0 };
        let other = if i < 25 { theirs[BAR - i] } else { 0 };
        points.push(match (own, other) {
            (0, 0) => '-',
            (n, 0) => char::from(b'A' + n - 1),
            (_, n) => char::from(b'a' + n - 1),
        });
    }
    let owner = match position.cube.owner {
        CubeOwner::Centred => 0,
        CubeOwner::OnRoll => 1,
        CubeOwner::Opponent => -1,
    };
    let roll = match (position.double_offered, position.dice) {
        (true, _) => "D".to_owned(),
        (false, None) => "00".to_owned(),
        (false, Some([a, b])) => format!("{a}{b}"),
    };
    let score = position.score.unwrap_or(Score {
        length: 0,
        on_roll: 0,
        opponent: 0,
        crawford: false,
    });
    format!(
        "XGID={points}:{}:{owner}:1:{roll}:{}:{}:{}:{}:10",
        position.cube.log2,
        score.on_roll,
        score.opponent,
        u8::from(score.crawford),
        score.length
    )
}

/// The lower and the upper player's chequers, each from its own ace-point.
fn parse_points(text: &str) -> Result<[Points; 2]> {
    if text.chars().count() != 26 {
        return Err(Error::invalid(format!(
            "XGID: 26 characters of board expected, {} found in `{}`",
            text.chars().count(),
            text.escape_debug()
        )));
    }
    let mut sides = [[0; 25]; 2];
    for (i, c) in text.chars().enumerate() {
        match c {
            '-' => {}
            'A'..='O' if i > 0 => sides[0][i - 1] = c as u8 - b'A' + 1,
            'a'..='o' if i < 25 => sides[1][BAR - i] = c as u8 - b'a' + 1,
            _ => {
                return Err(Error::invalid(format!(
                    "XGID: `{}` at character {} of the board, expected -, A to O or a to o (a bar holds its own side only)",
                    c.escape_debug(),
                    i + 1
                )));
            }
        }
    }
    Ok(sides)
}

fn parse_roll(text: &str) -> Result<(Option<Dice>, bool)> {
    match text.as_bytes() {
        b"00" => Ok((None, false)),
        b"D" => Ok((None, true)),
        [a @ b'1'..=b'6', b @ b'1'..=b'6'] => Ok((Some(dice(a - b'0', b - b'0')?), false)),
        _ => Err(Error::invalid(format!(
            "XGID: dice are `{}`, expected two digits from 1 to 6, 00 or D",
            text.escape_debug()
        ))),
    }
}

/// Field `index` as a number; a missing field is 0.
fn number(fields: &[&str], index: usize, name: &str, low: i32, high: i32) -> Result<i32> {
    let Some(text) = fields.get(index) else {
        return Ok(0);
    };
    match text.trim().parse() {
        Ok(n) if (low..=high).contains(&n) => Ok(n),
        _ => Err(Error::invalid(format!(
            "XGID: {name} is `{}`, expected a number from {low} to {high}",
            text.escape_debug()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{notation, position_id};
    use super::*;
    use proptest::prelude::*;

    const START: &str = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10";

    #[test]
    fn the_start_reads_and_writes() {
        let start = parse(START).unwrap();
        assert_eq!(start.board, Board::START);
        assert_eq!(start.dice, Some([3, 1]));
        assert_eq!(start.cube, Cube::default());
        assert_eq!(start.score, None);
        assert_eq!(format(&start), START);
    }

    #[test]
    fn the_upper_player_on_roll_sees_its_own_board() {
        let text = "XGID=a----AE-C---eE---c-e----A-:1:1:-1:00:3:5:1:7:10";
        let seen = parse(text).unwrap();
        let board = notation::parse_board("bar:1 13:5 8:3 6:5 / 24:1 13:5 8:3 6:5 5:1").unwrap();
        assert_eq!(seen.board, board);
        assert_eq!(
            seen.cube,
            Cube {
                log2: 1,
                owner: CubeOwner::Opponent
            }
        );
        assert_eq!(
            seen.score,
            Some(Score {
                length: 7,
                on_roll: 5,
                opponent: 3,
                crawford: true
            })
        );
        assert_eq!(seen.dice, None);
    }

    #[test]
    fn hostile_texts_name_the_field() {
        for (text, named) in [
            ("XGID=", "fields"),
            (
                "XGID=-b----E-C---eE---c-e----B:0:0:1:31:0:0:0:0:10",
                "26 characters",
            ),
            (
                "XGID=-b----E-C---eE---c-e----B-:0:0:1:71:0:0:0:0:10",
                "dice",
            ),
            (
                "XGID=-b----E-C---eE---c-e----B-:0:2:1:31:0:0:0:0:10",
                "cube owner",
            ),
            (
                "XGID=-b----E-C---eE---c-e----B-:99:0:1:31:0:0:0:0:10",
                "cube exponent",
            ),
            (
                "XGID=-b----E-C---eE---c-e----B-:0:0:0:31:0:0:0:0:10",
                "turn",
            ),
            ("XGID=Ab----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10", "bar"),
            (
                "XGID=-z----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10",
                "character 2",
            ),
            (
                "XGID=-b----O-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10",
                "chequers",
            ),
            (
                "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:9:0:0:7:10",
                "match is over",
            ),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_a_position_id_says_an_xgid_says(text in "[A-Za-z0-9+/]{14}") {
            if let Ok(board) = position_id::parse_board(&text) {
                prop_assert_eq!(parse(&format(&Position::of(board))).unwrap().board, board);
            }
        }

        #[test]
        fn no_text_panics(text in "(XGID=)?[-a-pA-P]{24,27}(:-?[0-9D]{1,2}){0,11}|\\PC{0,40}") {
            let _ = parse(&text);
        }
    }
}

//! The plain notation of sides and boards.
//!
//! A side is a list of `point:chequers`, in any order, separated by spaces
//! or commas: `6:2 5:3 1:1`, `bar:1 24:2`. It can also be written as counts
//! from the ace-point on, separated by commas: `1,0,0,0,3,2` is the same as
//! `6:2 5:3 1:1`; the 25th count is the bar. `-` is a side without chequers.
//! A board is two sides, the side on roll first, separated by `/`; each side
//! counts from its own ace-point.

use super::board::{BAR, Board, CHEQUERS, Points};
use crate::{Error, Result};

/// Reads one side.
///
/// # Errors
/// [`Error::Invalid`] that names the item that was not understood, a point
/// given twice, or more than 15 chequers.
pub fn parse_side(text: &str) -> Result<Points> {
    let text = text.trim();
    let side = match text {
        "" => {
            return Err(Error::invalid(
                "a side is missing: write `6:2 5:3`, or `-` for none",
            ));
        }
        "-" => [0; 25],
        _ if text.contains(':') => parse_pairs(text)?,
        _ => parse_counts(text)?,
    };
    let total: u32 = side.iter().map(|&n| u32::from(n)).sum();
    if total > u32::from(CHEQUERS) {
        return Err(Error::invalid(format!(
            "`{}` has {total} chequers, at most {CHEQUERS} are possible",
            text.escape_debug()
        )));
    }
    Ok(side)
}

/// Reads two sides separated by `/`, the side on roll first.
///
/// # Errors
/// [`Error::Invalid`] as [`parse_side`] and [`Board::new`] give it.
pub fn parse_board(text: &str) -> Result<Board> {
    match text.split('/').collect::<Vec<_>>()[..] {
        [on_roll, opponent] => Board::new(parse_side(on_roll)?, parse_side(opponent)?),
        ref parts => Err(Error::invalid(format!(
            "`{}` has {} sides, expected two separated by `/`, the side on roll first",
            text.escape_debug(),
            parts.len()
        ))),
    }
}

/// Writes a side as `point:chequers`, from the bar down.
pub fn format_side(side: &Points) -> String {
    let items: Vec<String> = side
        .iter()
        .enumerate()
        .rev()
        .filter(|&(_, &n)| n > 0)
        .map(|(i, n)| {
            if i == BAR {
                format!("bar:{n}")
            } else {
                format!("{}:{n}", i + 1)
            }
        })
        .collect();
    if items.is_empty() {
        "-".to_owned()
    } else {
        items.join(" ")
    }
}

/// Writes both sides, the side on roll first.
pub fn format_board(board: &Board) -> String {
    format!(
        "{} / {}",
        format_side(board.on_roll()),
        format_side(board.opponent())
    )
}

fn parse_pairs(text: &str) -> Result<Points> {
    let mut side = [0; 25];
    let mut given = [false; 25];
    for item in text.split([' ', ',', '\t']).filter(|item| !item.is_empty()) {
        let (point, count) = item.split_once(':').ok_or_else(|| wrong_item(item))?;
        let index = match point {
            "bar" | "25" => BAR,
            _ => match point.parse::<usize>() {
                Ok(point @ 1..=24) => point - 1,
                _ => return Err(wrong_item(item)),
            },
        };
        let count = count
            .parse()
            .ok()
            .filter(|&n| n <= CHEQUERS)
            .ok_or_else(|| wrong_item(item))?;
        if given[index] {
            return Err(Error::invalid(format!("point `{point}` is given twice")));
        }
        given[index] = true;
        side[index] = count;
    }
    Ok(side)
}

fn parse_counts(text: &str) -> Result<Points> {
    let mut side = [0; 25];
    let mut next = side.iter_mut();
    for item in text.split(',') {
        let slot = next.next().ok_or_else(|| {
            Error::invalid(format!(
                "`{}` has more than 25 counts (24 points and the bar)",
                text.escape_debug()
            ))
        })?;
        *slot = item
            .trim()
            .parse()
            .ok()
            .filter(|&n| n <= CHEQUERS)
            .ok_or_else(|| wrong_item(item))?;
    }
    Ok(side)
}

fn wrong_item(item: &str) -> Error {
    Error::invalid(format!(
        "`{}` was not understood: expected point:chequers such as 6:2 or bar:1 (points 1 to 24, at most 15 chequers), or counts from the ace-point on such as 0,0,3",
        item.escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_forms_of_a_side_are_the_same() {
        let mut side = [0; 25];
        (side[5], side[4], side[0]) = (2, 3, 1);
        for text in [
            "6:2 5:3 1:1",
            "1:1,5:3,6:2",
            " 6:2, 5:3  1:1 ",
            "1,0,0,0,3,2",
            "1, 0, 0, 0, 3, 2, 0",
        ] {
            assert_eq!(parse_side(text).unwrap(), side, "{text}");
        }
        assert_eq!(format_side(&side), "6:2 5:3 1:1");
        assert_eq!(parse_side("-").unwrap(), [0; 25]);
        assert_eq!(parse_side("bar:2").unwrap()[BAR], 2);
    }

    #[test]
    fn hostile_sides_are_refused_by_name() {
        for (text, named) in [
            ("", "missing"),
            ("6:2 6:1", "twice"),
            ("6:x", "6:x"),
            ("0:1", "0:1"),
            ("26:1", "26:1"),
            ("6:16", "6:16"),
            ("6:-1", "6:-1"),
            ("6:8 5:8", "16 chequers"),
            ("6:2 5", "`5`"),
            ("1,2,x", "`x`"),
            (
                "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1",
                "25 counts",
            ),
            ("99999999999999999999:1", "9999"),
            ("\u{1b}:1", "\\u{1b}"),
        ] {
            let error = parse_side(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
        assert!(
            parse_board("6:1")
                .unwrap_err()
                .to_string()
                .contains("1 sides")
        );
        assert!(
            parse_board("6:1/5:1/4:1")
                .unwrap_err()
                .to_string()
                .contains("3 sides")
        );
    }

    proptest! {
        #[test]
        fn a_side_survives_its_notation(counts in proptest::collection::vec(0u8..2, 25)) {
            let mut side = [0; 25];
            side.copy_from_slice(&counts);
            prop_assume!(side.iter().sum::<u8>() <= CHEQUERS);
            prop_assert_eq!(parse_side(&format_side(&side)).unwrap(), side);
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,30}|[0-9:,/ -]{0,30}") {
            let _ = parse_side(&text);
            let _ = parse_board(&text);
        }
    }
}

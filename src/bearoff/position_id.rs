//! GNU Backgammon's Position ID and Match ID.
//!
//! Both are bit strings, filled from the least significant bit of each byte
//! on and written in base64 without padding.
//!
//! * Position ID, 80 bits, 14 characters: for the side *not* on roll and then
//!   for the side on roll, for each point from its ace-point to its bar, as
//!   many ones as it has chequers there and a zero.
//! * Match ID, 66 bits in 9 bytes, 12 characters: the fields of [`FIELDS`].
//!   Player 1 is "on roll" where the Position ID says "the side on roll" and
//!   the Match ID's on-roll bit is 1, as in every Match ID that we write.

use super::board::{Board, Points};
use super::position::{Cube, CubeOwner, Position, Score, dice};
use crate::{Error, Result};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Characters of a Position ID.
const POSITION_CHARS: usize = 14;
/// Characters of a Match ID.
const MATCH_CHARS: usize = 12;

/// Widths in bits of a Match ID's fields, in order.
pub const FIELDS: [(&str, u32); 14] = [
    ("cube value, log2", 4),
    ("cube owner (3: centred)", 2),
    ("player on roll", 1),
    ("Crawford game", 1),
    ("game state (1: playing)", 3),
    ("player to decide", 1),
    ("double offered", 1),
    ("resignation offered", 2),
    ("die 1", 3),
    ("die 2", 3),
    ("match length", 15),
    ("score of player 0", 15),
    ("score of player 1", 15),
    ("no Jacoby rule", 1),
];

/// Whether `text` has the form of a Position ID, with or without a Match ID.
pub(crate) fn looks_like(text: &str) -> bool {
    let all_base64 = |part: &str| part.bytes().all(|c| ALPHABET.contains(&c));
    match text.split_once(':') {
        None => text.len() == POSITION_CHARS && all_base64(text),
        Some((position, _)) => position.len() == POSITION_CHARS && all_base64(position),
    }
}

/// Reads `POSITION` or `POSITION:MATCH`.
///
/// # Errors
/// [`Error::Invalid`] with the first fault found.
pub fn parse(text: &str) -> Result<Position> {
    match text.split_once(':') {
        None => parse_board(text).map(Position::of),
        Some((position, match_id)) => parse_match(match_id, parse_board(position)?),
    }
}

/// Reads a Position ID.
///
/// # Errors
/// [`Error::Invalid`] for a wrong length, a character outside base64, bits
/// that describe no two sides of 25 points, or an impossible board.
pub fn parse_board(text: &str) -> Result<Board> {
    let bytes: [u8; 10] = decode(text, POSITION_CHARS, "Position ID")?;
    let mut bits = Bits {
        bytes: &bytes,
        next: 0,
    };
    let mut sides = [[0u8; 25]; 2];
    for points in sides.iter_mut().flatten() {
        while bits.take(1, text)? == 1 {
            *points += 1;
        }
    }
    if (bits.next..80).any(|i| bytes[i / 8] >> (i % 8) & 1 == 1) {
        return Err(Error::invalid(format!(
            "Position ID `{text}` has more than two sides of 25 points"
        )));
    }
    let [opponent, on_roll] = sides;
    Board::new(on_roll, opponent)
}

/// Reads a Match ID for `board`.
///
/// # Errors
/// [`Error::Invalid`] for a wrong length or character, impossible dice or a
/// score beyond the match's length; [`Error::Unsupported`] for a resignation
/// on offer.
pub fn parse_match(text: &str, board: Board) -> Result<Position> {
    let bytes: [u8; 9] = decode(text, MATCH_CHARS, "Match ID")?;
    let mut bits = Bits {
        bytes: &bytes,
        next: 0,
    };
    let mut values = [0u16; FIELDS.len()];
    for (value, (_, width)) in values.iter_mut().zip(FIELDS) {
        *value = bits.take(width, text)?;
    }
    let [
        log2,
        owner,
        on_roll,
        crawford,
        _state,
        _turn,
        doubled,
        resigned,
        die1,
        die2,
        length,
        score0,
        score1,
        _,
    ] = values;
    if resigned != 0 {
        return Err(Error::unsupported(format!(
            "Match ID `{text}` has a resignation on offer: play it first"
        )));
    }
    let owner = match owner {
        3 => CubeOwner::Centred,
        0 | 1 if owner == on_roll => CubeOwner::OnRoll,
        0 | 1 => CubeOwner::Opponent,
        _ => {
            return Err(Error::invalid(format!(
                "Match ID `{text}` names cube owner {owner}, expected 0, 1 or 3"
            )));
        }
    };
    let [mine, theirs] = if on_roll == 1 {
        [score1, score0]
    } else {
        [score0, score1]
    };
    let score = score(length, mine, theirs, crawford == 1)?;
    let dice = match [die1, die2] {
        [0, 0] => None,
        [a, b] => Some(dice(a as u8, b as u8)?),
    };
    Ok(Position {
        board,
        dice,
        cube: Cube {
            log2: log2 as u8,
            owner,
        },
        score,
        double_offered: doubled == 1,
    })
}

/// A score, checked; `length` 0 is money.
pub(super) fn score(
    length: u16,
    on_roll: u16,
    opponent: u16,
    crawford: bool,
) -> Result<Option<Score>> {
    if length == 0 {
        return Ok(None);
    }
    if on_roll >= length || opponent >= length {
        return Err(Error::invalid(format!(
            "score {on_roll}-{opponent} in a match to {length}: the match is over"
        )));
    }
    Ok(Some(Score {
        length,
        on_roll,
        opponent,
        crawford,
    }))
}

/// The Position ID of a board.
pub fn format_board(board: &Board) -> String {
    let mut bits = Writer::<10>::default();
    for side in [board.opponent(), board.on_roll()] {
        write_side(&mut bits, side);
    }
    encode(&bits.bytes, POSITION_CHARS)
}

/// The Match ID of a position; the side on roll is player 1.
pub fn format_match(position: &Position) -> String {
    let score = position.score.unwrap_or(Score {
        length: 0,
        on_roll: 0,
        opponent: 0,
        crawford: false,
    });
    let owner = match position.cube.owner {
        CubeOwner::Centred => 3,
        CubeOwner::OnRoll => 1,
        CubeOwner::Opponent => 0,
    };
    let [die1, die2] = position.dice.unwrap_or_default().map(u16::from);
    let offered = u16::from(position.double_offered);
    let values = [
        u16::from(position.cube.log2),
        owner,
        1,
        u16::from(score.crawford),
        1,
        1 - offered,
        offered,
        0,
        die1,
        die2,
        score.length,
        score.opponent,
        score.on_roll,
        0,
    ];
    let mut bits = Writer::<9>::default();
    for (value, (_, width)) in values.into_iter().zip(FIELDS) {
        bits.put(value, width);
    }
    encode(&bits.bytes, MATCH_CHARS)
}

fn write_side(bits: &mut Writer<10>, side: &Points) {
    for &n in side {
        bits.put((1 << n) - 1, u32::from(n) + 1);
    }
}

fn decode<const N: usize>(text: &str, chars: usize, what: &str) -> Result<[u8; N]> {
    if text.chars().count() != chars {
        return Err(Error::invalid(format!(
            "`{}` is no {what}: {chars} characters expected, {} found",
            text.escape_debug(),
            text.chars().count()
        )));
    }
    let mut out = [0; N];
    let (mut pool, mut held, mut filled) = (0u32, 0, 0);
    for c in text.chars() {
        let Some(value) = ALPHABET.iter().position(|&a| char::from(a) == c) else {
            return Err(Error::invalid(format!(
                "{what}: `{}` is not a base64 character",
                c.escape_debug()
            )));
        };
        pool = pool << 6 | value as u32;
        held += 6;
        if held >= 8 && filled < N {
            held -= 8;
            out[filled] = (pool >> held) as u8;
            filled += 1;
        }
    }
    if pool & ((1 << held) - 1) != 0 {
        return Err(Error::invalid(format!(
            "{what} `{text}`: its last character carries bits beyond the {} that count",
            8 * N
        )));
    }
    Ok(out)
}

fn encode(bytes: &[u8], chars: usize) -> String {
    let mut out = String::with_capacity(chars);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0u32, |acc, &b| acc << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for i in 0..=chunk.len() {
            out.push(char::from(ALPHABET[(group >> (18 - 6 * i)) as usize & 63]));
        }
    }
    out
}

/// A bit string that is read from its start.
struct Bits<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl Bits<'_> {
    fn take(&mut self, width: u32, text: &str) -> Result<u16> {
        let mut value = 0;
        for i in 0..width {
            let Some(byte) = self.bytes.get(self.next / 8) else {
                return Err(Error::invalid(format!(
                    "`{text}` ends before it has described 2 × 25 points"
                )));
            };
            value |= u16::from(byte >> (self.next % 8) & 1) << i;
            self.next += 1;
        }
        Ok(value)
    }
}

/// A bit string that is written from its start.
struct Writer<const N: usize> {
    bytes: [u8; N],
    next: usize,
}

impl<const N: usize> Default for Writer<N> {
    fn default() -> Self {
        Writer {
            bytes: [0; N],
            next: 0,
        }
    }
}

impl<const N: usize> Writer<N> {
    fn put(&mut self, value: u16, width: u32) {
        for i in 0..width {
            self.bytes[self.next / 8] |= ((value >> i & 1) as u8) << (self.next % 8);
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation;
    use super::*;
    use proptest::prelude::*;

    /// Boards read off GNU Backgammon's own drawing of these IDs.
    #[test]
    fn position_ids_are_gnubgs() {
        for (id, plain) in [
            ("4HPwATDgc/ABMA", "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5"),
            (
                "sGfwATDgc/ABMA",
                "24:2 13:5 8:3 6:5 / 24:2 13:5 8:2 6:4 5:2",
            ),
            (
                "4OvgATDgc+QBUA",
                "bar:1 24:1 13:4 11:1 8:3 6:5 / 24:2 13:4 8:3 7:1 6:5",
            ),
            ("fycAAPC9EwwAAA", "10:2 5:1 3:3 2:4 1:5 / 4:1 2:3 1:7"),
        ] {
            let board = notation::parse_board(plain).unwrap_or_else(|e| panic!("{plain}: {e}"));
            assert_eq!(parse_board(id).unwrap(), board, "{id}");
            assert_eq!(format_board(&board), id);
        }
    }

    #[test]
    fn match_ids_are_gnubgs() {
        let money = parse_match("cAkAAAAAAAAA", Board::START).unwrap();
        assert_eq!(money, Position::of(Board::START));

        let one_point = parse_match("cIkqAAAAAAAA", Board::START).unwrap();
        assert_eq!(one_point.dice, Some([5, 2]));
        assert_eq!(
            one_point.score,
            Some(Score {
                length: 1,
                on_roll: 0,
                opponent: 0,
                crawford: false
            })
        );

        let nine = parse_match("QYkqASAAIAAA", Board::START).unwrap();
        assert_eq!(nine.dice, Some([5, 2]));
        assert_eq!(
            nine.cube,
            Cube {
                log2: 1,
                owner: CubeOwner::Opponent
            }
        );
        assert_eq!(
            nine.score,
            Some(Score {
                length: 9,
                on_roll: 4,
                opponent: 2,
                crawford: false
            })
        );

        for id in ["cAkAAAAAAAAA", "cIkqAAAAAAAA", "QYkqASAAIAAA"] {
            assert_eq!(format_match(&parse_match(id, Board::START).unwrap()), id);
        }
    }

    #[test]
    fn hostile_ids_are_refused() {
        for id in [
            "",
            "4HPwATDgc/ABM",
            "4HPwATDgc/ABMAA",
            "4HPwATDgc/ABM!",
            "//////////////",
            "AAAAAAAAAAAAAA",
            "4HPwATDgc/ABM\u{e9}",
            "4HPwATDgc/ABMP",
        ] {
            assert!(parse_board(id).is_err(), "{id}");
        }
        for id in [
            "",
            "cAkAAAAAAAA",
            "////////////",
            "cIn/AAAAAAAA",
            "cIkDAAAAAAAA",
        ] {
            assert!(parse_match(id, Board::START).is_err(), "{id}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_position_or_an_error(text in "[A-Za-z0-9+/]{14}") {
            if let Ok(board) = parse_board(&text) {
                prop_assert_eq!(parse_board(&format_board(&board)).unwrap(), board);
            }
        }
    }
}

//! Positions in Forsyth–Edwards notation.

use std::fmt;

use super::error::ProbeError;
use super::position::Position;
use crate::numbering::kings::men::{Man, Side};

impl Position {
    /// Reads a FEN. The two counters at the end may be missing and are not kept.
    /// An en-passant square is kept only where a pawn can legally be taken.
    ///
    /// # Errors
    /// [`ProbeError::Notation`] for what is no FEN, [`ProbeError::CastlingRights`],
    /// and [`ProbeError::IllegalPosition`].
    pub fn from_fen(fen: &str) -> Result<Self, ProbeError> {
        let bad = |what: &str| ProbeError::Notation(format!("\"{fen}\" is not a FEN: {what}"));
        let mut fields = fen.split_ascii_whitespace();
        let board = fields.next().ok_or_else(|| bad("it is empty"))?;
        let mover = match fields.next() {
            Some("w") => Side::White,
            Some("b") => Side::Black,
            _ => return Err(bad("w or b expected behind the board")),
        };
        let castling = fields.next().unwrap_or("-");
        let passed = fields.next().unwrap_or("-");
        for counter in [fields.next(), fields.next()].into_iter().flatten() {
            counter
                .parse::<u32>()
                .map_err(|_| bad("the counters must be numbers"))?;
        }
        if fields.next().is_some() {
            return Err(bad("six fields at most expected"));
        }
        let mut position = Position::empty(mover);
        let ranks: Vec<&str> = board.split('/').collect();
        if ranks.len() != 8 {
            return Err(bad("eight ranks expected"));
        }
        for (rank, text) in (0..8u8).rev().zip(ranks) {
            let mut file = 0u8;
            for c in text.chars() {
                match c {
                    '1'..='8' => file += c as u8 - b'0',
                    _ => {
                        let man = Man::from_letter(c).ok_or_else(|| bad("an unknown man"))?;
                        if file < 8 {
                            position.put(man, rank * 8 + file);
                        }
                        file += 1;
                    }
                }
                if file > 8 {
                    break;
                }
            }
            if file != 8 {
                return Err(bad("each rank must have eight squares"));
            }
        }
        if castling != "-" {
            if castling
                .chars()
                .all(|c| matches!(c.to_ascii_uppercase(), 'K' | 'Q' | 'A'..='H'))
            {
                return Err(ProbeError::CastlingRights);
            }
            return Err(bad("castling rights expected in the third field"));
        }
        if passed != "-" {
            position.en_passant = match passed.as_bytes() {
                &[file @ b'a'..=b'h', rank @ b'1'..=b'8'] => Some((rank - b'1') * 8 + file - b'a'),
                _ => return Err(bad("a square or - expected in the fourth field")),
            };
        }
        if let Some(fault) = position.fault() {
            return Err(ProbeError::IllegalPosition(format!("{fen}: {}", fault.0)));
        }
        if !position.can_take_en_passant() {
            position.en_passant = None;
        }
        Ok(position)
    }
}

/// The position as a FEN; the counters are `0 1`.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in (0..8u8).rev() {
            let mut empty = 0;
            for file in 0..8u8 {
                match self.man_at(rank * 8 + file) {
                    Some(man) => {
                        if empty > 0 {
                            write!(f, "{empty}")?;
                            empty = 0;
                        }
                        write!(f, "{}", man.letter())?;
                    }
                    None => empty += 1,
                }
            }
            if empty > 0 {
                write!(f, "{empty}")?;
            }
            if rank > 0 {
                f.write_str("/")?;
            }
        }
        let mover = if self.mover == Side::White { 'w' } else { 'b' };
        write!(f, " {mover} - ")?;
        match self.en_passant {
            Some(s) => write!(
                f,
                "{}{}",
                (b'a' + (s & 7)) as char,
                (b'1' + (s >> 3)) as char
            )?,
            None => f.write_str("-")?,
        }
        f.write_str(" 0 1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbering::kings::board::bit;
    use crate::numbering::kings::men::Kind;

    #[test]
    fn fens_come_back() {
        for fen in [
            "8/8/8/pP2k3/8/8/8/6K1 w - a6 0 1",
            "4k3/8/8/8/8/8/8/R3K3 b - - 0 1",
            "K7/2k5/8/8/8/8/5q2/8 w - - 0 1",
        ] {
            assert_eq!(Position::from_fen(fen).unwrap().to_string(), fen);
        }
        // No black pawn can take: the right is void.
        let p = Position::from_fen("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1").unwrap();
        assert_eq!(p.to_string(), "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1");
        assert_eq!(p.men(Side::White, Kind::Pawn), bit(28));
    }

    #[test]
    fn each_fault_has_its_error() {
        let error = |fen: &str| Position::from_fen(fen).unwrap_err();
        assert!(matches!(
            error("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
            ProbeError::CastlingRights
        ));
        for illegal in [
            "4k3/8/8/8/8/8/8/4R3 w - - 0 1",
            "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1",
            "4kP2/8/8/8/8/8/8/4K3 w - - 0 1",
            "8/8/8/8/8/8/3kK3/8 w - - 0 1",
            "4k3/8/8/1P6/8/8/8/4K3 w - a6 0 1",
            "4k3/8/8/pP6/8/8/8/4K3 b - a6 0 1",
        ] {
            assert!(
                matches!(error(illegal), ProbeError::IllegalPosition(_)),
                "{illegal}"
            );
        }
        for bad in [
            "",
            "8/8 w - -",
            "4k3/8/8/8/8/8/8/4K3",
            "4k3/8/8/8/8/8/8/4K2 w - -",
            "4k3/8/8/8/8/8/8/4K3 w x -",
            "4k3/8/8/8/8/8/8/4K3 w - z9",
            "4k3/8/8/8/8/8/8/4K3 w - - x",
        ] {
            assert!(matches!(error(bad), ProbeError::Notation(_)), "{bad}");
        }
    }
}

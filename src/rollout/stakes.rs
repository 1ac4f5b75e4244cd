//! What a result is worth: points for money, or chances to win a match.

use super::Chances;
use crate::bearoff::position::Score;
use crate::{Error, Result};

/// The worth of the six results, for the side on roll, on a scale on which a
/// plain win is 1 and a plain loss −1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stakes {
    /// A win, a gammon, a backgammon.
    win: [f32; 3],
    /// The same, lost.
    lose: [f32; 3],
}

impl Stakes {
    /// Money without a cube: 1, 2 and 3 points.
    pub const MONEY: Stakes = Stakes {
        win: [1.0, 2.0, 3.0],
        lose: [-1.0, -2.0, -3.0],
    };

    /// A game at `score` for `points` (the cube's value), without further
    /// doubling.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the table doesn't reach as far as the score, or
    /// if a plain win and a plain loss are worth the same.
    pub fn at_score(score: &Score, points: u32, table: &MatchTable) -> Result<Self> {
        let away = [score.length - score.on_roll, score.length - score.opponent].map(u32::from);
        // Once the Crawford game is played or passed, it never comes again.
        let post = score.crawford || away.contains(&1);
        let after = |won: u32, lost: u32| {
            table.chance(
                away[0].saturating_sub(won),
                away[1].saturating_sub(lost),
                post,
            )
        };
        let mut win = [0.0; 3];
        let mut lose = [0.0; 3];
        for k in 0..3 {
            let size = points * (k as u32 + 1);
            win[k] = after(size, 0)?;
            lose[k] = after(0, size)?;
        }
        let (middle, half) = ((win[0] + lose[0]) / 2.0, (win[0] - lose[0]) / 2.0);
        if half <= 0.0 {
            return Err(Error::invalid(
                "in this match equity table a win is worth no more than a loss",
            ));
        }
        Ok(Stakes {
            win: win.map(|v| (v - middle) / half),
            lose: lose.map(|v| (v - middle) / half),
        })
    }

    /// Expected worth; linear in the chances.
    #[inline]
    pub fn equity(&self, chances: &Chances) -> f32 {
        let [win, lose] = [&self.win, &self.lose];
        lose[0]
            + chances.win * (win[0] - lose[0])
            + chances.win_gammon * (win[1] - win[0])
            + chances.win_backgammon * (win[2] - win[1])
            + chances.lose_gammon * (lose[1] - lose[0])
            + chances.lose_backgammon * (lose[2] - lose[1])
    }

    /// The same stakes seen by the other side.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Stakes {
            win: self.lose.map(|v| -v),
            lose: self.win.map(|v| -v),
        }
    }
}

/// Chances to win a match, by points that both sides still need.
///
/// The file is text. Each line that is not empty and doesn't begin with `#` is
/// one row: for a side that needs 1, 2, 3, … points, its chances against one
/// that needs 1, 2, 3, … points, separated by spaces or commas, as fractions of
/// one. Where either needs one point, the next game is the Crawford game. A
/// line `post-crawford` begins one more row: the chances of the side that
/// trails and needs 1, 2, 3, … points when its opponent needs one and the
/// Crawford game has been played.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchTable {
    rows: Vec<Vec<f32>>,
    post: Vec<f32>,
}

impl MatchTable {
    /// Reads a table from text.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the line that is wrong, or if the table is not
    /// square or a row is missing.
    pub fn parse(text: &str) -> Result<Self> {
        let (mut rows, mut post) = (Vec::new(), None);
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (is_post, numbers) = match line.strip_prefix("post-crawford") {
                Some(rest) => (true, rest),
                None => (false, line),
            };
            let row: Vec<f32> = numbers
                .split([' ', ',', '\t'])
                .filter(|item| !item.is_empty())
                .map(|item| {
                    item.parse()
                        .ok()
                        .filter(|p| (0.0..=1.0).contains(p))
                        .ok_or(item)
                })
                .collect::<Result<_, _>>()
                .map_err(|item| {
                    Error::invalid(format!(
                        "match equity table, line {number}: `{}` is no chance from 0 to 1",
                        item.escape_debug()
                    ))
                })?;
            if is_post {
                post = Some(row);
            } else {
                rows.push(row);
            }
        }
        let size = rows.len();
        if size == 0 || rows.iter().any(|row| row.len() != size) {
            return Err(Error::invalid(format!(
                "match equity table: {size} rows of {:?} numbers, expected a square",
                rows.iter().map(Vec::len).collect::<Vec<_>>()
            )));
        }
        match post {
            Some(post) if post.len() >= size => Ok(MatchTable { rows, post }),
            Some(post) => Err(Error::invalid(format!(
                "match equity table: {} numbers after post-crawford, expected {size}",
                post.len()
            ))),
            None => Err(Error::invalid(
                "match equity table: the line `post-crawford …` is missing",
            )),
        }
    }

    /// The chance of a side that needs `mine` points against one that needs
    /// `theirs`.
    ///
    /// # Errors
    /// [`Error::Invalid`] beyond the table.
    fn chance(&self, mine: u32, theirs: u32, post: bool) -> Result<f32> {
        let beyond = || {
            Error::invalid(format!(
                "the match equity table ends at {} points away, {mine} and {theirs} are needed",
                self.rows.len()
            ))
        };
        match (mine, theirs) {
            (0, _) => Ok(1.0),
            (_, 0) => Ok(0.0),
            (1, 1) if post => Ok(0.5),
            (1, n) if post => self
                .post
                .get(n as usize - 1)
                .map(|p| 1.0 - p)
                .ok_or_else(beyond),
            (n, 1) if post => self.post.get(n as usize - 1).copied().ok_or_else(beyond),
            (m, n) => self
                .rows
                .get(m as usize - 1)
                .and_then(|r| r.get(n as usize - 1))
                .copied()
                .ok_or_else(beyond),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A match to 3 between equals, gammons not counted by its maker.
    const TABLE: &str = "# 1 to 3 away
        0.50 0.70 0.75
        0.30, 0.50, 0.60
        0.25 0.40 0.50
        post-crawford 0.50 0.49 0.32";

    fn score(on_roll: u16, opponent: u16, crawford: bool) -> Score {
        Score {
            length: 3,
            on_roll,
            opponent,
            crawford,
        }
    }

    #[test]
    fn money_equity_counts_points() {
        let chances = Chances::from_array([0.5, 0.2, 0.1, 0.05, 0.0]);
        assert!((Stakes::MONEY.equity(&chances) - 0.25).abs() < 1e-6);
        assert_eq!(Stakes::MONEY.equity(&chances), chances.money());
        assert!((Stakes::MONEY.flipped().equity(&chances.flipped()) + 0.25).abs() < 1e-6);
    }

    #[test]
    fn at_a_score_results_are_worth_match_chances() {
        let table = MatchTable::parse(TABLE).unwrap();
        let stakes = Stakes::at_score(&score(0, 0, false), 1, &table).unwrap();
        // A win leads to 2 away against 3: 0.60, a loss to 0.40; a gammon to
        // 0.75, which is (0.75 − 0.5) / 0.1 = 2.5; a backgammon wins the match.
        assert!((stakes.win[1] - 2.5).abs() < 1e-4);
        assert!((stakes.win[2] - 5.0).abs() < 1e-4);
        assert!((stakes.lose[2] + 5.0).abs() < 1e-4);
    }

    #[test]
    fn after_the_crawford_game_its_own_row_counts() {
        let table = MatchTable::parse(TABLE).unwrap();
        // 1 away, 2 away, Crawford: a win ends the match; a loss leads to 1 away each.
        let stakes = Stakes::at_score(&score(2, 1, true), 1, &table).unwrap();
        assert!((stakes.lose[1] - (0.0 - 0.75) / 0.25).abs() < 1e-4);
        // 3 away, 1 away, Crawford: a win leads to 2 away after Crawford, 0.49.
        let stakes = Stakes::at_score(&score(0, 2, true), 1, &table).unwrap();
        assert!((stakes.win[1] - (0.5 - 0.245) / 0.245).abs() < 1e-4);
    }

    #[test]
    fn faulty_tables_are_refused() {
        for text in [
            "",
            "0.5 0.6",
            "0.5\npost-crawford",
            "0.5",
            "0.5 x\n0.4 0.5\npost-crawford 0.5 0.5",
            "1.5\npost-crawford 1",
        ] {
            assert!(MatchTable::parse(text).is_err(), "{text}");
        }
        let table = MatchTable::parse(TABLE).unwrap();
        let far = Score {
            length: 9,
            on_roll: 0,
            opponent: 0,
            crawford: false,
        };
        assert!(
            Stakes::at_score(&far, 1, &table)
                .unwrap_err()
                .to_string()
                .contains("ends at 3")
        );
    }
}

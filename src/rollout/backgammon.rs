//! A rollout of backgammon plays: candidates, their games, and what they say.

use super::Chances;
use super::allocate::{Candidate, leader};
use super::dice::Dice;
use super::evaluate::{End, Player};
use super::game::{Rules, Table, play};
use super::schedule::{Found, Outcome, Run};
use super::statistics::{Moments, difference_error};
use crate::Result;
use crate::bearoff::Board;

/// What is rolled out: a board, and whose roll it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The play, as players write it.
    pub name: String,
    /// The board, seen by the side that rolls next.
    pub board: Board,
    /// Whether that is the side that the rollout is about (a position rolled
    /// out before its roll) or its opponent (after a play).
    pub own_roll: bool,
}

/// The result of one game.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Game {
    /// Chances, in the order of [`Chances::to_array`]; luck adjustment may
    /// lead outside 0 to 1.
    pub chances: [f32; 5],
    /// Their equity.
    pub equity: f32,
    /// What ended the game.
    pub end: End,
}

impl Outcome for Game {
    fn value(&self) -> f64 {
        f64::from(self.equity)
    }
}

/// A rollout: who plays, by which rules, with which dice.
pub struct Rollout<'a> {
    /// Plays for both sides.
    pub player: &'a Player,
    /// How games are played.
    pub rules: Rules,
    /// The dice, the same for all choices.
    pub dice: Dice,
}

impl Rollout<'_> {
    /// Plays the games of `choices` as `run` has it. `known` are games of an
    /// earlier, shorter run of the same rollout.
    ///
    /// # Errors
    /// From the player's tables or evaluator.
    pub fn carry_out(
        &self,
        choices: &[Choice],
        run: &Run<'_>,
        known: &[Vec<Game>],
        watch: impl FnMut(&[Candidate], &[Vec<Game>]),
    ) -> Result<Found<Game>> {
        let game = |candidate: usize, number: u64| {
            self.game(&choices[candidate], number, &mut Table::default())
        };
        let strata = |number: u64| self.dice.strata(number);
        run.carry_out(choices.len(), known, game, strata, watch)
    }

    /// Plays game `number` of a choice.
    ///
    /// # Errors
    /// From the player's tables or evaluator.
    pub fn game(&self, choice: &Choice, number: u64, table: &mut Table) -> Result<Game> {
        let dice = self.dice.game(number);
        let (chances, end) = play(
            &choice.board,
            choice.own_roll,
            &self.rules,
            self.player,
            dice,
            table,
        )?;
        Ok(Game {
            chances,
            equity: self.rules.stakes.equity(&Chances::from_array(chances)),
            end,
        })
    }
}

/// What the games of one choice say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Index of the choice.
    pub choice: usize,
    /// Games played.
    pub games: u64,
    /// Mean equity.
    pub equity: f64,
    /// Its standard error; `None` for fewer than two games.
    pub equity_error: Option<f64>,
    /// Half the width of its 95 % confidence interval.
    pub half_width_95: Option<f64>,
    /// Mean chances, in the order of [`Chances::to_array`].
    pub chances: [f64; 5],
    /// Equity of the best choice less this one's.
    pub behind: f64,
    /// Standard error of that difference, shared dice considered; `None` for
    /// the best itself.
    pub behind_error: Option<f64>,
}

/// Summaries of all choices, the best first, from what a run has found.
pub fn summaries(candidates: &[Candidate], games: &[Vec<Game>]) -> Vec<Summary> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let best = leader(candidates);
    let mut out: Vec<Summary> = (0..candidates.len())
        .map(|choice| {
            let series = &candidates[choice].series;
            let mut means = [Moments::default(); 5];
            for game in &games[choice] {
                for (mean, &p) in means.iter_mut().zip(&game.chances) {
                    mean.push(f64::from(p));
                }
            }
            Summary {
                choice,
                games: series.count(),
                equity: series.mean(),
                equity_error: series.error(),
                half_width_95: series.half_width_95(),
                chances: means.map(|m| m.mean()),
                behind: candidates[best].series.mean() - series.mean(),
                behind_error: if choice == best {
                    None
                } else {
                    difference_error(&candidates[best].series, series)
                },
            }
        })
        .collect();
    out.sort_by(|a, b| b.equity.total_cmp(&a.equity).then(a.choice.cmp(&b.choice)));
    out
}

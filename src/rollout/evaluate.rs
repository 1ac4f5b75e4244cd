//! Evaluators: anything that can tell the chances of a board.

use super::Chances;
use super::network::{Network, finished};
use crate::bearoff::Board;
use crate::{Error, Result};

/// Judges boards, exactly or not.
pub trait Evaluator: Send + Sync {
    /// What it is, for people.
    fn name(&self) -> String;

    /// The chances of the side on roll, before it rolls, for each board; both
    /// slices have the same length. No board is a finished game.
    ///
    /// # Errors
    /// Whatever keeps an evaluator from answering, such as an external program
    /// that has ended.
    fn evaluate(&self, boards: &[Board], out: &mut [Chances]) -> Result<()>;
}

/// Exact knowledge of some boards.
pub trait EndTable: Send + Sync {
    /// What it is, for people.
    fn name(&self) -> String;

    /// The chances of the side on roll, or `None` if the board is not in the
    /// table.
    ///
    /// # Errors
    /// A table that cannot be read.
    fn chances(&self, board: &Board) -> Result<Option<Chances>>;
}

impl Evaluator for Network {
    fn name(&self) -> String {
        "endtable's network".to_owned()
    }

    fn evaluate(&self, boards: &[Board], out: &mut [Chances]) -> Result<()> {
        for (board, chances) in boards.iter().zip(out) {
            *chances = Network::evaluate(self, board);
        }
        Ok(())
    }
}

/// What ended a game of a rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// The last chequer left.
    Played,
    /// The rollout's limit of rolls; its evaluator gave the chances.
    CutOff,
    /// A table of the player's, by its place among them from 0.
    Table(u16),
}

/// An evaluator and the tables that are asked first.
pub struct Player {
    evaluator: Box<dyn Evaluator>,
    tables: Vec<Box<dyn EndTable>>,
}

impl Player {
    /// A player who asks `tables` in order and then `evaluator`.
    pub fn new(evaluator: Box<dyn Evaluator>, tables: Vec<Box<dyn EndTable>>) -> Self {
        Player { evaluator, tables }
    }

    /// The names of the tables, in the order in which they are asked.
    pub fn table_names(&self) -> Vec<String> {
        self.tables.iter().map(|t| t.name()).collect()
    }

    /// The evaluator's name and the tables'.
    pub fn names(&self) -> Vec<String> {
        std::iter::once(self.evaluator.name())
            .chain(self.tables.iter().map(|t| t.name()))
            .collect()
    }

    /// The chances of the side on roll where they are known exactly, the game
    /// being over or in a table, and which of the two.
    ///
    /// # Errors
    /// A table that cannot be read.
    pub fn exact(&self, board: &Board) -> Result<Option<(Chances, End)>> {
        if let Some(over) = finished(board) {
            return Ok(Some((over, End::Played)));
        }
        for (number, table) in self.tables.iter().enumerate() {
            if let Some(chances) = table.chances(board)? {
                return Ok(Some((chances, End::Table(number as u16))));
            }
        }
        Ok(None)
    }

    /// The chances of the side on roll on each of `boards`, in `out`.
    ///
    /// # Errors
    /// From the tables or the evaluator, or a NaN or a chance outside 0 to 1 from it.
    pub fn evaluate(&self, boards: &[Board], scratch: &mut Scratch) -> Result<()> {
        scratch.out.clear();
        scratch.out.resize(boards.len(), Chances::default());
        scratch.open.clear();
        scratch.indices.clear();
        for (i, board) in boards.iter().enumerate() {
            match self.exact(board)? {
                Some((chances, _)) => scratch.out[i] = chances,
                None => {
                    scratch.open.push(*board);
                    scratch.indices.push(i);
                }
            }
        }
        if scratch.open.is_empty() {
            return Ok(());
        }
        scratch.answers.clear();
        scratch
            .answers
            .resize(scratch.open.len(), Chances::default());
        self.evaluator
            .evaluate(&scratch.open, &mut scratch.answers)?;
        for (&i, answer) in scratch.indices.iter().zip(&scratch.answers) {
            if !answer
                .to_array()
                .iter()
                .all(|p| (-1e-4..=1.0001).contains(p))
            {
                return Err(Error::invalid(format!(
                    "{} answered {:?}: chances lie between 0 and 1",
                    self.evaluator.name(),
                    answer.to_array()
                )));
            }
            scratch.out[i] = *answer;
        }
        Ok(())
    }
}

/// Buffers of [`Player::evaluate`].
#[derive(Debug, Default)]
pub struct Scratch {
    /// The answers, one for each board.
    pub out: Vec<Chances>,
    open: Vec<Board>,
    indices: Vec<usize>,
    answers: Vec<Chances>,
}

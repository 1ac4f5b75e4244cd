//! Checking a finished table without trusting its generator: each value must
//! follow from the values of the positions that its moves lead to, as read from
//! the tables.

use rayon::prelude::*;

use super::position::Position;
use super::probe::Probe;
use super::{Material, ProbeError, Score, Side};
use crate::{Error, Result};

/// What [`check`] looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// Numbers that were looked at.
    pub numbers: u64,
    /// Values of legal positions that follow from their moves.
    pub values: u64,
}

/// Checks `sample` numbers of an ending, spread evenly, or all when there are no
/// more: legal positions have a value, other numbers none, and each value is the
/// best over the moves. Tables of what the ending converts into must be there.
///
/// # Errors
/// [`Error::Corrupt`] with the first wrong position; as [`Probe::probe`].
pub fn check(
    probe: &Probe,
    ending: &Material,
    sample: u64,
    progress: &(dyn Fn(u64) -> Result<()> + Sync),
) -> Result<Checked> {
    let table = probe.table(ending)?;
    let len = table.reader().len();
    let count = sample.min(len);
    let part = 4096;
    let checked = (0..count.div_ceil(part)).into_par_iter().map(|k| {
        let mut values = 0;
        let mut record = [0; 2];
        let record = &mut record[..table.reader().width()];
        for i in k * part..((k + 1) * part).min(count) {
            let number = (u128::from(i) * u128::from(len) / u128::from(count)) as u64;
            table.reader().get(number, record)?;
            let placement = table.placement(number);
            for (&side, &raw) in table.sides().iter().zip(&*record) {
                let own = placement.filter(|p| table.number(p) == Some(number));
                let position = own.and_then(|p| Position::from_placement(table.men(), &p, side));
                let score = table.coding(side).map_or(Score::ILLEGAL, |c| c.score(raw));
                if follows(probe, position.as_ref(), score, number, side)? {
                    values += 1;
                }
            }
        }
        progress(part)?;
        Ok::<u64, Error>(values)
    });
    let values = checked.try_reduce(|| 0, |a, b| Ok(a + b))?;
    Ok(Checked {
        numbers: count,
        values,
    })
}

/// Whether there is a position; fails when its score is not what follows.
fn follows(
    probe: &Probe,
    position: Option<&Position>,
    score: Score,
    number: u64,
    side: Side,
) -> Result<bool> {
    let wrong = |message: String| Err(Error::corrupt("K-6", message));
    let Some(position) = position else {
        return match score {
            Score::ILLEGAL => Ok(false),
            _ => wrong(format!(
                "number {number} with {side:?} to move is no position but has a value"
            )),
        };
    };
    let moves = probe.moves(position).map_err(|e| match e {
        ProbeError::Table(e) => e,
        other => Error::invalid(format!("a deep check needs what moves lead to: {other}")),
    })?;
    let stuck = if position.in_check() {
        Score::loss(0)
    } else {
        Score::DRAW
    };
    let expected = moves.first().map_or(stuck, |&(_, best)| best);
    if score != expected {
        return wrong(format!(
            "{position} has {score:?}, its moves give {expected:?}"
        ));
    }
    Ok(true)
}

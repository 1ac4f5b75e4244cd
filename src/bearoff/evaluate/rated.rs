//! The plays of a roll with what each is worth.

use super::{Evaluation, Tables};
use crate::Result;
use crate::bearoff::board::{Board, Points, pips};
use crate::bearoff::plays::{Play, Plays};
use crate::bearoff::position::{CubeOwner, Dice};

/// A play and what it is worth to the side that makes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rated {
    /// The play.
    pub play: Play,
    /// By this the plays are sorted, and it is the same kind of equity for all
    /// of them; see [`Tables::rate_plays`].
    pub equity: f64,
    /// Equity when nobody can double; `None` as in [`Evaluation`].
    pub equity_cubeless: Option<f64>,
    /// Chance of winning.
    pub win: f64,
    /// Chance of winning a gammon; `None` as in [`Evaluation`].
    pub win_gammon: Option<f64>,
    /// Chance of losing a gammon; `None` as in [`Evaluation`].
    pub lose_gammon: Option<f64>,
}

/// A buffer for rated plays, to be used again and again.
#[derive(Debug, Default)]
pub struct RatedPlays {
    plays: Plays,
    list: Vec<Rated>,
    cubeful: bool,
    exact: bool,
}

impl RatedPlays {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// The plays, the best first.
    pub fn as_slice(&self) -> &[Rated] {
        &self.list
    }

    /// Whether [`Rated::equity`] counts the cube.
    pub fn is_cubeful(&self) -> bool {
        self.cubeful
    }

    /// Whether all come from two-sided tables.
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}

impl Tables {
    /// Rates all legal plays of `dice` into `plays`, the best first.
    ///
    /// Each is worth what the opponent's evaluation of the board after it
    /// says. All are measured alike: by two-sided tables if these cover every
    /// play, else all by one-sided ones; with the cube (`owner`, for money) if
    /// every value knows it, without it for `None`; and by winning alone if a
    /// gammon chance of any is not known. Of equal plays those with the most
    /// chequers off come first, then those with the fewest pips left, then
    /// those with the lowest high points.
    ///
    /// Errors: as [`Tables::evaluate`].
    pub fn rate_plays(
        &self,
        board: &Board,
        dice: Dice,
        owner: Option<CubeOwner>,
        plays: &mut RatedPlays,
    ) -> Result<()> {
        let RatedPlays {
            plays: generator,
            list,
            cubeful,
            exact,
        } = plays;
        list.clear();
        (*exact, *cubeful) = (true, owner.is_some());
        for &play in generator.generate(board, dice) {
            let seen = self.evaluate(play.next())?;
            *exact &= seen.two_sided.is_some();
            *cubeful &= seen.cubeful.is_some();
            list.push(Rated::new(play, &seen, owner));
        }
        if !*exact {
            *cubeful = false;
            for rated in list.iter_mut() {
                let seen = self.evaluate_by(rated.play.next(), false)?;
                *rated = Rated::new(rated.play, &seen, None);
            }
        }
        if !*cubeful {
            let gammons = list.iter().all(|rated| rated.equity_cubeless.is_some());
            for rated in list.iter_mut() {
                rated.equity = match rated.equity_cubeless {
                    Some(equity) if gammons => equity,
                    _ => 2.0 * rated.win - 1.0,
                };
            }
        }
        // A stable sort: what is still equal stays in the generator's order.
        list.sort_by(|a, b| {
            b.equity
                .total_cmp(&a.equity)
                .then_with(|| a.left().cmp(&b.left()))
        });
        Ok(())
    }
}

impl Rated {
    /// `seen` is the opponent's evaluation of the board after the play.
    fn new(play: Play, seen: &Evaluation, owner: Option<CubeOwner>) -> Self {
        let equity = owner.zip(seen.cubeful).map(|(owner, cubeful)| {
            let theirs = match owner {
                CubeOwner::Centred => CubeOwner::Centred,
                CubeOwner::OnRoll => CubeOwner::Opponent,
                CubeOwner::Opponent => CubeOwner::OnRoll,
            };
            -cubeful.best(theirs)
        });
        Rated {
            play,
            equity: equity.unwrap_or_default(),
            equity_cubeless: seen.equity_cubeless.map(|equity| -equity),
            win: 1.0 - seen.win,
            win_gammon: seen.lose_gammon,
            lose_gammon: seen.win_gammon,
        }
    }

    /// What the play leaves: chequers, pips, and where they stand from the
    /// bar down.
    fn left(&self) -> (u8, u32, Points) {
        let mut side = *self.play.next().opponent();
        let (chequers, pips) = (side.iter().sum(), pips(&side));
        side.reverse();
        (chequers, pips, side)
    }
}

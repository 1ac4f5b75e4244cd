//! Two-sided tables: exact equities, and what to do with the cube.

use super::{Database, TableId};
use crate::Result;
use crate::bearoff::board::Board;
use crate::bearoff::position::CubeOwner;
use crate::format::{Kind, Schema};
use crate::numbering::{Numbering, Pair};

/// Fields of the table, in record order.
const FIELDS: [&str; 4] = ["cubeless", "owned", "centred", "opponent"];

/// What a stored equity is exact to, in points: equities are cut off at it, so
/// that a take worth exactly a point, twice a half, is one unit short.
const UNIT: f64 = 2.0 / 65535.0;

/// Equities of the side on roll for money at a cube of 1 by who may double,
/// each when it does *not* double now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cubeful {
    /// The side on roll owns the cube.
    pub owned: f64,
    /// The cube is in the middle.
    pub centred: f64,
    /// The opponent owns the cube.
    pub opponent: f64,
}

/// What the side on roll does with the cube, and the opponent after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CubeAction {
    /// Rolling on is better.
    NoDouble,
    /// Doubling is better, and taking it is right.
    DoubleTake,
    /// Doubling is as good or better, and giving up is right.
    DoublePass,
}

impl CubeAction {
    /// The name in machine-readable output.
    pub fn name(self) -> &'static str {
        match self {
            CubeAction::NoDouble => "no_double",
            CubeAction::DoubleTake => "double_take",
            CubeAction::DoublePass => "double_pass",
        }
    }
}

impl Cubeful {
    /// The equity when the side on roll does not double now.
    pub fn no_double(&self, owner: CubeOwner) -> f64 {
        match owner {
            CubeOwner::Centred => self.centred,
            CubeOwner::OnRoll => self.owned,
            CubeOwner::Opponent => self.opponent,
        }
    }

    /// The equity after a double that is taken: twice that with the cube on
    /// the other side.
    pub fn double_take(&self) -> f64 {
        2.0 * self.opponent
    }

    /// The right action, or `None` when the opponent owns the cube.
    ///
    /// A position that is too good to double needs gammons, which a two-sided
    /// bearoff does not have: an equity never exceeds 1. Where doubling and
    /// not doubling are worth the same, `NoDouble` is the answer if the double
    /// is taken and `DoublePass` if it is not; where taking and giving up are
    /// worth the same to the resolution of the table, `DoublePass`.
    pub fn action(&self, owner: CubeOwner) -> Option<CubeAction> {
        if owner == CubeOwner::Opponent {
            return None;
        }
        let rolling = self.no_double(owner);
        Some(if self.double_take() > 1.0 - 1.5 * UNIT {
            CubeAction::DoublePass
        } else if self.double_take() > rolling {
            CubeAction::DoubleTake
        } else {
            CubeAction::NoDouble
        })
    }

    /// The equity with the right action, at the cube as it stands.
    pub fn best(&self, owner: CubeOwner) -> f64 {
        match self.action(owner) {
            Some(CubeAction::DoubleTake) => self.double_take(),
            Some(CubeAction::DoublePass) => 1.0,
            Some(CubeAction::NoDouble) | None => self.no_double(owner),
        }
    }
}

/// An open table of equities.
#[derive(Debug)]
pub(super) struct TwoSided {
    id: TableId,
    database: Database,
    pair: Pair,
    cubeful: bool,
    /// Half of the greatest value.
    half: f64,
}

impl TwoSided {
    /// Takes the database, or hands it back when it is no table of this kind.
    pub(super) fn new(
        id: TableId,
        database: Database,
        schema: &Schema,
    ) -> Result<Result<Self, Box<Database>>> {
        let fields: Vec<_> = schema.columns.iter().flat_map(|c| &c.fields).collect();
        let cubeful = fields.len() == FIELDS.len();
        let fits = schema.numbering.name == Pair::NAME
            && (cubeful || fields.len() == 1)
            && fields.iter().zip(FIELDS).all(|(field, name)| {
                field.name == name
                    && field.kind == Kind::Unsigned
                    && field.count == 1
                    && field.bias == 0
                    && field.maximum > 0
                    && field.maximum == fields[0].maximum
            });
        if !fits {
            return Ok(Err(Box::new(database)));
        }
        Ok(Ok(TwoSided {
            id,
            database,
            pair: Pair::from_params(&schema.numbering.params)?,
            cubeful,
            half: fields[0].maximum as f64 / 2.0,
        }))
    }

    pub(super) fn id(&self) -> TableId {
        self.id
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    /// Small tables first; of two alike the one that knows the cube.
    pub(super) fn size(&self) -> (u64, bool) {
        (self.pair.len(), !self.cubeful)
    }

    #[inline]
    pub(super) fn covers(&self, top: usize, total: u8) -> bool {
        let side = self.pair.side();
        top <= side.points() && total <= side.chequers()
    }

    /// The equity without a cube, and with it where the table has that.
    #[inline]
    pub(super) fn read(&self, board: &Board) -> Result<(f64, Option<Cubeful>)> {
        let points = self.pair.side().points();
        let (us, them) = (&board.on_roll()[..points], &board.opponent()[..points]);
        let number = self.pair.rank(us, them)?;
        let mut values = [0; FIELDS.len()];
        let record = match self.cubeful {
            true => &mut values[..],
            false => &mut values[..1],
        };
        match &self.database {
            Database::Table(reader) => reader.get(number, record)?,
            Database::Gnubg(file) => crate::table::Records::read(&**file, number, record)?,
        }
        let [cubeless, owned, centred, opponent] = values.map(|v| f64::from(v) / self.half - 1.0);
        let cubeful = self.cubeful.then_some(Cubeful {
            owned,
            centred,
            opponent,
        });
        Ok((cubeless, cubeful))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubeful(owned: f64, centred: f64, opponent: f64) -> Cubeful {
        Cubeful {
            owned,
            centred,
            opponent,
        }
    }

    #[test]
    fn actions_of_the_last_roll() {
        // On the last roll the cube is dead: with a winning chance p all
        // equities are 2p − 1, a double gains when p > 1/2, and the opponent
        // passes when it wins less than a quarter.
        for (p, action, best) in [
            (0.25, CubeAction::NoDouble, -0.5),
            (0.5, CubeAction::NoDouble, 0.0),
            (27.0 / 36.0 - 0.01, CubeAction::DoubleTake, 0.96),
            (0.75, CubeAction::DoublePass, 1.0),
            (0.9, CubeAction::DoublePass, 1.0),
            (1.0, CubeAction::DoublePass, 1.0),
        ] {
            let equity = 2.0 * p - 1.0;
            let seen = cubeful(equity, equity, equity);
            for owner in [CubeOwner::Centred, CubeOwner::OnRoll] {
                assert_eq!(seen.action(owner), Some(action), "{p}");
                assert!((seen.best(owner) - best).abs() < 1e-9, "{p}");
            }
            assert_eq!(seen.action(CubeOwner::Opponent), None);
            assert_eq!(seen.best(CubeOwner::Opponent), equity);
        }
    }

    #[test]
    fn who_owns_the_cube_matters() {
        // Holding the cube is worth more than sharing it.
        let seen = cubeful(0.45, 0.38, 0.2);
        assert_eq!(
            seen.action(CubeOwner::Centred),
            Some(CubeAction::DoubleTake)
        );
        assert_eq!(seen.action(CubeOwner::OnRoll), Some(CubeAction::NoDouble));
    }
}

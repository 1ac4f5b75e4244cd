//! From a board to winning chances: the best answer that the open tables allow.
//!
//! A two-sided table is exact and knows the cube; two one-sided distributions
//! give the chances of a race in which both sides play for the fewest rolls;
//! where neither reaches, [`NotCovered`] says what would.

mod coverage;
mod measure;
mod one_sided;
mod race;
mod rated;
mod two_sided;

pub use coverage::NotCovered;
pub use race::Rolls;
pub use rated::{Rated, RatedPlays};
pub use two_sided::{CubeAction, Cubeful};

use std::path::{Path, PathBuf};

use super::board::Board;
use super::database::Database;
use super::distribution;
use crate::table::{BlockCache, OpenOptions, Reader};
use crate::{Error, Result};
use measure::Measure;
use one_sided::{OneSided, WIDEST};
use two_sided::TwoSided;

/// Values of a distribution, at most: tables of many points need more than 32.
const MOST_ROLLS: usize = 48;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/engine.md")]
struct Documentation;

/// Chequers of a side that can still lose a gammon.
const ALL_CHEQUERS: u8 = 15;

/// A table among those that are open together, in the order of
/// [`Tables::names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(u16);

/// What is known of a position, as the side on roll sees it; chances from 0
/// to 1, equities in points at a cube of 1, for money.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// Chance of winning, gammons included.
    pub win: f64,
    /// Chance of winning a gammon; `None` where the opponent has all its
    /// chequers and no open table has its gammon distribution.
    pub win_gammon: Option<f64>,
    /// Chance of losing a gammon; `None` likewise.
    pub lose_gammon: Option<f64>,
    /// Equity when nobody can double; `None` where a gammon chance is.
    pub equity_cubeless: Option<f64>,
    /// Equities with the cube, from a two-sided table.
    pub cubeful: Option<Cubeful>,
    /// The rolls that the side on roll and its opponent need, from one-sided
    /// tables.
    pub rolls: Option<[Rolls; 2]>,
    /// The table that gave the chances when they are exact.
    pub two_sided: Option<TableId>,
    /// The tables that gave the rolls of the side on roll and its opponent,
    /// and the chances where they are not exact.
    pub one_sided: Option<[TableId; 2]>,
}

impl Evaluation {
    const UNKNOWN: Evaluation = Evaluation {
        win: 0.0,
        win_gammon: None,
        lose_gammon: None,
        equity_cubeless: None,
        cubeful: None,
        rolls: None,
        two_sided: None,
        one_sided: None,
    };

    /// Puts exact chances in the place of those of a race.
    #[inline]
    fn improve(&mut self, table: &TwoSided, board: &Board) -> Result<()> {
        let (cubeless, cubeful) = table.read(board)?;
        self.win = (1.0 + cubeless) / 2.0;
        (self.win_gammon, self.lose_gammon) = (Some(0.0), Some(0.0));
        self.equity_cubeless = Some(cubeless);
        self.cubeful = cubeful;
        self.two_sided = Some(table.id());
        Ok(())
    }
}

/// Bearoff tables that are open together.
///
/// Evaluations take `&self` and allocate nothing, from any number of threads.
///
/// ```no_run
/// use endtable::bearoff::{Position, Tables};
///
/// # fn main() -> endtable::Result<()> {
/// let mut tables = Tables::new();
/// tables.open("bearoff-10.etb".as_ref())?;
/// let position = Position::parse("6:1 / 6:1")?;
/// let evaluation = tables.evaluate(&position.board)?;
/// assert!((evaluation.win - 0.8125).abs() < 1.0 / 65535.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Tables {
    names: Vec<PathBuf>,
    /// The smallest first, so that the first one that covers is taken.
    one_sided: Vec<OneSided>,
    two_sided: Vec<TwoSided>,
}

impl Tables {
    /// No tables yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a table or a gnubg database, whatever its name, and adds it.
    ///
    /// Errors: those of [`Database::open`] and [`Tables::add`].
    pub fn open(&mut self, path: &Path) -> Result<()> {
        self.add(path, Database::open(path)?)
            .map_err(|e| e.in_file(path))
    }

    /// Opens `path` with blocks kept in `cache`, which tables may share.
    ///
    /// Errors: as [`Tables::open`].
    pub fn open_cached(&mut self, path: &Path, cache: &std::sync::Arc<BlockCache>) -> Result<()> {
        let options = OpenOptions::new().cache(cache.clone());
        let database = Database::open_with(path, |path| options.open(path))?;
        self.add(path, database).map_err(|e| e.in_file(path))
    }

    /// Adds an open table under a name of the caller's.
    ///
    /// Errors: [`Error::Unsupported`] for a table that holds neither one-sided
    /// distributions nor two-sided equities.
    pub fn add(&mut self, name: &Path, database: Database) -> Result<()> {
        let id = u16::try_from(self.names.len())
            .map(TableId)
            .map_err(|_| Error::invalid("more than 65536 tables at once"))?;
        let schema = database.schema()?;
        let content = schema.properties.text("content").unwrap_or("records");
        let wrong = format!(
            "a table of {content} (numbering '{}') evaluates no bearoff; one-sided distributions or two-sided equities do",
            schema.numbering.name
        );
        match OneSided::new(id, database, &schema)? {
            Ok(table) => {
                let at = self.one_sided.partition_point(|t| t.size() <= table.size());
                self.one_sided.insert(at, table);
            }
            Err(database) => match TwoSided::new(id, *database, &schema)? {
                Ok(table) => {
                    let at = self.two_sided.partition_point(|t| t.size() <= table.size());
                    self.two_sided.insert(at, table);
                }
                Err(_) => return Err(Error::unsupported(wrong)),
            },
        }
        self.names.push(name.to_owned());
        Ok(())
    }

    /// The names of the tables, in the order in which they were added.
    pub fn names(&self) -> &[PathBuf] {
        &self.names
    }

    /// The name of a table.
    pub fn name(&self, id: TableId) -> &Path {
        self.names
            .get(usize::from(id.0))
            .map_or(Path::new(""), PathBuf::as_path)
    }

    /// Whether there is no table.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The readers of those tables that are not gnubg's databases.
    pub fn readers(&self) -> impl Iterator<Item = &Reader> {
        let one_sided = self.one_sided.iter().map(OneSided::database);
        let databases = one_sided.chain(self.two_sided.iter().map(TwoSided::database));
        databases.filter_map(|database| match database {
            Database::Table(reader) => Some(&**reader),
            Database::Gnubg(_) => None,
        })
    }

    /// Evaluates a board for the side on roll.
    ///
    /// Errors: [`Error::NotCovered`]; those of [`Reader::get`].
    pub fn evaluate(&self, board: &Board) -> Result<Evaluation> {
        self.evaluate_by(board, true)
    }

    /// Evaluates boards one after the other into `out`, which is as long.
    /// An opponent that stays the same, as among the plays of a roll, is
    /// looked up once.
    ///
    /// Errors: [`Error::Invalid`] for an `out` of another length; faults of
    /// single boards are in their place.
    pub fn evaluate_batch(&self, boards: &[Board], out: &mut [Result<Evaluation>]) -> Result<()> {
        if boards.len() != out.len() {
            return Err(Error::invalid(format!(
                "{} boards and {} places for their evaluations; as many are needed",
                boards.len(),
                out.len()
            )));
        }
        let mut held = Held::new();
        for (board, out) in boards.iter().zip(out) {
            *out = self.evaluate_held(board, true, &mut held);
        }
        Ok(())
    }

    /// As [`Tables::evaluate`]; exact tables are passed over unless `exact`.
    #[inline]
    fn evaluate_by(&self, board: &Board, exact: bool) -> Result<Evaluation> {
        self.evaluate_held(board, exact, &mut Held::new())
    }

    #[inline]
    fn evaluate_held(&self, board: &Board, exact: bool, held: &mut Held) -> Result<Evaluation> {
        let sides = [board.on_roll(), board.opponent()];
        let [us, them] = [Measure::of(sides[0]), Measure::of(sides[1])];
        if us.top + them.top > 24 {
            return Err(Error::NotCovered(NotCovered::contact([us, them])));
        }
        let (top, total) = (us.top.max(them.top), us.total.max(them.total));
        let two_sided = match exact && total < ALL_CHEQUERS {
            true => self.two_sided.iter().find(|t| t.covers(top, total)),
            false => None,
        };
        let (Some(ours), Some(theirs)) = (self.find(us), self.find(them)) else {
            let Some(table) = two_sided else {
                let covered = [us, them].map(|side| self.find(side).is_some());
                return Err(Error::NotCovered(NotCovered::sides([us, them], covered)));
            };
            let mut evaluation = Evaluation::UNKNOWN;
            evaluation.improve(table, board)?;
            return Ok(evaluation);
        };
        let number = ours.number(sides[0], us.total)?;
        let opposing = theirs.number(sides[1], them.total)?;
        if held.is_empty() && ours.id() == theirs.id() {
            held.read_two(ours, [number, opposing])?;
        } else {
            held.read(0, ours, number, us.total)?;
            held.read(1, theirs, opposing, them.total)?;
        }
        let distributions = [
            ours.distribution(&held.records[0], us.total),
            theirs.distribution(&held.records[1], them.total),
        ];
        let mut evaluation = race::evaluate(distributions, [us.pips, them.pips]);
        evaluation.one_sided = Some([ours.id(), theirs.id()]);
        if let Some(table) = two_sided {
            evaluation.improve(table, board)?;
        }
        Ok(evaluation)
    }

    /// The smallest one-sided table that covers a side, with its gammon
    /// distribution if that is needed and there is one.
    #[inline]
    fn find(&self, side: Measure) -> Option<&OneSided> {
        let mut covering = self
            .one_sided
            .iter()
            .filter(|t| t.covers(side.top, side.total));
        let first = covering.next()?;
        if side.total < ALL_CHEQUERS || first.has_gammon() {
            return Some(first);
        }
        covering.find(|t| t.has_gammon()).or(Some(first))
    }
}

/// The records read last for either side, and of what.
struct Held {
    of: [Option<(TableId, u64)>; 2],
    records: [[u32; WIDEST]; 2],
}

impl Held {
    #[inline]
    fn new() -> Self {
        Held {
            of: [None; 2],
            records: [[0; WIDEST]; 2],
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.of == [None; 2]
    }

    /// Reads both sides.
    #[inline]
    fn read_two(&mut self, table: &OneSided, numbers: [u64; 2]) -> Result<()> {
        table.read_two(numbers, &mut self.records)?;
        self.of = numbers.map(|number| Some((table.id(), number)));
        Ok(())
    }

    /// Reads a side unless it is held already; `which` is 0 or 1.
    #[inline]
    fn read(&mut self, which: usize, table: &OneSided, number: u64, total: u8) -> Result<()> {
        let wanted = Some((table.id(), number));
        if self.of[which] != wanted {
            // Nothing is held should the reading fail.
            self.of[which] = None;
            table.read(number, total, &mut self.records[which])?;
            self.of[which] = wanted;
        }
        Ok(())
    }
}

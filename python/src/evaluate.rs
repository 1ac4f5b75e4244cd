//! `Tables`: bearoff tables that are open together.

use std::path::PathBuf;

use endtable::bearoff::board::{BAR, Board, Points};
use endtable::bearoff::database::is_known;
use endtable::bearoff::evaluate::RatedPlays;
use endtable::bearoff::position::{CubeOwner, dice};
use endtable::bearoff::{self, Position, play_notation};
use endtable::table::library;
use endtable::{Error, Result};
use numpy::{IntoPyArray, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::{InvalidError, raise};

/// Boards that are evaluated at a time.
const BATCH: usize = 256;

/// Bearoff tables that are open together: the answer comes from the best of them.
#[pyclass(frozen, module = "endtable")]
pub(crate) struct Tables {
    tables: bearoff::Tables,
}

/// What is known of a position, as the side on roll sees it; None for what the
/// open tables do not tell. Pairs are the side on roll and its opponent; equities
/// are for money at a cube of 1, not doubling now.
#[pyclass(frozen, get_all, module = "endtable")]
pub(crate) struct Evaluation {
    win: f64,
    win_gammon: Option<f64>,
    lose_gammon: Option<f64>,
    exact: bool,
    equity_cubeless: Option<f64>,
    equity_owned: Option<f64>,
    equity_centred: Option<f64>,
    equity_opponent: Option<f64>,
    cube_action: Option<&'static str>,
    mean_rolls: Option<(f64, f64)>,
    deviation_rolls: Option<(f64, f64)>,
    epc: Option<(f64, f64)>,
    wastage: Option<(f64, f64)>,
}

#[pymethods]
impl Evaluation {
    fn __repr__(&self) -> String {
        let exact = if self.exact { "True" } else { "False" };
        format!("Evaluation(win={:.6}, exact={exact})", self.win)
    }
}

/// A play and what it is worth to the side that makes it.
#[pyclass(frozen, get_all, module = "endtable")]
pub(crate) struct Play {
    play: String,
    equity: f64,
    equity_cubeless: Option<f64>,
    win: f64,
    win_gammon: Option<f64>,
    lose_gammon: Option<f64>,
}

#[pymethods]
impl Play {
    fn __repr__(&self) -> String {
        format!("Play({:?}, equity={:+.6})", self.play, self.equity)
    }
}

/// A position as Python gives it: in a notation, or both sides' counts.
#[derive(FromPyObject)]
pub(crate) enum Given {
    Text(String),
    Sides(Vec<u8>, Vec<u8>),
}

impl Given {
    fn position(self) -> Result<Position> {
        match self {
            Given::Text(text) => Position::parse(&text),
            Given::Sides(us, them) => Board::new(side(&us)?, side(&them)?).map(Position::of),
        }
    }
}

/// A side's counts; points that are not given are empty.
fn side(counts: &[u8]) -> Result<Points> {
    let mut side = [0; BAR + 1];
    match side.get_mut(..counts.len()) {
        Some(given) => given.copy_from_slice(counts),
        None => {
            let found = counts.len();
            let message = format!("{found} counts given, a side has 24 points and its bar");
            return Err(Error::invalid(message));
        }
    }
    Ok(side)
}

fn owner(cube: Option<&str>) -> PyResult<Option<CubeOwner>> {
    Ok(match cube {
        None => None,
        Some("centred") => Some(CubeOwner::Centred),
        Some("owned") => Some(CubeOwner::OnRoll),
        Some("opponent") => Some(CubeOwner::Opponent),
        Some(other) => {
            let message =
                format!("cube {other:?}: expected 'centred', 'owned', 'opponent' or None");
            return Err(InvalidError::new_err(message));
        }
    })
}

#[pymethods]
impl Tables {
    /// Open these tables or gnubg databases; without `paths`, those in
    /// `ENDTABLE_PATH` and the user's data folder.
    #[new]
    #[pyo3(signature = (paths = None))]
    fn new(py: Python<'_>, paths: Option<Vec<PathBuf>>) -> PyResult<Self> {
        let opened = py.detach(|| -> Result<bearoff::Tables> {
            let mut tables = bearoff::Tables::new();
            match paths {
                Some(paths) => paths.iter().try_for_each(|path| tables.open(path))?,
                None => {
                    for path in library::find(&library::search_path(), is_known) {
                        // What is no bearoff, or cannot be read, was not asked for.
                        let _ = tables.open(&path);
                    }
                }
            }
            Ok(tables)
        });
        Ok(Tables {
            tables: opened.map_err(raise)?,
        })
    }

    /// The files, in the order in which they were opened.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.tables.names().to_vec()
    }

    fn __len__(&self) -> usize {
        self.tables.names().len()
    }

    fn __repr__(&self) -> String {
        format!("<endtable.Tables: {} tables>", self.tables.names().len())
    }

    /// Evaluate a position for the side on roll.
    ///
    /// A position is a Position ID, an XGID, two sides such as '6:2 5:3 / 4:1', or
    /// two sequences of chequers on the points from the ace-point on.
    fn evaluate(&self, position: Given) -> PyResult<Evaluation> {
        let position = position.position().map_err(raise)?;
        let seen = self.tables.evaluate(&position.board).map_err(raise)?;
        let cubeful = seen.cubeful.filter(|_| position.score.is_none());
        let both = |get: fn(&bearoff::evaluate::Rolls) -> f64| {
            seen.rolls.as_ref().map(|[us, them]| (get(us), get(them)))
        };
        Ok(Evaluation {
            win: seen.win,
            win_gammon: seen.win_gammon,
            lose_gammon: seen.lose_gammon,
            exact: seen.two_sided.is_some(),
            equity_cubeless: seen.equity_cubeless,
            equity_owned: cubeful.map(|c| c.owned),
            equity_centred: cubeful.map(|c| c.centred),
            equity_opponent: cubeful.map(|c| c.opponent),
            cube_action: cubeful
                .and_then(|c| c.action(position.cube.owner))
                .map(|action| action.name()),
            mean_rolls: both(|r| r.mean),
            deviation_rolls: both(|r| r.deviation),
            epc: both(|r| r.epc),
            wastage: both(|r| r.wastage),
        })
    }

    /// Evaluate many boards: a contiguous uint8 array of shape `(n, 2, 25)`, for
    /// each board the chequers of the side on roll and of its opponent on their
    /// points 1 to 24 and the bar. The answer is a dictionary of float64 arrays
    /// with NaN for what no table covers or tells.
    fn evaluate_many<'py>(
        &self,
        py: Python<'py>,
        boards: PyReadonlyArray3<'py, u8>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let [count, sides, points] = [0, 1, 2].map(|axis| boards.shape()[axis]);
        if sides != 2 || points != BAR + 1 {
            let message =
                format!("boards of shape (n, 2, 25) expected, not (n, {sides}, {points})");
            return Err(InvalidError::new_err(message));
        }
        let counts = boards.as_slice()?;
        let columns = py
            .detach(|| evaluate_all(&self.tables, counts, count))
            .map_err(raise)?;
        let out = PyDict::new(py);
        for (name, values) in NAMES.into_iter().zip(columns) {
            out.set_item(name, values.into_pyarray(py))?;
        }
        Ok(out)
    }

    /// The legal plays of a roll, the best first. `cube` tells who may double,
    /// for money: 'centred', 'owned' (by the side on roll), 'opponent' or None.
    #[pyo3(signature = (position, roll, cube = Some("centred")))]
    fn plays(&self, position: Given, roll: (u8, u8), cube: Option<&str>) -> PyResult<Vec<Play>> {
        let owner = owner(cube)?;
        let position = position.position().map_err(raise)?;
        let owner = owner.filter(|_| position.score.is_none());
        let mut rated = RatedPlays::new();
        dice(roll.0, roll.1)
            .and_then(|roll| {
                self.tables
                    .rate_plays(&position.board, roll, owner, &mut rated)
            })
            .map_err(raise)?;
        let play = |rated: &bearoff::evaluate::Rated| Play {
            play: play_notation::format(&position.board, &rated.play),
            equity: rated.equity,
            equity_cubeless: rated.equity_cubeless,
            win: rated.win,
            win_gammon: rated.win_gammon,
            lose_gammon: rated.lose_gammon,
        };
        Ok(rated.as_slice().iter().map(play).collect())
    }
}

/// What `evaluate_many` answers for each board.
const NAMES: [&str; 8] = [
    "win",
    "win_gammon",
    "lose_gammon",
    "equity_cubeless",
    "equity_centred",
    "mean_rolls",
    "opponent_mean_rolls",
    "exact",
];

fn evaluate_all(
    tables: &bearoff::Tables,
    counts: &[u8],
    count: usize,
) -> Result<[Vec<f64>; NAMES.len()]> {
    let mut columns: [Vec<f64>; NAMES.len()] = std::array::from_fn(|_| Vec::with_capacity(count));
    let mut seen: Vec<Result<bearoff::Evaluation>> = Vec::new();
    let mut boards = Vec::with_capacity(BATCH);
    for counts in counts.chunks(BATCH * 2 * (BAR + 1)) {
        boards.clear();
        for board in counts.chunks_exact(2 * (BAR + 1)) {
            let (us, them) = board.split_at(BAR + 1);
            boards.push(Board::new(side(us)?, side(them)?)?);
        }
        seen.resize_with(boards.len(), || Err(Error::Interrupted));
        tables.evaluate_batch(&boards, &mut seen)?;
        for seen in &mut seen {
            let values = match std::mem::replace(seen, Err(Error::Interrupted)) {
                Ok(seen) => {
                    let unknown = |value: Option<f64>| value.unwrap_or(f64::NAN);
                    let mean = |side: usize| seen.rolls.map(|rolls| rolls[side].mean);
                    [
                        seen.win,
                        unknown(seen.win_gammon),
                        unknown(seen.lose_gammon),
                        unknown(seen.equity_cubeless),
                        unknown(seen.cubeful.map(|c| c.centred)),
                        unknown(mean(0)),
                        unknown(mean(1)),
                        f64::from(u8::from(seen.two_sided.is_some())),
                    ]
                }
                Err(Error::NotCovered(_)) => [f64::NAN; NAMES.len()],
                Err(error) => return Err(error),
            };
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
        }
    }
    Ok(columns)
}

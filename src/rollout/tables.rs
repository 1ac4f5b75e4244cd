//! Bearoff tables as exact knowledge of a rollout.

use std::path::Path;

use super::race::{ROLL_LIMIT, Times, race};
use super::{Chances, EndTable};
use crate::bearoff::Board;
use crate::bearoff::Database;
use crate::bearoff::board::{CHEQUERS, Points, highest};
use crate::bearoff::generate::{Form, Keep, OneSided};
use crate::bearoff::schema::Packing;
use crate::format::{Kind as FieldKind, Schema};
use crate::numbering::{Multiset, Pair};
use crate::table::Records;
use crate::{Error, Result};

/// The records of an open file.
struct File(Database);

impl Records for File {
    fn len(&self) -> u64 {
        self.0.records().len()
    }

    fn width(&self) -> usize {
        self.0.records().width()
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        self.0.records().read(first, out)
    }
}

/// The most values in a record that is used here.
const MOST_VALUES: usize = 128;

/// A one-sided or two-sided bearoff table, of either make.
///
/// A two-sided table gives the exact cubeless equity of both sides' best play.
/// From two one-sided distributions the chances are those of two sides that
/// each bear off in the fewest rolls on average, which is the best play but
/// for a few thousandths of a point.
pub struct BearoffTable {
    name: String,
    records: Box<dyn Records + Send>,
    form: Layout,
    points: usize,
    chequers: u8,
}

/// Where the values are in a record.
enum Layout {
    OneSided {
        numbering: Multiset,
        win: Distribution,
        /// Missing in tables without gammons.
        gammon: Option<Distribution>,
    },
    TwoSided {
        numbering: Pair,
        /// Place of the cubeless equity.
        cubeless: usize,
    },
}

#[derive(Clone, Copy)]
struct Distribution {
    start: usize,
    rolls: usize,
    /// The value that means certainty.
    certain: f32,
}

impl BearoffTable {
    /// The one-sided table of six points, computed in memory in a tenth of a
    /// second.
    ///
    /// # Errors
    /// Those of the generator.
    pub fn six_points() -> Result<Self> {
        let table = OneSided::new(6, CHEQUERS, true, Form::Exact)?;
        let schema = table.schema(&Packing::codec("stored"))?;
        let records = table.generate(&Keep::Memory, &|_| Ok(()))?;
        let name = "six points, one-sided, computed in memory".to_owned();
        Self::new(name, &schema, Box::new(records))
    }

    /// Opens a file of either make.
    ///
    /// # Errors
    /// Those of [`Database::open`] and [`BearoffTable::new`].
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_database(path, Database::open(path)?)
    }

    /// Takes a file that is open.
    ///
    /// # Errors
    /// Those of [`BearoffTable::new`].
    pub fn from_database(path: &Path, database: Database) -> Result<Self> {
        let schema = database.schema()?;
        let name = path.display().to_string();
        Self::new(name, &schema, Box::new(File(database)))
    }

    /// Puts tables in the order in which a rollout should ask them: two-sided
    /// ones first, whose values are exact whatever both sides play for, and
    /// then the smallest.
    pub fn sort(tables: &mut [BearoffTable]) {
        tables.sort_by_key(|table| {
            let two_sided = matches!(table.form, Layout::TwoSided { .. });
            (!two_sided, table.points, table.chequers)
        });
    }

    /// Takes a table's records with what they mean.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if this is no bearoff table with distributions or
    /// cubeless equities.
    pub fn new(name: String, schema: &Schema, records: Box<dyn Records + Send>) -> Result<Self> {
        let unsuited = |why: &str| {
            Error::unsupported(format!(
                "{name}: {why}; a rollout uses one-sided tables with distributions and two-sided tables of bearoffs"
            ))
        };
        let mut fields = Vec::new();
        let mut start = 0;
        for field in schema.columns.iter().flat_map(|column| &column.fields) {
            fields.push((field, start));
            start += field.count as usize;
        }
        if start > MOST_VALUES {
            return Err(unsuited(&format!("its records have {start} values")));
        }
        let of_name = |wanted: &str| {
            let found = fields
                .iter()
                .find(|(field, _)| field.name == wanted && field.kind == FieldKind::Unsigned);
            found.map(|&(field, start)| Distribution {
                start,
                rolls: field.count as usize,
                certain: ((1u64 << field.bits) - 1) as f32,
            })
        };
        let form = match schema.properties.text("content") {
            Some("bearoff one-sided") => Layout::OneSided {
                numbering: Multiset::from_params(&schema.numbering.params)?,
                win: of_name("win").ok_or_else(|| unsuited("it has no field `win`"))?,
                gammon: of_name("gammon"),
            },
            Some("bearoff two-sided") => Layout::TwoSided {
                numbering: Pair::from_params(&schema.numbering.params)?,
                cubeless: of_name("cubeless")
                    .ok_or_else(|| unsuited("it has no field `cubeless`"))?
                    .start,
            },
            content => {
                return Err(unsuited(&format!(
                    "its content is `{}`",
                    content.unwrap_or("unknown")
                )));
            }
        };
        let side = match &form {
            Layout::OneSided { numbering, .. } => numbering,
            Layout::TwoSided { numbering, .. } => numbering.side(),
        };
        let (points, chequers) = (side.points(), side.chequers());
        Ok(BearoffTable {
            name,
            records,
            form,
            points,
            chequers,
        })
    }

    fn covers(&self, side: &Points) -> bool {
        highest(side) <= self.points && side.iter().sum::<u8>() <= self.chequers
    }

    fn record(&self, number: u64) -> Result<[u32; MOST_VALUES]> {
        let mut out = [0; MOST_VALUES];
        self.records
            .read(number, &mut out[..self.records.width()])?;
        Ok(out)
    }
}

impl EndTable for BearoffTable {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn chances(&self, board: &Board) -> Result<Option<Chances>> {
        let sides = [board.on_roll(), board.opponent()];
        if !sides.iter().all(|side| self.covers(side)) || board.contact() {
            return Ok(None);
        }
        let full = sides.map(|side| side.iter().sum::<u8>() == CHEQUERS);
        let [mine, theirs] = sides.map(|side| &side[..self.points]);
        match &self.form {
            // Two-sided equities know of no gammons.
            Layout::TwoSided { .. } if full[0] || full[1] => Ok(None),
            Layout::TwoSided {
                numbering,
                cubeless,
            } => {
                let record = self.record(numbering.rank(mine, theirs)?)?;
                let win = record[*cubeless] as f32 / 65535.0;
                Ok(Some(Chances {
                    win,
                    ..Chances::default()
                }))
            }
            Layout::OneSided { gammon: None, .. } if full[0] || full[1] => Ok(None),
            Layout::OneSided {
                numbering,
                win,
                gammon,
            } => {
                let [mine, theirs] = [
                    self.record(numbering.rank(mine)?)?,
                    self.record(numbering.rank(theirs)?)?,
                ];
                let times = |record, full: bool| times(record, *win, gammon.filter(|_| full));
                Ok(Some(race(&times(&mine, full[0]), &times(&theirs, full[1]))))
            }
        }
    }
}

fn times(record: &[u32; MOST_VALUES], win: Distribution, gammon: Option<Distribution>) -> Times {
    let spread = |from: Distribution| {
        let mut out = [0.0; ROLL_LIMIT];
        for (p, &value) in out
            .iter_mut()
            .zip(&record[from.start..from.start + from.rolls])
        {
            *p = value as f32 / from.certain;
        }
        out
    };
    let mut at_once = [0.0; ROLL_LIMIT];
    at_once[0] = 1.0;
    Times {
        last: spread(win),
        first: gammon.map_or(at_once, spread),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearoff::generate::TwoSided;
    use crate::bearoff::notation::parse_board;
    use crate::rollout::HomeRaces;
    use crate::rollout::random::Random;

    #[test]
    fn one_chequer_on_each_six_point_wins_81_25_per_cent() {
        let one_sided = BearoffTable::six_points().unwrap();
        let board = parse_board("6:1 / 6:1").unwrap();
        let chances = one_sided.chances(&board).unwrap().unwrap();
        assert!((chances.win - 0.8125).abs() < 1e-5, "{chances:?}");

        let table = TwoSided::new(6, 1, false).unwrap();
        let schema = table.schema(&Packing::codec("stored")).unwrap();
        let records = table.generate(&Keep::Memory, &|_| Ok(())).unwrap();
        let two_sided =
            BearoffTable::new("two-sided".to_owned(), &schema, Box::new(records)).unwrap();
        let chances = two_sided.chances(&board).unwrap().unwrap();
        assert!((chances.win - 0.8125).abs() < 2e-5, "{chances:?}");
        assert_eq!(
            two_sided
                .chances(&parse_board("6:2 / 6:1").unwrap())
                .unwrap(),
            None
        );
    }

    #[test]
    fn the_generated_table_agrees_with_the_plain_one() {
        let (plain, table) = (HomeRaces::new(), BearoffTable::six_points().unwrap());
        let mut random = Random::new(4, 0);
        for _ in 0..2000 {
            let mut sides = [[0; 25]; 2];
            for side in &mut sides {
                for _ in 0..1 + random.below(15) {
                    side[random.below(6) as usize] += 1;
                }
            }
            let board = Board::new(sides[0], sides[1]).unwrap();
            let (a, b) = (
                plain.chances(&board).unwrap(),
                table.chances(&board).unwrap().unwrap(),
            );
            for (p, q) in a.to_array().into_iter().zip(b.to_array()) {
                assert!((p - q).abs() < 2e-5, "{board:?}: {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn what_a_table_does_not_hold_it_leaves_alone() {
        let table = BearoffTable::six_points().unwrap();
        for text in ["7:1 / 6:1", "6:1 / 24:1", "bar:1 / 6:1"] {
            assert_eq!(
                table.chances(&parse_board(text).unwrap()).unwrap(),
                None,
                "{text}"
            );
        }
    }
}

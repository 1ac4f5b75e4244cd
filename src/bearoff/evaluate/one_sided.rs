//! One-sided tables: the distributions of a side's rolls.

use super::{Database, MOST_ROLLS, TableId};
use crate::bearoff::board::Points;
use crate::format::{Field, Kind, Schema};
use crate::numbering::{Multiset, Numbering};
use crate::{Error, Result};

/// An open table of distributions.
#[derive(Debug)]
pub(super) struct OneSided {
    id: TableId,
    database: Database,
    side: Multiset,
    layout: Layout,
    /// Values of the distribution of the last chequer, and of the first one.
    rolls: [usize; 2],
    win_unit: f64,
    gammon_unit: Option<f64>,
}

/// Where the distributions lie.
#[derive(Debug)]
enum Layout {
    /// In columns of their own.
    Columns { win: usize, gammon: Option<usize> },
    /// Somewhere in a record of `width` values.
    Record {
        width: usize,
        win: usize,
        gammon: Option<usize>,
    },
}

/// Bits of a chance, at most, so that the sums of a race cannot overflow.
const MOST_BITS: u8 = 24;

/// Values of a record that is read whole, at most.
const WIDEST: usize = 2 * MOST_ROLLS;

/// The rolls of one side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distribution {
    /// That the last chequer leaves on roll `i`, in units of `1 / win_unit`.
    pub(super) win: [u32; MOST_ROLLS],
    pub(super) win_unit: f64,
    /// From this roll on `win` is zero.
    pub(super) rolls: usize,
    /// That the first chequer does, where that is [`Gammon::Known`].
    pub(super) first: [u32; MOST_ROLLS],
    pub(super) gammon: Gammon,
}

/// Whether a side can lose a gammon.
#[derive(Debug, Clone, Copy)]
pub(super) enum Gammon {
    /// It has borne off already.
    Safe,
    /// [`Distribution::first`] tells, in units of `1 / unit`.
    Known(f64),
    /// It can, and the table does not tell.
    Unknown,
}

impl Distribution {
    /// Room for what [`OneSided::read`] finds.
    #[inline]
    pub(super) fn new() -> Self {
        Distribution {
            win: [0; MOST_ROLLS],
            win_unit: 1.0,
            rolls: 0,
            first: [0; MOST_ROLLS],
            gammon: Gammon::Safe,
        }
    }
}

impl OneSided {
    /// Takes the database, or hands it back when it is no table of this kind.
    pub(super) fn new(
        id: TableId,
        database: Database,
        schema: &Schema,
    ) -> Result<Result<Self, Box<Database>>> {
        let Some((win, win_field, win_column)) = find(schema, "win") else {
            return Ok(Err(Box::new(database)));
        };
        if schema.numbering.name != Multiset::NAME {
            return Ok(Err(Box::new(database)));
        }
        let side = Multiset::from_params(&schema.numbering.params)?;
        let gammon = find(schema, "gammon");
        let count = |field: &Field| field.count as usize;
        let alone = |column: usize| schema.columns[column].fields.len() == 1;
        let layout = match (&database, gammon) {
            (Database::Table(_), None) if alone(win_column) => Layout::Columns {
                win: win_column,
                gammon: None,
            },
            (Database::Table(_), Some((_, _, column))) if alone(win_column) && alone(column) => {
                Layout::Columns {
                    win: win_column,
                    gammon: Some(column),
                }
            }
            _ if schema.width() <= WIDEST => Layout::Record {
                width: schema.width(),
                win,
                gammon: gammon.map(|(at, _, _)| at),
            },
            _ => return Ok(Err(Box::new(database))),
        };
        Ok(Ok(OneSided {
            id,
            database,
            side,
            layout,
            rolls: [
                count(win_field),
                gammon.map_or(0, |(_, field, _)| count(field)),
            ],
            win_unit: win_field.maximum as f64,
            gammon_unit: gammon.map(|(_, field, _)| field.maximum as f64),
        }))
    }

    pub(super) fn id(&self) -> TableId {
        self.id
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    pub(super) fn size(&self) -> u64 {
        self.side.len()
    }

    pub(super) fn has_gammon(&self) -> bool {
        self.gammon_unit.is_some()
    }

    #[inline]
    pub(super) fn covers(&self, top: usize, total: u8) -> bool {
        top <= self.side.points() && total <= self.side.chequers()
    }

    /// The number of a side that the table covers, whose record is asked for
    /// from memory meanwhile.
    #[inline]
    pub(super) fn number(&self, side: &Points, total: u8) -> Result<u64> {
        let number = self.side.rank(&side[..self.side.points()])?;
        if let (Layout::Columns { win, gammon }, Database::Table(reader)) =
            (&self.layout, &self.database)
        {
            reader.prefetch(*win, number);
            if let (true, Some(column)) = (total == super::ALL_CHEQUERS, gammon) {
                reader.prefetch(*column, number);
            }
        }
        Ok(number)
    }

    /// The distributions of the side of `total` chequers with that number.
    #[inline]
    pub(super) fn read(&self, number: u64, total: u8, out: &mut Distribution) -> Result<()> {
        out.win_unit = self.win_unit;
        out.gammon = match self.gammon_unit {
            _ if total < super::ALL_CHEQUERS => Gammon::Safe,
            Some(unit) => Gammon::Known(unit),
            None => Gammon::Unknown,
        };
        let (win_rolls, first_rolls) = (self.rolls[0], self.rolls[1]);
        out.rolls = win_rolls;
        out.win[win_rolls..].fill(0);
        let in_danger = matches!(out.gammon, Gammon::Known(_));
        match (&self.layout, &self.database) {
            (Layout::Columns { win, gammon }, Database::Table(reader)) => {
                reader.get_column(*win, number, &mut out.win[..win_rolls])?;
                if let (true, Some(column)) = (in_danger, gammon) {
                    out.first[first_rolls..].fill(0);
                    reader.get_column(*column, number, &mut out.first[..first_rolls])?;
                }
            }
            (Layout::Record { width, win, gammon }, database) => {
                let mut record = [0; WIDEST];
                let record = &mut record[..*width];
                database.records().read(number, record)?;
                out.win[..win_rolls].copy_from_slice(&record[*win..][..win_rolls]);
                if let (true, Some(at)) = (in_danger, gammon) {
                    out.first[first_rolls..].fill(0);
                    out.first[..first_rolls].copy_from_slice(&record[*at..][..first_rolls]);
                }
            }
            (Layout::Columns { .. }, Database::Gnubg(_)) => {
                return Err(Error::invalid("a gnubg database has no columns"));
            }
        }
        Ok(())
    }
}

/// The field of chances that is called `name`: its place in the record,
/// itself, and its column.
fn find<'a>(schema: &'a Schema, name: &str) -> Option<(usize, &'a Field, usize)> {
    let mut at = 0;
    for (i, column) in schema.columns.iter().enumerate() {
        for field in &column.fields {
            let fits = field.kind == Kind::Unsigned
                && (1..=MOST_ROLLS).contains(&(field.count as usize))
                && field.bits <= MOST_BITS
                && field.bias == 0
                && field.maximum > 0;
            if field.name == name && fits {
                return Some((at, field, i));
            }
            at += field.count as usize;
        }
    }
    None
}

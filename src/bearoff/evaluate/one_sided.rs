//! One-sided tables: the distributions of a side's rolls.

use super::{Database, MOST_ROLLS, TableId};
use crate::Result;
use crate::bearoff::board::Points;
use crate::format::{Field, Kind, Schema};
use crate::numbering::{Multiset, Numbering};

/// An open table of distributions.
#[derive(Debug)]
pub(super) struct OneSided {
    id: TableId,
    database: Database,
    side: Multiset,
    /// Values in a record.
    width: usize,
    /// Where the distribution of the last chequer begins in a record, and that of
    /// the first one.
    win: usize,
    gammon: Option<usize>,
    /// The column that holds nothing but the former.
    win_column: Option<usize>,
    /// Values of either distribution.
    rolls: [usize; 2],
    win_unit: f64,
    gammon_unit: Option<f64>,
}

/// Bits of a chance, at most, so that the sums of a race cannot overflow.
const MOST_BITS: u8 = 24;

/// Values of a record, at most.
pub(super) const WIDEST: usize = 2 * MOST_ROLLS;

/// The rolls of one side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distribution<'a> {
    /// That the last chequer leaves on roll `i`, in units of `1 / win_unit`; at
    /// most [`MOST_ROLLS`].
    pub(super) win: &'a [u32],
    pub(super) win_unit: f64,
    pub(super) gammon: Gammon<'a>,
}

/// Whether a side can lose a gammon.
#[derive(Debug, Clone, Copy)]
pub(super) enum Gammon<'a> {
    /// It has borne off already.
    Safe,
    /// That the first chequer leaves on roll `i`, and the unit's inverse.
    Known(&'a [u32], f64),
    /// It can, and the table does not tell.
    Unknown,
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
        if schema.width() > WIDEST {
            return Ok(Err(Box::new(database)));
        }
        let alone = schema.columns[win_column].fields.len() == 1;
        let in_table = matches!(database, Database::Table(_));
        Ok(Ok(OneSided {
            id,
            database,
            side,
            width: schema.width(),
            win,
            gammon: gammon.map(|(at, _, _)| at),
            win_column: (alone && in_table).then_some(win_column),
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
        if let Database::Table(reader) = &self.database {
            match self.win_column {
                Some(column) if total < super::ALL_CHEQUERS => reader.prefetch(column, number),
                _ => reader.prefetch_record(number),
            }
        }
        Ok(number)
    }

    /// Reads the records of two numbers.
    #[inline]
    pub(super) fn read_two(&self, numbers: [u64; 2], out: &mut [[u32; WIDEST]; 2]) -> Result<()> {
        let [one, two] = out.each_mut().map(|record| &mut record[..self.width]);
        match &self.database {
            Database::Table(reader) => reader.get_two(numbers, [one, two]),
            Database::Gnubg(file) => {
                file.read(numbers[0], one)?;
                file.read(numbers[1], two)
            }
        }
    }

    /// Reads what a side of `total` chequers needs of the record of its number.
    #[inline]
    pub(super) fn read(&self, number: u64, total: u8, out: &mut [u32; WIDEST]) -> Result<()> {
        let record = &mut out[..self.width];
        match (&self.database, self.win_column) {
            (Database::Table(reader), Some(column)) if total < super::ALL_CHEQUERS => {
                let win = &mut record[self.win..][..self.rolls[0]];
                reader.get_column(column, number, win)
            }
            (Database::Table(reader), _) => reader.get(number, record),
            (Database::Gnubg(file), _) => file.read(number, record),
        }
    }

    /// What a record says of a side of `total` chequers.
    #[inline]
    pub(super) fn distribution<'a>(
        &self,
        record: &'a [u32; WIDEST],
        total: u8,
    ) -> Distribution<'a> {
        Distribution {
            win: &record[self.win..][..self.rolls[0]],
            win_unit: self.win_unit,
            gammon: match (self.gammon, self.gammon_unit) {
                _ if total < super::ALL_CHEQUERS => Gammon::Safe,
                (Some(at), Some(unit)) => Gammon::Known(&record[at..][..self.rolls[1]], unit),
                _ => Gammon::Unknown,
            },
        }
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

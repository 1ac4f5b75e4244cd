//! Two-sided tables: both sides' bearoff played out, with the cube or without.

mod equity;
mod side;
mod solve;

use side::Side;
use solve::{Solved, Solver, TILE};

use super::Needs;
use super::working::{Keep, Working};
use crate::bearoff::gnubg::Kind;
use crate::bearoff::schema::{self, Packing};
use crate::format::Schema;
use crate::numbering::{Numbering, Pair};
use crate::table::Records;
use crate::{Error, Result};

/// Which two-sided table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoSided {
    points: u8,
    chequers: u8,
    cubeful: bool,
}

/// The most positions of one side; the table then has 2^40.
const MOST_POSITIONS: u64 = 1 << 20;

/// Bytes of memory for the plays of one position of a side, about.
const SIDE_BYTES: u64 = 4096;

impl TwoSided {
    /// A table of up to `chequers` a side on `points` points, with the four
    /// equities of gnubg's cubeful databases or the cubeless one alone.
    ///
    /// Errors: [`Error::Invalid`] for points outside 1 to 24, chequers
    /// outside 1 to 15, and for more than 2^20 positions of a side.
    pub fn new(points: u8, chequers: u8, cubeful: bool) -> Result<Self> {
        let made = TwoSided {
            points,
            chequers,
            cubeful,
        };
        let side = made.kind().side()?.len();
        if side > MOST_POSITIONS {
            return Err(Error::invalid(format!(
                "{points} points and {chequers} chequers have {side} positions of a side; \
                 two-sided tables are made for up to {MOST_POSITIONS}"
            )));
        }
        Ok(made)
    }

    fn kind(&self) -> Kind {
        let TwoSided {
            points,
            chequers,
            cubeful,
        } = *self;
        Kind::TwoSided {
            points,
            chequers,
            cubeful,
        }
    }

    fn values(&self) -> usize {
        if self.cubeful { 4 } else { 1 }
    }

    /// How many positions there are; all are computed once.
    pub fn positions(&self) -> u64 {
        self.numbering().len()
    }

    fn numbering(&self) -> Pair {
        Pair::new(usize::from(self.points), self.chequers).expect("checked when made")
    }

    /// The schema of the table.
    pub fn schema(&self, packing: &Packing) -> Result<Schema> {
        schema::schema(self.kind(), packing)
    }

    /// What making the table takes.
    pub fn needs(&self) -> Result<Needs> {
        let numbering = self.numbering();
        let starts = side::starts(numbering.side())?;
        let solving = match self.cubeful {
            true => Solver::<64>::bytes(&starts),
            false => Solver::<16>::bytes(&starts),
        };
        let n = numbering.side().len();
        Ok(Needs {
            memory_bytes: solving + n * SIDE_BYTES,
            layer_bytes: n * (n + 2 * TILE as u64) * 2 * self.values() as u64,
        })
    }

    /// Computes the table. `progress` is told how many positions were done
    /// since the last time; its error stops the work.
    pub fn generate(
        &self,
        keep: &Keep,
        progress: &dyn Fn(u64) -> Result<()>,
    ) -> Result<TwoSidedRecords> {
        let numbering = self.numbering();
        let side = Side::new(numbering.side())?;
        let working = match self.cubeful {
            true => self.solve::<64>(&side, keep, progress)?,
            false => self.solve::<16>(&side, keep, progress)?,
        };
        Ok(TwoSidedRecords {
            numbering,
            side,
            values: self.values(),
            working,
        })
    }

    fn solve<const B: usize>(
        &self,
        side: &Side,
        keep: &Keep,
        progress: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Working> {
        let TwoSided {
            points,
            chequers,
            cubeful,
        } = self;
        let what = format!("two-sided {points}x{chequers} cubeful={cubeful}");
        let mut working = Working::new(keep, 2 * side.layers(), &what)?;
        let mut solver = Solver::<B>::new(side);
        for pips in 0..side.layers() {
            let (rows, columns) = (2 * pips, 2 * pips + 1);
            // The columns come last: with them the layer is whole.
            if working.has(columns) {
                let bytes = working.read(columns, 0..working.len(columns))?;
                solver.restore(pips, &bytes);
            } else {
                let Solved {
                    rows: by_us,
                    columns: by_them,
                } = solver.solve(pips);
                working.put(rows, &[&by_us])?;
                working.put(columns, &[&by_them])?;
            }
            let here = side.layer(pips);
            progress((here.len() * (2 * (side.len() - here.end) + here.len())) as u64)?;
        }
        Ok(working)
    }
}

/// A finished two-sided table.
pub struct TwoSidedRecords {
    numbering: Pair,
    side: Side,
    values: usize,
    working: Working,
}

impl TwoSidedRecords {
    /// Removes the working file, if there is one: the table is finished.
    pub fn discard(self) -> Result<()> {
        self.working.discard()
    }

    /// Reads the equities of the position in place `us` on roll against
    /// those with the numbers from `first` on.
    fn row(&self, us: usize, first: usize, out: &mut [u32], row: &mut Vec<u8>) -> Result<()> {
        let record = 2 * self.values;
        row.resize(self.side.len() * record, 0);
        let pips = self
            .side
            .starts
            .partition_point(|&start| start as usize <= us)
            - 1;
        let layer = self.side.layer(pips);
        let i = us - layer.start;
        for lower in 0..pips {
            // R[us][t] with t below: column t.
            let theirs = self.side.layer(lower);
            let tile = theirs.start / TILE * TILE;
            let at = (us - tile) * theirs.len() * record;
            let bytes = self
                .working
                .read(2 * lower + 1, at..at + theirs.len() * record)?;
            row[theirs.start * record..theirs.end * record].copy_from_slice(&bytes);
        }
        let first_tile = layer.start / TILE;
        for tile in first_tile..self.side.len().div_ceil(TILE) {
            let at = ((tile - first_tile) * layer.len() + i) * TILE * record;
            let from = (tile * TILE).max(layer.start);
            let to = ((tile + 1) * TILE).min(self.side.len());
            let at = at + (from - tile * TILE) * record;
            let bytes = self.working.read(2 * pips, at..at + (to - from) * record)?;
            row[from * record..to * record].copy_from_slice(&bytes);
        }
        for (out, &place) in out
            .chunks_exact_mut(self.values)
            .zip(&self.side.places[first..])
        {
            let at = place as usize * record;
            for (to, from) in out.iter_mut().zip(row[at..at + record].chunks_exact(2)) {
                *to = u32::from(u16::from_le_bytes([from[0], from[1]]));
            }
        }
        Ok(())
    }
}

impl Records for TwoSidedRecords {
    fn len(&self) -> u64 {
        self.numbering.len()
    }

    fn width(&self) -> usize {
        self.values
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        super::check_range(self, first, out.len())?;
        let n = self.side.len() as u64;
        let mut row = Vec::new();
        let (mut first, mut rest) = (first, out);
        while !rest.is_empty() {
            let them = first % n;
            let count = ((n - them) as usize).min(rest.len() / self.values);
            let (out, after) = rest.split_at_mut(count * self.values);
            let us = self.side.places[(first / n) as usize] as usize;
            self.row(us, them as usize, out, &mut row)?;
            first += count as u64;
            rest = after;
        }
        Ok(())
    }
}

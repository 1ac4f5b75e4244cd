//! One-sided tables: the rolls that a side needs by itself.

mod arithmetic;
mod choice;
mod chunk;
mod home;
mod layers;
mod order;
mod part;
mod store;

use arithmetic::{Arithmetic, Exact, Normal, Rounded};
use part::{Part, Tell};
use store::Store;

use super::Needs;
use super::working::{Keep, Working};

use crate::bearoff::gnubg::Kind;
use crate::bearoff::schema::{self, Packing};
use crate::format::Schema;
use crate::numbering::{Multiset, Numbering};
use crate::table::Records;
use crate::{Error, Result};

/// How the rolls are described.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// Chances in 1/65535, rounded at every step as gnubg does.
    #[default]
    Rounded,
    /// Chances in 1/(2²⁴ − 1), computed in double precision.
    Exact,
    /// Mean and standard deviation as `f32`, as `makebearoff -n` does.
    Normal,
}

/// Which one-sided table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneSided {
    points: u8,
    chequers: u8,
    gammon: bool,
    form: Form,
}

/// The chequers of which none may be off for a gammon.
const ALL_CHEQUERS: u8 = 15;

/// Positions of a table whose layers are too short to be worth sharing.
const SMALL_POSITIONS: u64 = 1 << 20;

/// The most points: gnubg's makefiles go as far, and with more the layers do
/// not fit the addresses of rows.
const MOST_POINTS: u8 = 18;

/// The most points for which gnubg's 32 rolls are enough.
const GNUBG_POINTS: u8 = 13;

impl OneSided {
    /// A table of up to `chequers` (1 to 15) on `points` (1 to 18) points.
    /// `gammon` asks for the rolls until the first of 15 chequers leaves, too,
    /// and means nothing with fewer chequers.
    ///
    /// Errors: [`Error::Invalid`] outside those ranges.
    pub fn new(points: u8, chequers: u8, gammon: bool, form: Form) -> Result<Self> {
        Multiset::new(usize::from(points), chequers)?;
        if points > MOST_POINTS {
            return Err(Error::invalid(format!(
                "{points} points: one-sided tables are made for 1 to {MOST_POINTS}"
            )));
        }
        let gammon = gammon && chequers == ALL_CHEQUERS;
        Ok(OneSided {
            points,
            chequers,
            gammon,
            form,
        })
    }

    /// Rolls on which the last chequer may leave: gnubg's 32 up to the points
    /// that gnubg goes to, and enough for all that is likely beyond.
    pub fn rolls(&self) -> usize {
        match self.form {
            Form::Rounded if self.points > GNUBG_POINTS => 48,
            Form::Exact if self.points > 10 => 48,
            Form::Rounded | Form::Exact => 32,
            Form::Normal => 0,
        }
    }

    /// How many positions the table has.
    pub fn positions(&self) -> u64 {
        self.numbering().len()
    }

    /// How many positions are computed: those with all chequers twice when
    /// gammons are wanted.
    pub fn work(&self) -> u64 {
        let numbering = self.numbering();
        let gammon = numbering.len() - numbering.first_with(ALL_CHEQUERS);
        numbering.len() - 1 + if self.gammon { gammon } else { 0 }
    }

    fn numbering(&self) -> Multiset {
        Multiset::new(usize::from(self.points), self.chequers).expect("checked when made")
    }

    /// The schema of the table.
    pub fn schema(&self, packing: &Packing) -> Result<Schema> {
        let OneSided {
            points,
            chequers,
            gammon,
            ..
        } = *self;
        match (self.form, self.rolls()) {
            (Form::Normal, _) => schema::schema(Kind::Normal { points, chequers }, packing),
            (Form::Rounded, 32) => {
                let kind = Kind::OneSided {
                    points,
                    chequers,
                    gammon,
                    compressed: true,
                };
                schema::schema(kind, packing)
            }
            (form, rolls) => {
                let bits = if form == Form::Exact { 24 } else { 16 };
                schema::one_sided(&self.numbering(), rolls as u32, gammon, bits, packing)
            }
        }
    }

    /// What making the table takes.
    pub fn needs(&self) -> Result<Needs> {
        self.with_arithmetic(NeedsOf)
    }

    /// Computes the table. `progress` is told how many positions were done
    /// since the last time; its error stops the work.
    pub fn generate(&self, keep: &Keep, progress: Tell<'_>) -> Result<OneSidedRecords> {
        self.with_arithmetic(Computing { keep, progress })
    }

    /// Does something with the arithmetics of win and gammon.
    fn with_arithmetic<J: Job>(&self, job: J) -> Result<J::Done> {
        match (self.form, self.rolls()) {
            (Form::Rounded, 32) => job.run::<Rounded<32>, Rounded<32>>(self),
            (Form::Rounded, _) => job.run::<Rounded<48>, Rounded<32>>(self),
            (Form::Exact, 32) => job.run::<Exact<32>, Exact<32>>(self),
            (Form::Exact, _) => job.run::<Exact<48>, Exact<32>>(self),
            (Form::Normal, _) => job.run::<Normal, Normal>(self),
        }
    }
}

/// What can be done with a table whatever its arithmetic.
trait Job {
    type Done;
    fn run<W: Arithmetic, G: Arithmetic>(self, table: &OneSided) -> Result<Self::Done>;
}

struct NeedsOf;

impl Job for NeedsOf {
    type Done = Needs;

    fn run<W: Arithmetic, G: Arithmetic>(self, table: &OneSided) -> Result<Needs> {
        let numbering = table.numbering();
        let mut needs = Part::<W>::needs(&numbering, 1)?;
        if table.gammon {
            // One part is computed after the other.
            let gammon = Part::<G>::needs(&numbering, ALL_CHEQUERS)?;
            needs.memory_bytes = needs.memory_bytes.max(gammon.memory_bytes);
            needs.layer_bytes += gammon.layer_bytes;
        }
        Ok(needs)
    }
}

struct Computing<'a> {
    keep: &'a Keep,
    progress: Tell<'a>,
}

impl Job for Computing<'_> {
    type Done = OneSidedRecords;

    fn run<W: Arithmetic, G: Arithmetic>(self, table: &OneSided) -> Result<OneSidedRecords> {
        let Computing { keep, progress } = self;
        let numbering = table.numbering();
        let pips = numbering.points() * usize::from(table.chequers);
        let segments = Store::segments(table.chequers, pips);
        let mut working = Working::new(keep, 2 * segments, &format!("{table:?}"))?;
        let in_layers = numbering.points() > home::HOME_POINTS;
        let is_small = in_layers && numbering.len() <= SMALL_POSITIONS;
        let (win, gammon) = if is_small && matches!(keep, Keep::Memory) {
            at_once::<W, G>(table, &numbering, &mut working, segments, progress)?
        } else {
            let win = Part::<W>::new(&numbering, 1, &mut working, 0, progress)?;
            let gammon = match table.gammon {
                true => Some(Part::<G>::new(
                    &numbering,
                    ALL_CHEQUERS,
                    &mut working,
                    segments,
                    progress,
                )?),
                false => None,
            };
            (win, gammon)
        };
        let mut parts: Vec<Box<dyn AnyPart>> = vec![Box::new(win)];
        match gammon {
            Some(gammon) => parts.push(Box::new(gammon)),
            // The normal form always has four values.
            None if table.form == Form::Normal => parts.push(Box::new(NoGammon)),
            None => {}
        }
        Ok(OneSidedRecords {
            numbering,
            parts,
            working,
        })
    }
}

/// Computes a small table, win and gammon at the same time.
fn at_once<W: Arithmetic, G: Arithmetic>(
    table: &OneSided,
    numbering: &Multiset,
    working: &mut Working,
    segments: usize,
    progress: Tell<'_>,
) -> Result<(Part<W>, Option<Part<G>>)> {
    let (win, gammon) = rayon::join(
        || Part::<W>::at_once(numbering, 1, 0),
        || match table.gammon {
            true => Part::<G>::at_once(numbering, ALL_CHEQUERS, segments).map(Some),
            false => Ok(None),
        },
    );
    let (mut win, layers) = win?;
    win.keep(layers, working, progress)?;
    let mut gammon = gammon?;
    if let Some((gammon, layers)) = &mut gammon {
        gammon.keep(std::mem::take(layers), working, progress)?;
    }
    Ok((win, gammon.map(|(gammon, _)| gammon)))
}

/// The gammon values of a normal approximation without gammons.
struct NoGammon;

impl AnyPart for NoGammon {
    fn width(&self) -> usize {
        Normal::WIDTH
    }

    fn read(&self, _: &Working, _first: u64, out: &mut [u32], width: usize) -> Result<()> {
        for record in out.chunks_mut(width) {
            record[..Normal::WIDTH].fill(0);
        }
        Ok(())
    }
}

trait AnyPart: Send + Sync {
    fn width(&self) -> usize;
    fn read(&self, working: &Working, first: u64, out: &mut [u32], width: usize) -> Result<()>;
}

impl<A: Arithmetic> AnyPart for Part<A> {
    fn width(&self) -> usize {
        A::WIDTH
    }

    fn read(&self, working: &Working, first: u64, out: &mut [u32], width: usize) -> Result<()> {
        Part::read(self, working, first, out, width)
    }
}

/// A finished one-sided table.
pub struct OneSidedRecords {
    numbering: Multiset,
    parts: Vec<Box<dyn AnyPart>>,
    working: Working,
}

impl OneSidedRecords {
    /// Removes the working file, if there is one: the table is finished.
    pub fn discard(self) -> Result<()> {
        self.working.discard()
    }
}

impl Records for OneSidedRecords {
    fn len(&self) -> u64 {
        self.numbering.len()
    }

    /// Win, then gammon.
    fn width(&self) -> usize {
        self.parts.iter().map(|part| part.width()).sum()
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        super::check_range(self, first, out.len())?;
        let width = self.width();
        if out.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        for part in &self.parts {
            part.read(&self.working, first, &mut out[at..], width)?;
            at += part.width();
        }
        Ok(())
    }
}

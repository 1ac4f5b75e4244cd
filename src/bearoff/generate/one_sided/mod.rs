//! One-sided tables: the rolls that a side needs by itself.

mod arithmetic;
mod choice;
mod chunk;
mod home;
mod layers;
mod order;
mod part;
mod store;

use arithmetic::{Exact, Normal, Rounded};
use part::{Part, Tell};

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
    /// Points, 1 to 18.
    pub points: u8,
    /// The most chequers, 1 to 15.
    pub chequers: u8,
    /// Whether the rolls until the first chequer leaves are wanted, too.
    pub gammon: bool,
    /// How the rolls are described.
    pub form: Form,
}

/// The chequers of which none may be off for a gammon.
const ALL_CHEQUERS: u8 = 15;

impl OneSided {
    /// Computes the table.
    pub fn generate(&self, progress: Tell<'_>) -> Result<OneSidedRecords> {
        let numbering = Multiset::new(usize::from(self.points), self.chequers)?;
        let parts: [Option<Box<dyn AnyPart>>; 2] = match self.form {
            Form::Rounded if self.points <= 13 => {
                self.parts::<Rounded<32>>(&numbering, progress)?
            }
            Form::Rounded => self.parts::<Rounded<48>>(&numbering, progress)?,
            Form::Exact if self.points <= 10 => self.parts::<Exact<32>>(&numbering, progress)?,
            Form::Exact => self.parts::<Exact<48>>(&numbering, progress)?,
            Form::Normal => self.parts::<Normal>(&numbering, progress)?,
        };
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        Ok(OneSidedRecords { numbering, parts })
    }

    fn parts<A: arithmetic::Arithmetic>(
        &self,
        numbering: &Multiset,
        progress: Tell<'_>,
    ) -> Result<[Option<Box<dyn AnyPart>>; 2]> {
        let win = Box::new(Part::<A>::new(numbering, 1, progress)?);
        let gammon: Option<Box<dyn AnyPart>> = match self.gammon {
            true => Some(Box::new(Part::<A>::new(numbering, ALL_CHEQUERS, progress)?)),
            false => None,
        };
        Ok([Some(win), gammon])
    }
}

trait AnyPart: Send + Sync {
    fn width(&self) -> usize;
    fn read(&self, first: u64, out: &mut [u32], width: usize) -> Result<()>;
}

impl<A: arithmetic::Arithmetic> AnyPart for Part<A> {
    fn width(&self) -> usize {
        A::WIDTH
    }

    fn read(&self, first: u64, out: &mut [u32], width: usize) -> Result<()> {
        Part::read(self, first, out, width)
    }
}

/// A finished one-sided table.
pub struct OneSidedRecords {
    numbering: Multiset,
    parts: Vec<Box<dyn AnyPart>>,
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
        let width = self.width();
        let count = (out.len() / width) as u64;
        if !out.len().is_multiple_of(width)
            || first.checked_add(count).is_none_or(|end| end > self.len())
        {
            return Err(Error::invalid("records that are not there"));
        }
        let mut at = 0;
        for part in &self.parts {
            if count > 0 {
                part.read(first, &mut out[at..], width)?;
            }
            at += part.width();
        }
        Ok(())
    }
}

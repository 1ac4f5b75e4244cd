//! endtable: block-compressed, random-access tables of solved game endings.
//!
//! One file is a *table*: a record for each position of a *numbering*, cut
//! into columns and blocks, each block compressed on its own. A table
//! describes itself, so that [`table::Reader`] opens any of them without
//! knowing the game; [`bearoff`], [`chess`] and [`rollout`] add the games.

pub mod bearoff;
#[cfg(feature = "capi")]
pub mod capi;
pub mod chess;
pub mod codec;
mod error;
pub mod format;
mod limits;
pub mod numbering;
mod properties;
pub mod rollout;
pub mod source;
pub mod table;

pub use error::{Error, Result};
pub use limits::Limits;
pub use properties::{Properties, Value};

/// The README's examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Chess endings: made by [`generate`], stored as tables of distances to mate
//! in plies, looked up by [`Probe`].

mod check;
mod error;
mod fen;
pub mod generate;
pub mod make;
mod position;
mod probe;
mod score;
mod signature;
mod stats;
mod store;
mod table;

pub use crate::numbering::kings::men::{Kind, Man, Material, Side};
pub use check::{Checked, check};
pub use error::ProbeError;
pub use position::{Move, Position};
pub use probe::{Answer, Probe, ProbeOptions};
pub use score::Score;
pub use stats::{SideStats, Stats};
pub use store::{Coding, Ending};
pub use table::Table;

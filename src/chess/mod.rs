//! Chess endings.

pub mod generate;
mod score;

pub use crate::numbering::kings::men::{Kind, Man, Material, Side};
pub use score::Score;

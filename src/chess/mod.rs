//! Chess endings.

pub mod generate;
mod score;
mod store;

pub use crate::numbering::kings::men::{Kind, Man, Material, Side};
pub use score::Score;
pub use store::{Coding, Ending};

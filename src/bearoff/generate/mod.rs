//! Generators: bearoff tables from the rules of the game.

mod one_sided;

pub use one_sided::{Form, OneSided, OneSidedRecords};

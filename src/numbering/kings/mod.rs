//! Chess placements, numbered by the squares of the two kings first.

pub mod board;
pub mod men;
pub mod segments;

//! Backgammon bearoffs.

pub mod gnubg;
mod positioned;
mod records;

pub use records::Records;

//! Backgammon bearoffs.

pub mod board;
pub mod notation;
pub mod position;
pub mod position_id;
pub mod xgid;

pub use board::{Board, Points};
pub use position::Position;

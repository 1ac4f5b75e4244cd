//! Backgammon bearoffs.

pub mod board;
pub mod notation;
pub mod play_notation;
pub mod plays;
pub mod position;
pub mod position_id;
pub mod xgid;

pub use board::{Board, Points};
pub use plays::{Play, Plays};
pub use position::Position;

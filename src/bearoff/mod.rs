//! Backgammon bearoffs.

pub mod board;
pub mod database;
pub mod distribution;
pub mod generate;
pub mod gnubg;
pub mod notation;
pub mod position;
pub mod position_id;
pub mod schema;
pub mod xgid;

pub use board::{Board, Points};
pub use database::Database;
pub use position::Position;

//! Backgammon bearoffs.

pub mod board;
pub mod database;
pub mod deep;
pub mod distribution;
pub mod evaluate;
pub mod generate;
pub mod gnubg;
pub mod lookup;
pub mod notation;
pub mod play_notation;
pub mod plays;
pub mod position;
pub mod position_id;
pub mod schema;
pub mod statistics;
pub mod xgid;

pub use board::{Board, Points};
pub use database::Database;
pub use evaluate::{Evaluation, NotCovered, Tables};
pub use plays::{Play, Plays};
pub use position::Position;

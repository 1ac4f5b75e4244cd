//! Rollouts: Monte Carlo with allocation of trials.

pub mod allocate;
pub mod backgammon;
pub mod chances;
pub mod dice;
pub mod evaluate;
#[cfg(feature = "cli")]
pub mod external;
pub mod game;
mod home_races;
pub mod network;
mod race;
pub mod random;
pub mod schedule;
pub mod stakes;
pub mod statistics;
pub mod tables;
mod two_way;

pub use backgammon::Rollout;
pub use chances::Chances;
pub use evaluate::{End, EndTable, Evaluator, Player};
pub use home_races::HomeRaces;
pub use network::Network;
pub use tables::BearoffTable;

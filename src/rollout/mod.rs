//! Rollouts: Monte Carlo with allocation of trials.

pub mod chances;
pub mod network;
pub mod random;

pub use chances::Chances;

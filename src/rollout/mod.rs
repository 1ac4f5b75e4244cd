//! Rollouts: Monte Carlo with allocation of trials.

pub mod allocate;
pub mod chances;
pub mod network;
pub mod random;
pub mod statistics;

pub use chances::Chances;

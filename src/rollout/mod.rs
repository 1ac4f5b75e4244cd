//! Rollouts: Monte Carlo with allocation of trials.

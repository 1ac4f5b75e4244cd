//! Backgammon bearoffs.

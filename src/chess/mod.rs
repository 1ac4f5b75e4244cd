//! Chess endings.

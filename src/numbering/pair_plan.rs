//! Which records of a block resemble each other under `pair`: none is named.

use super::Pair;
use crate::codec::Plan;

impl Plan for Pair {}

//! Which records of a block resemble each other under `pair`: none is named.

use super::Pair;
use crate::codec::Plan;

impl Plan for Pair {
    fn kinds(&self) -> usize {
        0
    }

    fn references(&self, _first: u64, _count: usize, out: &mut Vec<u16>) {
        out.clear();
    }
}

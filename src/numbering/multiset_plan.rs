//! Which records of a block resemble each other under `multiset`: none is named.

use super::Multiset;
use crate::codec::Plan;

impl Plan for Multiset {
    fn kinds(&self) -> usize {
        0
    }

    fn references(&self, _first: u64, _count: usize, out: &mut Vec<u16>) {
        out.clear();
    }
}

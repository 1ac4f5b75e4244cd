//! Which records of a block resemble each other under `flat`: none is named.

use super::Flat;
use crate::codec::Plan;

impl Plan for Flat {
    fn kinds(&self) -> usize {
        0
    }

    fn references(&self, _first: u64, _count: usize, out: &mut Vec<u16>) {
        out.clear();
    }
}

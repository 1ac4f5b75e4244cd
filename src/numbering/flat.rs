//! `flat`: records that already have numbers; parameter `positions`.

use super::{Numbering, required};
use crate::{Properties, Result};

/// The numbers `0..positions` of anyone's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flat {
    positions: u64,
}

impl Flat {
    /// The name in the file.
    pub const NAME: &'static str = "flat";

    /// A numbering of `positions` records.
    pub fn new(positions: u64) -> Self {
        Flat { positions }
    }

    /// From the parameters in a file.
    pub fn from_params(params: &Properties) -> Result<Self> {
        Ok(Flat::new(required(params, "positions")?))
    }
}

impl Numbering for Flat {
    fn name(&self) -> &'static str {
        Flat::NAME
    }

    fn version(&self) -> u16 {
        1
    }

    fn params(&self) -> Properties {
        Properties::new().with("positions", self.positions)
    }

    fn len(&self) -> u64 {
        self.positions
    }
}

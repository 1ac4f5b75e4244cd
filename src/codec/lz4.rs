//! Codec `lz4`: byte planes of differences under LZ4, for decoding speed.

use super::{Access, Codec, Plan, Shape, planes};
use crate::{Error, Properties, Result};

pub(super) const NAME: &str = "lz4";

pub(super) struct Lz4 {
    shape: Shape,
}

impl Lz4 {
    pub(super) fn new(shape: Shape) -> Self {
        Lz4 { shape }
    }
}

impl Codec for Lz4 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> Properties {
        Properties::new()
    }

    fn access(&self) -> Access {
        Access::Block
    }

    fn encode(
        &self,
        _first: u64,
        values: &[u32],
        _plan: &dyn Plan,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.append(&mut lz4_flex::block::compress(&planes::from_values(
            &self.shape,
            values,
        )));
        Ok(())
    }

    fn decode(
        &self,
        _first: u64,
        count: usize,
        bytes: &[u8],
        _plan: &dyn Plan,
        out: &mut [u32],
    ) -> Result<()> {
        let mut buffer = vec![0; planes::len(&self.shape, count)];
        let n = lz4_flex::block::decompress_into(bytes, &mut buffer)
            .map_err(|e| Error::corrupt("B-5", format!("LZ4 says: {e}")))?;
        planes::to_values(&self.shape, count, buffer.get(..n).unwrap_or_default(), out)
    }
}

//! Codec `zstd`: byte planes of differences under Zstandard, with a dictionary
//! trained on the table's own blocks.

use std::sync::Mutex;

use ::zstd::bulk::{Compressor, Decompressor};
use ::zstd::zstd_safe::{CParameter, find_frame_compressed_size};

use super::{Access, Codec, Plan, SampleBlock, Shape, planes};
use crate::{Error, Properties, Result};

pub(super) const NAME: &str = "zstd";

/// Compression level where none is asked for: higher ones win under 1 %.
const LEVEL: i32 = 12;
/// Size of a trained dictionary in bytes; larger ones win under 2 %.
const DICTIONARY_BYTES: usize = 16 << 10;

pub(super) struct Zstd {
    shape: Shape,
    level: i32,
    dictionary: Vec<u8>,
    // Contexts are large and slow to make, so threads pass them on.
    compressors: Mutex<Vec<Compressor<'static>>>,
    decompressors: Mutex<Vec<Decompressor<'static>>>,
}

impl Zstd {
    fn new(shape: Shape, level: i32, dictionary: Vec<u8>) -> Self {
        Zstd {
            shape,
            level,
            dictionary,
            compressors: Mutex::default(),
            decompressors: Mutex::default(),
        }
    }

    /// An encoder; `options` may hold `level` (1 to 22) and
    /// `dictionary_bytes` (0 for none).
    pub(super) fn train(
        shape: Shape,
        options: &Properties,
        sample: &[SampleBlock],
    ) -> Result<Self> {
        let level = match options.unsigned("level") {
            None => LEVEL,
            Some(level @ 1..=22) => level as i32,
            Some(level) => {
                return Err(Error::invalid(format!(
                    "zstd level {level}, 1 to 22 expected"
                )));
            }
        };
        let most = options
            .unsigned("dictionary_bytes")
            .map_or(DICTIONARY_BYTES, |n| n as usize);
        let blocks: Vec<Vec<u8>> = sample
            .iter()
            .map(|b| planes::from_values(&shape, &b.values))
            .collect();
        let enough = blocks.iter().map(Vec::len).sum::<usize>() > 8 * most;
        let dictionary = match most {
            // The trainer refuses samples that are few or all alike; then there is none.
            1.. if enough => ::zstd::dict::from_samples(&blocks, most).unwrap_or_default(),
            _ => Vec::new(),
        };
        Ok(Self::new(shape, level, dictionary))
    }

    /// A decoder with the parameters of a file.
    pub(super) fn open(shape: Shape, params: &Properties) -> Result<Self> {
        let dictionary = params.bytes("dictionary").unwrap_or_default().to_vec();
        Ok(Self::new(shape, LEVEL, dictionary))
    }

    fn compressor(&self) -> std::io::Result<Compressor<'static>> {
        if let Some(context) = pop(&self.compressors) {
            return Ok(context);
        }
        let mut context = Compressor::with_dictionary(self.level, &self.dictionary)?;
        // Length and dictionary are known from the table.
        context.set_parameter(CParameter::ContentSizeFlag(false))?;
        context.set_parameter(CParameter::DictIdFlag(false))?;
        context.set_parameter(CParameter::ChecksumFlag(false))?;
        Ok(context)
    }
}

fn pop<T>(pool: &Mutex<Vec<T>>) -> Option<T> {
    pool.lock().ok()?.pop()
}

fn push<T>(pool: &Mutex<Vec<T>>, context: T) {
    if let Ok(mut pool) = pool.lock() {
        pool.push(context);
    }
}

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn params(&self) -> Properties {
        match self.dictionary.is_empty() {
            true => Properties::new(),
            false => Properties::new().with_bytes("dictionary", self.dictionary.clone()),
        }
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
        let failed = |e| Error::io("compress a block with zstd", e);
        let mut context = self.compressor().map_err(failed)?;
        let mut bytes = context
            .compress(&planes::from_values(&self.shape, values))
            .map_err(failed)?;
        out.append(&mut bytes);
        push(&self.compressors, context);
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
        // The library would also read several frames, one after the other.
        if find_frame_compressed_size(bytes) != Ok(bytes.len()) {
            return Err(Error::corrupt("B-6", "the payload is not one zstd frame"));
        }
        let mut context = match pop(&self.decompressors) {
            Some(context) => context,
            None => Decompressor::with_dictionary(&self.dictionary).map_err(|e| {
                Error::corrupt("B-6", format!("the dictionary cannot be loaded: {e}"))
            })?,
        };
        let mut buffer = vec![0; planes::len(&self.shape, count)];
        let n = context
            .decompress_to_buffer(bytes, buffer.as_mut_slice())
            .map_err(|e| Error::corrupt("B-6", format!("zstd says: {e}")))?;
        push(&self.decompressors, context);
        planes::to_values(&self.shape, count, buffer.get(..n).unwrap_or_default(), out)
    }
}

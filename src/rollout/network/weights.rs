//! Weights: the trainable form of the networks, and their file.
//!
//! The file: the eight bytes `etnet 1\n`, then for the contact network and
//! for the race network: units and hidden numbers as u32, then f32 numbers:
//! the first layer `units × hidden`, the hidden bias, the output layer
//! `5 × hidden`, the output bias. Little-endian throughout. At its end the
//! CRC-32 of everything before it.

use super::features::{Class, Layout};
use super::forward::{Expanded, LANES, Lane, OUTPUTS};
use crate::{Error, Result};

const MAGIC: &[u8; 8] = b"etnet 1\n";

/// The classes in the order of the file.
const CLASSES: [Class; 2] = [Class::Contact, Class::Race];

/// Weights of the network of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Hidden numbers; a multiple of 64.
    pub hidden: usize,
    /// `unit × hidden`.
    pub input: Vec<f32>,
    /// `hidden`.
    pub bias: Vec<f32>,
    /// `output × hidden`.
    pub output: Vec<f32>,
    /// One for each output.
    pub output_bias: [f32; OUTPUTS],
}

impl Weights {
    /// The first layer expanded to rows.
    pub(super) fn expand(&self, class: Class) -> Expanded {
        let layout = Layout::of(class);
        let lanes = self.hidden / LANES;
        let mut rows = vec![[0f32; LANES]; layout.row_count() * lanes];
        for (row, units) in layout.expansion().into_iter().enumerate() {
            let out = rows[row * lanes..(row + 1) * lanes].as_flattened_mut();
            for (unit, activation) in units {
                for (sum, w) in out.iter_mut().zip(&self.input[unit * self.hidden..]) {
                    *sum += activation * w;
                }
            }
        }
        Expanded {
            lanes,
            rows,
            bias: to_lanes(&self.bias),
            output: to_lanes(&self.output),
            output_bias: self.output_bias,
        }
    }
}

fn to_lanes(values: &[f32]) -> Vec<Lane> {
    values.as_chunks::<LANES>().0.to_vec()
}

/// The bytes of a weights file.
pub fn write(networks: &[Weights; 2]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    for (weights, class) in networks.iter().zip(CLASSES) {
        for n in [Layout::of(class).unit_count(), weights.hidden] {
            out.extend((n as u32).to_le_bytes());
        }
        for part in [
            &weights.input[..],
            &weights.bias,
            &weights.output,
            &weights.output_bias,
        ] {
            out.extend(part.iter().flat_map(|w| w.to_le_bytes()));
        }
    }
    let crc = crc32fast::hash(&out);
    out.extend(crc.to_le_bytes());
    out
}

/// Reads a weights file: the contact network, then the race network.
///
/// # Errors
/// [`Error::Corrupt`] for a wrong checksum or length, [`Error::Unsupported`]
/// for another version or for other inputs than this version computes.
pub fn read(bytes: &[u8]) -> Result<[Weights; 2]> {
    let corrupt = |message: &str| Error::corrupt("weights", message);
    let Some((body, crc)) = bytes.split_last_chunk::<4>() else {
        return Err(corrupt("the file is shorter than its checksum"));
    };
    let Some(rest) = body.strip_prefix(MAGIC) else {
        return Err(Error::unsupported(
            "no weights file of version 1: it does not begin with `etnet 1`",
        ));
    };
    if crc32fast::hash(body) != u32::from_le_bytes(*crc) {
        return Err(corrupt(
            "the checksum differs: the file is damaged, get it again",
        ));
    }
    let mut words = rest.as_chunks::<4>().0.iter();
    let mut network = |class: Class| -> Result<Weights> {
        let mut number = || {
            words
                .next()
                .map(|w| u32::from_le_bytes(*w) as usize)
                .ok_or_else(|| corrupt("cut short"))
        };
        let (units, hidden) = (number()?, number()?);
        let expected = Layout::of(class).unit_count();
        if units != expected || hidden == 0 || hidden % 64 != 0 || hidden > 4096 {
            return Err(Error::unsupported(format!(
                "a network with {units} inputs and {hidden} hidden numbers; this version computes {expected} inputs and takes hidden numbers that are a multiple of 64 up to 4096"
            )));
        }
        let mut floats = |n: usize| -> Result<Vec<f32>> {
            let out: Vec<f32> = words
                .by_ref()
                .take(n)
                .map(|w| f32::from_le_bytes(*w))
                .collect();
            if out.len() < n {
                Err(corrupt("cut short"))
            } else {
                Ok(out)
            }
        };
        let (input, bias) = (floats(units * hidden)?, floats(hidden)?);
        let output = floats(OUTPUTS * hidden)?;
        let mut output_bias = [0.0; OUTPUTS];
        output_bias.copy_from_slice(&floats(OUTPUTS)?);
        Ok(Weights {
            hidden,
            input,
            bias,
            output,
            output_bias,
        })
    };
    let networks = [network(CLASSES[0])?, network(CLASSES[1])?];
    if words.next().is_some() || rest.len() % 4 != 0 {
        return Err(corrupt("bytes are left over after the second network"));
    }
    Ok(networks)
}

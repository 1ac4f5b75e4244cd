//! The model of one value of a record: which distribution a slot has, by
//! features of its surroundings.
//!
//! Two groups of features lead to a class each; the two classes together name a
//! distribution of the difference from a pivot.
#![allow(
    clippy::indexing_slicing,
    reason = "classes and counts are checked when a model is read; features are bounded"
)]

use crate::{Error, Result};

use super::range::{Encoder, TOTAL, TOTAL_BITS};

/// Features of the first group: whether there is a row before, the pivot, and
/// three differences of five classes.
pub(super) const NEAR: usize = 2 * 125;
/// Features of the first group for each pivot, but whether there is a row before
/// and the left neighbour's difference.
pub(super) const NEAR_GROUPS: usize = 25;
/// Features of the second group: two hints and four differences.
pub(super) const FAR: usize = 4 * 625;
/// Most classes of the two groups.
pub(super) const NEAR_CLASSES: usize = 96;
pub(super) const FAR_CLASSES: usize = 32;
/// Most distributions.
pub(super) const DISTRIBUTIONS: usize = 255;
/// Symbols: differences by size with alternating sign, then one for the
/// landmark where it is not close by, and the last for any other value.
pub(super) const SYMBOLS: usize = 64;
pub(super) const LANDMARK: usize = SYMBOLS - 2;
pub(super) const ESCAPE: usize = SYMBOLS - 1;
/// Differences up to this are coded as such even when they lead to the landmark.
const CLOSE: u32 = 1;
/// The greatest value.
pub(super) const MOST: u32 = 4095;

#[inline(always)]
pub(super) fn difference(symbol: u8) -> i16 {
    let half = i16::from(symbol >> 1);
    if symbol & 1 == 0 { half } else { -half - 1 }
}

impl Model {
    /// The symbol of a value at a pivot.
    #[inline(always)]
    pub(super) fn symbol(&self, value: i16, pivot: i16) -> usize {
        let d = i32::from(value) - i32::from(pivot);
        if value == self.landmark && d.unsigned_abs() > CLOSE {
            return LANDMARK;
        }
        let s = if d >= 0 { 2 * d } else { -2 * d - 1 } as usize;
        if s < LANDMARK { s } else { ESCAPE }
    }

    /// Bits of a value after [`ESCAPE`].
    pub(super) fn raw_bits(&self) -> u32 {
        u16::BITS - self.most.leading_zeros()
    }

    /// Writes a value; fails when the distribution has no symbol for it.
    pub(super) fn put(
        &self,
        distribution: &Distribution,
        value: i16,
        pivot: i16,
        coder: &mut Encoder<'_>,
    ) -> Result<()> {
        let wanted = self.symbol(value, pivot);
        if distribution.put(wanted, coder) {
            if wanted == ESCAPE {
                coder.put(value as u32, value as u32 + 1, self.raw_bits());
            }
            return Ok(());
        }
        if !distribution.put(ESCAPE, coder) {
            return Err(Error::invalid("the model was trained on other values"));
        }
        coder.put(value as u32, value as u32 + 1, self.raw_bits());
        Ok(())
    }
}

/// Symbols with their frequencies, the most frequent first, in entries of 32
/// bits: where the symbol ends (sixteen bits), the symbol (eight), and
/// [`Distribution::LAST`]. The first sixteen, where nearly all symbols are found,
/// lie in one cache line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub(super) struct Distribution {
    entries: [u32; SYMBOLS],
}

impl Distribution {
    /// Frequencies in proportion to `counts`, each symbol that occurs at least 1.
    pub(super) fn new(counts: &[u64; SYMBOLS]) -> Self {
        let mut order: Vec<usize> = (0..SYMBOLS).filter(|&s| counts[s] > 0).collect();
        order.sort_by_key(|&s| (std::cmp::Reverse(counts[s]), s));
        if order.is_empty() {
            order.push(0);
        }
        let sum: u64 = order.iter().map(|&s| counts[s].max(1)).sum();
        let scale = |s: &usize| {
            let exact = u128::from(counts[*s].max(1)) * u128::from(TOTAL) / u128::from(sum);
            (exact as u32).max(1)
        };
        let mut frequencies: Vec<u32> = order.iter().map(scale).collect();
        let rest: u32 = frequencies.iter().skip(1).sum();
        if let Some(first) = frequencies.first_mut() {
            *first = TOTAL - rest;
        }
        let pairs: Vec<(u8, u32)> = order.iter().map(|&s| s as u8).zip(frequencies).collect();
        Self::from_pairs(&pairs)
    }

    /// Marks the last entry.
    const LAST: u32 = 1 << 31;

    fn from_pairs(pairs: &[(u8, u32)]) -> Self {
        let mut entries = [TOTAL | (ESCAPE as u32) << 16 | Self::LAST; SYMBOLS];
        let mut end = 0;
        for (i, (entry, &(symbol, frequency))) in entries.iter_mut().zip(pairs).enumerate() {
            end += frequency;
            let last = if i + 1 == pairs.len() { Self::LAST } else { 0 };
            *entry = end | u32::from(symbol) << 16 | last;
        }
        Distribution { entries }
    }

    fn end(entry: u32) -> u32 {
        entry & 0xffff
    }

    fn symbol(entry: u32) -> u8 {
        (entry >> 16) as u8
    }

    /// Symbols with their frequencies.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u8, u16)> + '_ {
        let mut start = 0;
        let mut over = false;
        self.entries.iter().map_while(move |&entry| {
            if over {
                return None;
            }
            over = entry & Self::LAST != 0;
            let frequency = Self::end(entry) - start;
            start = Self::end(entry);
            Some((Self::symbol(entry), frequency as u16))
        })
    }

    /// Cost of each symbol in 1/256 bit; of one that never occurs 20 bits.
    pub(super) fn costs(&self) -> [u32; SYMBOLS] {
        let mut costs = [20 * 256; SYMBOLS];
        for (symbol, frequency) in self.pairs() {
            let share = f64::from(frequency) / f64::from(TOTAL);
            costs[usize::from(symbol)] = (-share.log2() * 256.0) as u32;
        }
        costs
    }

    /// Writes a symbol; false when it has none of the range.
    fn put(&self, symbol: usize, coder: &mut Encoder<'_>) -> bool {
        let mut from = 0;
        for (name, frequency) in self.pairs() {
            let to = from + u32::from(frequency);
            if usize::from(name) == symbol {
                if to - from < TOTAL {
                    coder.put(from, to, TOTAL_BITS);
                }
                return true;
            }
            from = to;
        }
        false
    }
}

/// The model of one value of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Model {
    /// Values are 1 to this.
    pub(super) most: u16,
    /// What the first slot of a block is compared with.
    pub(super) start: i16,
    /// A value to which the surroundings often jump.
    pub(super) landmark: i16,
    /// For the value coded second: which of its values goes best with each value
    /// of the first (from 0, for none).
    pub(super) echo: Vec<i16>,
    /// Class by pivot (0 to `most`) and features of the first group.
    pub(super) near: Vec<u8>,
    /// Class by features of the second group.
    pub(super) far: Vec<u8>,
    /// Distribution by both classes.
    pub(super) joint: Vec<u8>,
    pub(super) distributions: Vec<Distribution>,
}

impl Model {
    /// The distribution of a slot with these features.
    #[inline(always)]
    pub(super) fn distribution(&self, near: usize, far: usize) -> &Distribution {
        // All three indices were checked or bounded when the model was read.
        let class = usize::from(self.near[near]) * FAR_CLASSES + usize::from(self.far[far]);
        &self.distributions[usize::from(self.joint[class])]
    }

    /// Appends the model's bytes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let pair = |out: &mut Vec<u8>, v: u16| out.extend_from_slice(&v.to_le_bytes());
        pair(out, self.most);
        pair(out, self.start as u16);
        pair(out, self.landmark as u16);
        pair(out, self.echo.len() as u16);
        pair(out, self.distributions.len() as u16);
        self.echo.iter().for_each(|&v| pair(out, v as u16));
        out.extend_from_slice(&self.near);
        out.extend_from_slice(&self.far);
        out.extend_from_slice(&self.joint);
        for d in &self.distributions {
            out.push(d.pairs().count() as u8);
            for (symbol, frequency) in d.pairs() {
                out.push(symbol);
                pair(out, frequency);
            }
        }
    }

    /// Reads a model from the front of `bytes`.
    pub(super) fn read(bytes: &mut &[u8]) -> Result<Self> {
        let most = pair(bytes)?;
        let start = pair(bytes)? as i16;
        let landmark = pair(bytes)? as i16;
        let echoes = usize::from(pair(bytes)?);
        let count = usize::from(pair(bytes)?);
        let in_range = |v: i16| (0..=most as i16).contains(&v);
        if u32::from(most) > MOST
            || !in_range(start)
            || !in_range(landmark)
            || count == 0
            || count > DISTRIBUTIONS
        {
            return Err(broken("impossible counts"));
        }
        let echo = (0..echoes)
            .map(|_| pair(bytes).map(|v| v as i16))
            .collect::<Result<Vec<_>>>()?;
        if !echo.iter().all(|&v| in_range(v)) {
            return Err(broken("an echo is out of range"));
        }
        let below = |bytes: Vec<u8>, n: usize| match bytes.iter().all(|&b| usize::from(b) < n) {
            true => Ok(bytes),
            false => Err(broken("a class is out of range")),
        };
        let near = below(
            take(bytes, (usize::from(most) + 1) * NEAR)?.to_vec(),
            NEAR_CLASSES,
        )?;
        let far = below(take(bytes, FAR)?.to_vec(), FAR_CLASSES)?;
        let joint = below(take(bytes, NEAR_CLASSES * FAR_CLASSES)?.to_vec(), count)?;
        let mut distributions = Vec::with_capacity(count);
        for _ in 0..count {
            let n = take(bytes, 1)?.first().copied().unwrap_or(0);
            let mut pairs = Vec::new();
            let mut sum = 0;
            for _ in 0..n {
                let symbol = take(bytes, 1)?.first().copied().unwrap_or(0);
                let frequency = u32::from(pair(bytes)?);
                sum += frequency;
                if usize::from(symbol) >= SYMBOLS || frequency == 0 || pairs.len() == SYMBOLS {
                    return Err(broken("a distribution has impossible symbols"));
                }
                pairs.push((symbol, frequency));
            }
            if sum != TOTAL {
                return Err(broken("frequencies have another sum than 4096"));
            }
            distributions.push(Distribution::from_pairs(&pairs));
        }
        Ok(Model {
            most,
            start,
            landmark,
            echo,
            near,
            far,
            joint,
            distributions,
        })
    }
}

pub(super) fn broken(what: &str) -> Error {
    Error::corrupt("C-1", format!("the model of codec `context`: {what}"))
}

fn take<'a>(bytes: &mut &'a [u8], n: usize) -> Result<&'a [u8]> {
    let (head, rest) = bytes
        .split_at_checked(n)
        .ok_or_else(|| broken("it ends too early"))?;
    *bytes = rest;
    Ok(head)
}

fn pair(bytes: &mut &[u8]) -> Result<u16> {
    let two = take(bytes, 2)?;
    Ok(two.first_chunk::<2>().map_or(0, |p| u16::from_le_bytes(*p)))
}

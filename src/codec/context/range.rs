//! A range coder with byte-wise output and twelve-bit probabilities.

/// The sum of a distribution's frequencies.
pub(super) const TOTAL: u32 = 1 << TOTAL_BITS;
pub(super) const TOTAL_BITS: u32 = 12;
const BOTTOM: u32 = 1 << 24;

/// Appends symbols' ranges to bytes.
pub(super) struct Encoder<'a> {
    low: u64,
    range: u32,
    start: usize,
    out: &'a mut Vec<u8>,
}

impl<'a> Encoder<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Encoder {
            low: 0,
            range: u32::MAX,
            start: out.len(),
            out,
        }
    }

    /// Codes the part from `from` to `to` of `1 << bits`.
    pub(super) fn put(&mut self, from: u32, to: u32, bits: u32) {
        let unit = self.range >> bits;
        self.low += u64::from(unit) * u64::from(from);
        self.range = unit * (to - from);
        self.carry();
        while self.range < BOTTOM {
            self.out.push((self.low >> 24) as u8);
            self.low = self.low << 8 & 0xffff_ffff;
            self.range <<= 8;
        }
    }

    /// Takes the bit above the low 32 into the bytes already written.
    fn carry(&mut self) {
        if self.low >> 32 != 0 {
            self.low &= 0xffff_ffff;
            for byte in self.out.iter_mut().skip(self.start).rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }

    /// Writes the shortest bytes that stay in the range when zeros follow, and
    /// drops trailing zeros, which the decoder supplies.
    pub(super) fn finish(mut self) {
        let end = self.low + u64::from(self.range);
        for kept in 0..=4u32 {
            let mask = 0xffff_ffff_u64 >> (8 * kept);
            let value = (self.low + mask) & !mask;
            if value < end {
                self.low = value;
                break;
            }
        }
        self.carry();
        let tail = (self.low as u32).to_be_bytes();
        self.out.extend_from_slice(&tail);
        while self.out.len() > self.start && self.out.last() == Some(&0) {
            self.out.pop();
        }
    }
}

/// Reads what [`Encoder`] wrote; zeros follow the last byte.
pub(super) struct Decoder<'a> {
    code: u32,
    range: u32,
    /// The bytes behind those in `code`, from the highest bit on.
    window: u64,
    /// Bits of `window` that are filled, at least 32.
    held: u32,
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Decoder {
            code: 0,
            range: u32::MAX,
            window: 0,
            held: 0,
            rest: bytes,
        };
        decoder.refill();
        decoder.code = (decoder.window >> 32) as u32;
        decoder.window <<= 32;
        decoder.held -= 32;
        decoder.refill();
        decoder
    }

    /// Fills the window, 32 bits at a time.
    #[inline(always)]
    fn refill(&mut self) {
        while self.held <= 32 {
            let four = match self.rest.split_first_chunk::<4>() {
                Some((four, rest)) => {
                    self.rest = rest;
                    *four
                }
                None => {
                    let mut four = [0; 4];
                    for (to, from) in four.iter_mut().zip(self.rest) {
                        *to = *from;
                    }
                    self.rest = &[];
                    four
                }
            };
            self.window |= u64::from(u32::from_be_bytes(four)) << (32 - self.held);
            self.held += 32;
        }
    }

    /// The place of the next symbol, below [`TOTAL`].
    #[inline(always)]
    pub(super) fn place(&self) -> u32 {
        // The range is at least `BOTTOM`, so that a unit is never 0.
        (self.code / (self.range >> TOTAL_BITS).max(1)).min(TOTAL - 1)
    }

    /// Removes a symbol that begins at `from` and has `share` of [`TOTAL`]; one
    /// that has all of it took nothing.
    #[inline(always)]
    pub(super) fn take(&mut self, from: u32, share: u32) {
        let unit = self.range >> TOTAL_BITS;
        let size = if share == TOTAL {
            self.range
        } else {
            unit * share
        };
        self.remove(unit * from, size);
    }

    /// Removes the symbol that has the first `share` of [`TOTAL`] if it is the next.
    #[inline(always)]
    pub(super) fn take_first(&mut self, share: u32) -> bool {
        let size = if share == TOTAL {
            self.range
        } else {
            (self.range >> TOTAL_BITS) * share
        };
        let is_next = self.code < size;
        if is_next {
            self.remove(0, size);
        }
        is_next
    }

    /// `size` is at least 2¹², a unit, so that two bytes at most follow.
    #[inline(always)]
    fn remove(&mut self, from: u32, size: u32) {
        let bits = 8 * (u32::from(size < BOTTOM) + u32::from(size < BOTTOM >> 8));
        let next = (self.window >> 1 >> (63 - bits)) as u32;
        self.code = self.code.wrapping_sub(from) << bits | next;
        self.range = size << bits;
        self.window <<= bits;
        self.held -= bits;
        if self.held < 32 {
            self.refill();
        }
    }

    /// A number of `bits` bits (at most 12) coded without a model.
    pub(super) fn bits(&mut self, bits: u32) -> u32 {
        let unit = self.range >> bits;
        let value = (self.code / unit).min((1 << bits) - 1);
        self.remove(value * unit, unit);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_put_is_taken(symbols in proptest::collection::vec((0u32..TOTAL, 1u32..TOTAL), 0..300)) {
            let symbols: Vec<(u32, u32)> =
                symbols.into_iter().map(|(from, size)| (from, (from + size).min(TOTAL))).collect();
            let mut bytes = vec![0xff; 2];
            let mut encoder = Encoder::new(&mut bytes);
            for &(from, to) in &symbols {
                encoder.put(from, to, TOTAL_BITS);
                encoder.put(from & 255, (from & 255) + 1, 8);
            }
            encoder.finish();
            prop_assert_eq!(&bytes[..2], &[0xff, 0xff]);
            let mut decoder = Decoder::new(&bytes[2..]);
            for &(from, to) in &symbols {
                let place = decoder.place();
                prop_assert!(from <= place && place < to);
                decoder.take(from, to - from);
                prop_assert_eq!(decoder.bits(8), from & 255);
            }
        }
    }
}

//! One record of 16-bit values at a time with AVX2 or AVX-512.
//!
//! A table look-up waits for memory, so what counts is that the processor can
//! run ahead to the next one: there is no branch on what the block says but
//! those that are almost never taken.

mod avx2;
mod avx512;

pub use avx512::Lanes;

use super::{FIXED_BYTES, ReadRecord};

/// The fastest way that this processor has.
pub(super) fn detect() -> Option<ReadRecord> {
    ways().pop()
}

/// All ways that this processor has, the fastest last.
fn ways() -> Vec<ReadRecord> {
    let mut ways: Vec<ReadRecord> = Vec::new();
    if is_x86_feature_detected!("avx2") {
        ways.push(read_avx2);
        if Lanes::detect().is_some() {
            ways.push(read_avx512);
        }
    }
    ways
}

/// Handed out by [`ways`] alone, where AVX2 and AVX-512 were detected.
fn read_avx512(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    // SAFETY: the instructions were detected.
    #[allow(unsafe_code)]
    let done = unsafe { avx512::read(bytes, slot, out) };
    done || read_avx2(bytes, slot, out)
}

/// Handed out by [`ways`] alone, where AVX2 was detected.
fn read_avx2(bytes: &[u8], slot: usize, out: &mut [u32]) -> bool {
    // SAFETY: the instructions were detected.
    #[allow(unsafe_code)]
    unsafe {
        avx2::read(bytes, slot, out)
    }
}

#[cfg(test)]
mod tests {
    use super::avx512::DATA_BYTES;
    use super::*;

    /// Every way that this processor has answers alike, and as it should.
    #[test]
    fn all_ways_agree() {
        let mut state = 1u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize
        };
        let ways = ways();
        let mut compared = vec![0; ways.len()];
        let mut served = 0;
        for _ in 0..20_000 {
            let active = random() % 33;
            // No sum reaches over 16 bits.
            let widths: Vec<u8> = (0..active).map(|_| (random() % 16) as u8).collect();
            let bases: Vec<u8> = (0..2 * active).map(|_| random() as u8 & 0x7f).collect();
            let bits: usize = widths.iter().map(|&w| usize::from(w)).sum();
            let count = 1 + random() % 40;
            let data: Vec<u8> = (0..(bits * count).div_ceil(8))
                .map(|_| random() as u8)
                .collect();
            let width = active.max(1) + random() % (33 - active.max(1));
            let first = random() % (width - active + 1);
            let head = [first as u8, 0, active as u8, 0];
            let mut block = [&head[..], &widths, &bases, &data].concat();
            let slot = random() % count;
            let mut expected = vec![0; width];
            let mut bit = slot * bits;
            for (i, &width) in widths.iter().enumerate() {
                let value = (0..usize::from(width))
                    .map(|k| (data[(bit + k) / 8] as u32 >> ((bit + k) % 8) & 1) << k)
                    .sum::<u32>();
                let base = u32::from(bases[2 * i]) | u32::from(bases[2 * i + 1]) << 8;
                expected[first + i] = base + value;
                bit += usize::from(width);
            }
            for (read, compared) in ways.iter().zip(&mut compared) {
                let mut out = vec![7; width];
                if read(&block, slot, &mut out) {
                    assert_eq!(out, expected);
                    *compared += 1;
                }
            }
            let length = block.len();
            block.resize(length + DATA_BYTES, 0xff);
            if let Some(lanes) = Lanes::detect()
                && Lanes::serve(&block[..length], DATA_BYTES)
                && let Ok(expected) = <[u32; Lanes::VALUES]>::try_from(expected)
            {
                let mut out = [7; Lanes::VALUES];
                // SAFETY: the block is fit and has the slot.
                #[allow(unsafe_code)]
                unsafe {
                    lanes.read(block.as_ptr(), slot, &mut out);
                }
                assert_eq!(out, expected);
                served += 1;
            }
        }
        assert!(compared.iter().all(|&n| n > 1000), "{compared:?}");
        assert!(Lanes::detect().is_none() || served > 500, "{served}");
    }

    #[test]
    fn blocks_that_lanes_do_not_serve() {
        let head = |active: u8| [&[0, 0, active, 0][..], &[16; 20], &[0; 40]].concat();
        assert!(Lanes::serve(&head(15), DATA_BYTES));
        assert!(!Lanes::serve(&head(16), DATA_BYTES), "256 bits");
        assert!(!Lanes::serve(&head(15), DATA_BYTES - 1), "bytes behind");
        assert!(!Lanes::serve(&[0, 0, 0], DATA_BYTES), "no head");
    }
}

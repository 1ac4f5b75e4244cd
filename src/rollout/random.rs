//! A small, fast and portable source of random numbers.

/// xoshiro256++ (Blackman and Vigna, 2019), seeded through SplitMix64.
///
/// The same seed and stream give the same numbers on every machine; streams
/// of one seed are independent for all practical purposes, so that each game
/// of a rollout has its own and no two threads share one.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The numbers of `stream` under `seed`.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut mixed = split_mix(seed).wrapping_add(split_mix(!stream));
        let state = std::array::from_fn(|_| {
            mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            split_mix(mixed)
        });
        Random { state }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number below `n`, without bias. `n` must not be 0.
    pub fn below(&mut self, n: u32) -> u32 {
        // Lemire's multiplication; the rejected part makes it exact.
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = (self.next_u64() >> 32) * u64::from(n);
            if product as u32 >= threshold {
                return (product >> 32) as u32;
            }
        }
    }

    /// A number from 0 (included) to 1 (excluded).
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A throw of two dice.
    pub fn dice(&mut self) -> [u8; 2] {
        let throw = self.below(36) as u8;
        [throw / 6 + 1, throw % 6 + 1]
    }

    /// Brings `items` into random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }
}

fn split_mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_throw_is_as_frequent_as_any_other() {
        let mut random = Random::new(1, 2);
        let mut counts = [[0f64; 6]; 6];
        for _ in 0..360_000 {
            let [a, b] = random.dice();
            counts[usize::from(a) - 1][usize::from(b) - 1] += 1.0;
        }
        let chi2: f64 = counts
            .iter()
            .flatten()
            .map(|n| (n - 10_000.0).powi(2) / 10_000.0)
            .sum();
        // 35 degrees of freedom: 10 to 75 leaves out one in about 10,000.
        assert!((10.0..75.0).contains(&chi2), "{chi2}");
    }

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream| Random::new(seed, stream).next_u64();
        assert_eq!(first(1, 1), first(1, 1));
        assert_ne!(first(1, 1), first(1, 2));
        assert_ne!(first(1, 1), first(2, 1));
    }
}

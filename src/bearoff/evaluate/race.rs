//! A race between two one-sided distributions.
//!
//! All sums are whole numbers, so that they are exact and vectorise: chances
//! of at most 24 bits make products that 32 of still fit 64 bits.

use super::one_sided::{Distribution, Gammon};
use super::{Evaluation, ROLLS, distribution};

/// The rolls that one side needs to bear off, playing for the fewest.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rolls {
    /// Mean number of rolls.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// Effective pip count: mean × 49/6.
    pub epc: f64,
    /// Effective less plain pip count.
    pub wastage: f64,
}

/// `i` and `i²` for roll `i`.
const ONCE: [u32; ROLLS] = powers(1);
const SQUARED: [u32; ROLLS] = powers(2);

const fn powers(exponent: u32) -> [u32; ROLLS] {
    let mut out = [0; ROLLS];
    let mut i = 0;
    while i < ROLLS {
        out[i] = (i as u32).pow(exponent);
        i += 1;
    }
    out
}

/// Chances and rolls of both sides; `pips` are their pip counts.
#[inline]
pub(super) fn evaluate(us: &Distribution, them: &Distribution, pips: [u32; 2]) -> Evaluation {
    let unit = us.win_unit * them.win_unit;
    // When we leave on roll i, they have had i − 1 rolls and need i or more.
    let win = ahead(&us.win, &later(&them.win)) / unit;
    let win_gammon = match &them.gammon {
        Gammon::Safe => Some(0.0),
        Gammon::Rolls(rolls, unit) => Some(ahead(&us.win, &later(rolls)) / (us.win_unit * unit)),
        Gammon::Unknown => None,
    };
    // When they leave on roll i, we have had i rolls and need i + 1 or more.
    let lose_gammon = match &us.gammon {
        Gammon::Safe => Some(0.0),
        Gammon::Rolls(rolls, unit) => {
            let mut needed = later(rolls);
            needed.rotate_left(1);
            needed[ROLLS - 1] = 0;
            Some(ahead(&them.win, &needed) / (them.win_unit * unit))
        }
        Gammon::Unknown => None,
    };
    let win = win.min(1.0);
    let equity = |won: f64, lost: f64| 2.0 * win - 1.0 + won - lost;
    Evaluation {
        win,
        win_gammon,
        lose_gammon,
        equity_cubeless: win_gammon
            .zip(lose_gammon)
            .map(|(won, lost)| equity(won, lost)),
        cubeful: None,
        rolls: Some([rolls(&us.win, pips[0]), rolls(&them.win, pips[1])]),
        two_sided: None,
        one_sided: None,
    }
}

/// For each `i`, the chance of needing `i` rolls or more.
#[inline]
fn later(chances: &[u32; ROLLS]) -> [u32; ROLLS] {
    let mut sums = [0; ROLLS];
    let mut sum = 0u32;
    for (out, &chance) in sums.iter_mut().zip(chances).rev() {
        sum += chance;
        *out = sum;
    }
    sums
}

/// Σ `a[i] · b[i]`.
#[inline]
fn ahead(a: &[u32; ROLLS], b: &[u32; ROLLS]) -> f64 {
    dot(a, b) as f64
}

#[inline]
fn dot(a: &[u32; ROLLS], b: &[u32; ROLLS]) -> u64 {
    a.iter()
        .zip(b)
        .map(|(&a, &b)| u64::from(a) * u64::from(b))
        .sum()
}

#[inline]
fn rolls(chances: &[u32; ROLLS], pips: u32) -> Rolls {
    let total: u64 = chances.iter().map(|&c| u64::from(c)).sum();
    if total == 0 {
        return Rolls::default();
    }
    let total = total as f64;
    let mean = dot(chances, &ONCE) as f64 / total;
    let squares = dot(chances, &SQUARED) as f64 / total;
    let epc = distribution::effective_pips(mean);
    Rolls {
        mean,
        deviation: (squares - mean * mean).max(0.0).sqrt(),
        epc,
        wastage: epc - f64::from(pips),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Plays the race out roll by roll: an independent count of who is first.
    fn plain(us: &[u32; ROLLS], them: &[u32; ROLLS], head_start: usize) -> u64 {
        let mut sum = 0;
        for (i, &a) in us.iter().enumerate() {
            for (j, &b) in them.iter().enumerate() {
                if i < j + head_start {
                    sum += u64::from(a) * u64::from(b);
                }
            }
        }
        sum
    }

    fn distribution_of(win: [u32; ROLLS], gammon: Gammon) -> Distribution {
        Distribution {
            win,
            win_unit: f64::from(win.iter().sum::<u32>()),
            gammon,
        }
    }

    proptest! {
        #[test]
        fn chances_are_those_of_counting_all_pairs(
            a in prop::array::uniform32(1u32..2048), b in prop::array::uniform32(0u32..2048),
            c in prop::array::uniform32(0u32..2048), d in prop::array::uniform32(1u32..2048),
        ) {
            let total = |x: &[u32; ROLLS]| f64::from(x.iter().sum::<u32>());
            let us = distribution_of(a, Gammon::Rolls(b, total(&b)));
            let them = distribution_of(d, Gammon::Rolls(c, total(&c)));
            let seen = evaluate(&us, &them, [10, 20]);
            let near = |x: f64, y: f64| (x - y).abs() < 1e-12;
            prop_assert!(near(seen.win, plain(&a, &d, 1) as f64 / (total(&a) * total(&d))));
            let won = plain(&a, &c, 1) as f64 / (total(&a) * total(&c));
            prop_assert!(near(seen.win_gammon.unwrap(), won));
            let lost = plain(&d, &b, 0) as f64 / (total(&d) * total(&b));
            prop_assert!(near(seen.lose_gammon.unwrap(), lost));
            let [ours, theirs] = seen.rolls.unwrap();
            for (rolls, chances, pips) in [(ours, a, 10.0), (theirs, d, 20.0)] {
                let (mean, deviation) = distribution::mean_and_deviation(&chances);
                prop_assert!(near(rolls.mean, mean));
                prop_assert!((rolls.deviation - deviation).abs() < 1e-9);
                prop_assert!((rolls.wastage + pips - mean * 49.0 / 6.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn an_empty_distribution_divides_nothing_by_zero() {
        assert_eq!(rolls(&[0; ROLLS], 7), Rolls::default());
    }
}

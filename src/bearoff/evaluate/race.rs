//! A race between two one-sided distributions.
//!
//! All sums are whole numbers and so exact: chances of at most 24 bits keep
//! every one of them within 64 bits. One pass from the last roll to the first
//! makes them all by addition and one multiplication a roll.

use super::one_sided::{Distribution, Gammon};
use super::{Evaluation, MOST_ROLLS, distribution};

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

/// Chances and rolls of both sides; `pips` are their pip counts.
#[inline]
pub(super) fn evaluate(sides: [Distribution<'_>; 2], pips: [u32; 2]) -> Evaluation {
    let [us, them] = sides;
    let length = us.win.len();
    let fits = |gammon| !matches!(gammon, Gammon::Known(first, _) if first.len() != length);
    if length == 0 || them.win.len() != length || !fits(us.gammon) || !fits(them.gammon) {
        return evaluate_padded(sides, pips);
    }
    let (mut ours, mut theirs) = (Sums::default(), Sums::default());
    let mut ahead = 0;
    let rolls = needed(us.win, them.win);
    let (us_win, them_win) = (&us.win[..rolls], &them.win[..rolls]);
    for (&a, &b) in us_win[1..].iter().zip(&them_win[1..]).rev() {
        theirs.add(b);
        ours.add(a);
        // When we leave on roll i, they have had i − 1 and need i or more.
        ahead += u64::from(a) * theirs.later;
    }
    theirs.later += u64::from(them_win[0]);
    ours.later += u64::from(us_win[0]);
    ahead += u64::from(us_win[0]) * theirs.later;
    let win = (ahead as f64 / (us.win_unit * them.win_unit)).min(1.0);
    let win_gammon = match them.gammon {
        Gammon::Safe => Some(0.0),
        Gammon::Known(first, unit) => {
            Some(before(us_win, &first[..rolls], 0) as f64 / (us.win_unit * unit))
        }
        Gammon::Unknown => None,
    };
    // When they leave on roll i, we have had i rolls and need i + 1 or more.
    let lose_gammon = match us.gammon {
        Gammon::Safe => Some(0.0),
        Gammon::Known(first, unit) => {
            Some(before(them_win, &first[..rolls], 1) as f64 / (them.win_unit * unit))
        }
        Gammon::Unknown => None,
    };
    Evaluation {
        win,
        win_gammon,
        lose_gammon,
        equity_cubeless: win_gammon
            .zip(lose_gammon)
            .map(|(won, lost)| 2.0 * win - 1.0 + won - lost),
        rolls: Some([ours.rolls(pips[0]), theirs.rolls(pips[1])]),
        ..Evaluation::UNKNOWN
    }
}

/// As [`evaluate`] for distributions of several lengths, as tables of different
/// sizes have them.
#[cold]
fn evaluate_padded(sides: [Distribution<'_>; 2], pips: [u32; 2]) -> Evaluation {
    let pad = |chances: &[u32]| {
        let mut padded = [0; MOST_ROLLS];
        padded[..chances.len()].copy_from_slice(chances);
        padded
    };
    let wins = sides.map(|side| pad(side.win));
    let firsts = sides.map(|side| match side.gammon {
        Gammon::Known(first, _) => pad(first),
        _ => [0; MOST_ROLLS],
    });
    let padded = [0, 1].map(|i| Distribution {
        win: &wins[i],
        gammon: match sides[i].gammon {
            Gammon::Known(_, unit) => Gammon::Known(&firsts[i], unit),
            other => other,
        },
        ..sides[i]
    });
    evaluate(padded, pips)
}

/// How many rolls have to be looked at, found eight at a time: after them both
/// sides are off, and so is their first chequer.
#[inline]
fn needed(us: &[u32], them: &[u32]) -> usize {
    let mut rolls = us.len();
    while rolls > 8 {
        let last = rolls - 8..rolls;
        let pairs = us[last.clone()].iter().zip(&them[last]);
        if pairs.fold(0, |any, (&a, &b)| any | a | b) != 0 {
            break;
        }
        rolls -= 8;
    }
    rolls
}

/// Sums over a distribution `p`, from the last roll down to the first.
#[derive(Default)]
struct Sums {
    /// Σ p over the rolls so far: needing this roll or a later one.
    later: u64,
    /// Σ of `later`: after roll 1 it is Σ i·p.
    once: u64,
    /// Σ of `once`: after roll 1 it is Σ i·(i + 1)/2·p.
    twice: u64,
}

impl Sums {
    #[inline]
    fn add(&mut self, chance: u32) {
        self.later += u64::from(chance);
        self.once += self.later;
        self.twice += self.once;
    }

    /// Mean and so on, once all rolls are in.
    #[inline]
    fn rolls(&self, pips: u32) -> Rolls {
        if self.later == 0 {
            return Rolls::default();
        }
        let total = self.later as f64;
        let mean = self.once as f64 / total;
        let squares = (2 * self.twice - self.once) as f64 / total;
        let epc = distribution::effective_pips(mean);
        Rolls {
            mean,
            deviation: (squares - mean * mean).max(0.0).sqrt(),
            epc,
            wastage: epc - f64::from(pips),
        }
    }
}

/// Pairs in which `a` leaves on a roll `i` and `b` needs `i + lead` or more;
/// `lead` is 0 or 1.
#[inline]
fn before(a: &[u32], b: &[u32], lead: usize) -> u64 {
    let (mut later, mut sum) = (0, 0);
    for (&a, &b) in a.iter().zip(b).rev() {
        let needed = later;
        later += u64::from(b);
        sum += u64::from(a) * if lead == 0 { later } else { needed };
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Plays the race out roll by roll: an independent count of who is first.
    fn plain(us: &[u32; MOST_ROLLS], them: &[u32; MOST_ROLLS], head_start: usize) -> u64 {
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

    fn distribution_of<'a>(win: &'a [u32], first: &'a [u32]) -> Distribution<'a> {
        let total = |x: &[u32]| f64::from(x.iter().sum::<u32>());
        Distribution {
            win,
            win_unit: total(win),
            gammon: Gammon::Known(first, total(first)),
        }
    }

    fn chances() -> impl Strategy<Value = [u32; MOST_ROLLS]> {
        prop::collection::vec(1u32..2048, MOST_ROLLS).prop_map(|v| v.try_into().unwrap())
    }

    proptest! {
        #[test]
        fn chances_are_those_of_counting_all_pairs(
            a in chances(), b in chances(), c in chances(), d in chances(), cut in 1..MOST_ROLLS,
        ) {
            let [a, b, c, d] = [a, b, c, d].map(|mut x| {
                x[cut..].fill(0);
                x
            });
            let total = |x: &[u32; MOST_ROLLS]| f64::from(x.iter().sum::<u32>());
            let us = distribution_of(&a, &b);
            let them = distribution_of(&d, &c);
            let seen = evaluate([us, them], [10, 20]);
            // Zeros at the end say nothing.
            let short = distribution_of(&d[..cut], &c[..cut]);
            prop_assert_eq!(evaluate([us, short], [10, 20]), seen);
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
        assert_eq!(Sums::default().rolls(7), Rolls::default());
    }
}

//! Dice of a rollout: the same for every candidate, stratified in the first
//! two rolls.

use super::random::Random;
use super::statistics::BLOCK;

const PAIRS: u64 = (BLOCK * BLOCK) as u64;

/// How the first two rolls are spread over the 36 throws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stratify {
    /// At random.
    None,
    /// In each block of 36 games every throw comes once as the first roll and
    /// once as the second, in independent orders. Blocks are independent, so
    /// that the errors of their means are right.
    #[default]
    Blocks,
    /// As `Blocks`, and in each 1296 games every pair of throws comes once.
    /// The true error is then smaller than that of independent blocks, which
    /// is what is reported: in bearoffs of six chequers by a fifth after 1296
    /// games, in longer games hardly.
    Pairs,
}

/// The dice of all games of a rollout, by game number.
#[derive(Debug, Clone, Copy)]
pub struct Dice {
    seed: u64,
    stratify: Stratify,
}

/// The dice of one game.
#[derive(Debug, Clone)]
pub struct GameDice {
    fixed: [[u8; 2]; 2],
    /// Rolls that `fixed` still decides.
    left: usize,
    random: Random,
}

impl Dice {
    /// Dice that follow from `seed`.
    pub fn new(seed: u64, stratify: Stratify) -> Self {
        Dice { seed, stratify }
    }

    /// The dice of game `number`.
    pub fn game(&self, number: u64) -> GameDice {
        let random = Random::new(self.seed, number);
        match self.fixed(number) {
            None => GameDice {
                fixed: [[0; 2]; 2],
                left: 0,
                random,
            },
            Some([first, second]) => GameDice {
                fixed: [second, first],
                left: 2,
                random,
            },
        }
    }

    /// The strata of game `number` for [`Series::push`](super::statistics::Series::push):
    /// which of the 21 rolls come first and second; `None` if dice are not stratified.
    pub fn strata(&self, number: u64) -> Option<[u8; 2]> {
        let roll = |[a, b]: [u8; 2]| {
            let (high, low) = (a.max(b), a.min(b));
            high * (high - 1) / 2 + low - 1
        };
        self.fixed(number).map(|rolls| rolls.map(roll))
    }

    /// The first two rolls of game `number`, if they are stratified.
    fn fixed(&self, number: u64) -> Option<[[u8; 2]; 2]> {
        // Streams from the top down belong to cycles, from the middle down to
        // blocks, from 0 up to games.
        if self.stratify == Stratify::None {
            return None;
        }
        let place = number as usize % BLOCK;
        let mut of_block = Random::new(self.seed, u64::MAX / 2 - number / BLOCK as u64);
        let first = permutation(&mut of_block)[place];
        let second = if self.stratify == Stratify::Blocks {
            permutation(&mut of_block)[place]
        } else {
            // A Latin square: block k pairs the first roll f with the second
            // (column of f + k) mod 36.
            let mut of_cycle = Random::new(self.seed, u64::MAX - number / PAIRS);
            let (columns, seconds) = (permutation(&mut of_cycle), permutation(&mut of_cycle));
            let block = (number % PAIRS) as usize / BLOCK;
            seconds[(usize::from(columns[usize::from(first)]) + block) % BLOCK]
        };
        Some([throw(first), throw(second)])
    }
}

impl GameDice {
    /// The next roll.
    #[inline]
    pub fn roll(&mut self) -> [u8; 2] {
        if self.left > 0 {
            self.left -= 1;
            return self.fixed[self.left];
        }
        self.random.dice()
    }
}

fn throw(index: u8) -> [u8; 2] {
    [index / 6 + 1, index % 6 + 1]
}

fn permutation(random: &mut Random) -> [u8; BLOCK] {
    let mut out = std::array::from_fn(|i| i as u8);
    random.shuffle(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn blocks_and_cycles_hold_every_throw_once() {
        for stratify in [Stratify::Blocks, Stratify::Pairs] {
            let dice = Dice::new(9, stratify);
            for cycle in 0..2 {
                let mut pairs = HashSet::new();
                for block in 0..36 {
                    let (mut firsts, mut seconds) = (HashSet::new(), HashSet::new());
                    for game in 0..36 {
                        let mut rolls = dice.game(cycle * 1296 + block * 36 + game);
                        let (first, second) = (rolls.roll(), rolls.roll());
                        firsts.insert(first);
                        seconds.insert(second);
                        pairs.insert((first, second));
                    }
                    assert_eq!((firsts.len(), seconds.len()), (36, 36));
                }
                assert_eq!(pairs.len() == 1296, stratify == Stratify::Pairs);
            }
        }
    }

    #[test]
    fn dice_follow_from_seed_and_number() {
        let rolls = |seed, game| {
            let mut dice = Dice::new(seed, Stratify::Blocks).game(game);
            (0..20).map(|_| dice.roll()).collect::<Vec<_>>()
        };
        assert_eq!(rolls(1, 77), rolls(1, 77));
        assert_ne!(rolls(1, 77), rolls(2, 77));
        assert_ne!(rolls(1, 77)[2..], rolls(1, 78)[2..]);
    }
}

//! The positions of one side in the order of their pip counts, and what each
//! roll can turn them into.

use rayon::prelude::*;

use crate::Result;
use crate::numbering::{Multiset, Numbering};

/// Points from which a chequer may leave.
const HOME_POINTS: usize = 6;

/// Rolls: pairs of dice with their weight out of 36.
pub(crate) const ROLLS: [(usize, usize, i32); 21] = {
    let mut rolls = [(0, 0, 0); 21];
    let (mut i, mut large) = (0, 1);
    while large <= 6 {
        let mut small = 1;
        while small <= large {
            rolls[i] = (large, small, if small == large { 1 } else { 2 });
            i += 1;
            small += 1;
        }
        large += 1;
    }
    rolls
};

/// One side's positions; a *place* counts them by ascending pip count, and by
/// number within one.
pub(crate) struct Side {
    /// Place by number.
    pub(crate) places: Vec<u32>,
    /// The first place of each pip count, and the end.
    pub(crate) starts: Vec<u32>,
    /// Places after the plays of a roll, all positions and rolls in a row.
    results: Vec<u32>,
    /// Where those of a place and roll begin: `ROLLS.len()` for each place.
    begin: Vec<u32>,
}

impl Side {
    pub(crate) fn new(numbering: &Multiset) -> Result<Self> {
        let n = numbering.len() as usize;
        let points = numbering.points();
        let mut counts = vec![0; points];
        numbering.unrank(0, &mut counts)?;
        let mut positions = Vec::with_capacity(n);
        for number in 0..n as u32 {
            positions.push((pips_of(&counts), number));
            numbering.advance(&mut counts);
        }
        positions.sort_unstable();
        let mut places = vec![0; n];
        for (place, &(_, number)) in positions.iter().enumerate() {
            places[number as usize] = place as u32;
        }
        let starts = starts(numbering)?;
        let singles = singles(numbering, &places)?;
        let plays: Vec<[Vec<u32>; ROLLS.len()]> = (0..n as u32)
            .into_par_iter()
            .map(|place| ROLLS.map(|(large, small, _)| plays(&singles, large, small, place)))
            .collect();
        let mut side = Side {
            places,
            starts,
            results: Vec::new(),
            begin: Vec::new(),
        };
        for results in plays.iter().flatten() {
            side.begin.push(side.results.len() as u32);
            side.results.extend_from_slice(results);
        }
        side.begin.push(side.results.len() as u32);
        Ok(side)
    }

    /// How many positions there are.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Different pip counts, from 0 on.
    pub(crate) fn layers(&self) -> usize {
        self.starts.len() - 1
    }

    /// The places with so many pips.
    pub(crate) fn layer(&self, pips: usize) -> std::ops::Range<usize> {
        self.starts[pips] as usize..self.starts[pips + 1] as usize
    }

    /// The places after the plays of the roll in this place of [`ROLLS`].
    #[inline(always)]
    pub(crate) fn results(&self, place: usize, roll: usize) -> &[u32] {
        let at = place * ROLLS.len() + roll;
        &self.results[self.begin[at] as usize..self.begin[at + 1] as usize]
    }
}

/// The first place of each pip count, and the end.
pub(crate) fn starts(numbering: &Multiset) -> Result<Vec<u32>> {
    let mut counts = vec![0; numbering.points()];
    numbering.unrank(0, &mut counts)?;
    let mut starts = vec![0; numbering.points() * usize::from(numbering.chequers()) + 2];
    for _ in 0..numbering.len() {
        starts[pips_of(&counts) + 1] += 1;
        numbering.advance(&mut counts);
    }
    for pips in 1..starts.len() {
        starts[pips] += starts[pips - 1];
    }
    Ok(starts)
}

fn pips_of(counts: &[u8]) -> usize {
    (1..)
        .zip(counts)
        .map(|(point, &c)| point * usize::from(c))
        .sum()
}

/// The places after one move, by place and then by die; a position without
/// chequers stays as it is.
fn singles(numbering: &Multiset, places: &[u32]) -> Result<Vec<[Vec<u32>; 6]>> {
    let mut singles = vec![std::array::from_fn(|_| Vec::new()); places.len()];
    let mut counts = vec![0; numbering.points()];
    numbering.unrank(0, &mut counts)?;
    for &place in places {
        let moves: &mut [Vec<u32>; 6] = &mut singles[place as usize];
        let highest = counts.iter().rposition(|&c| c > 0);
        for (die, moves) in (1..).zip(moves) {
            let Some(highest) = highest else {
                moves.push(place);
                continue;
            };
            for source in (0..=highest).filter(|&s| counts[s] > 0) {
                let mut moved = counts.clone();
                moved[source] -= 1;
                if source >= die {
                    moved[source - die] += 1;
                } else if highest >= HOME_POINTS || source + 1 < die && source != highest {
                    continue;
                }
                moves.push(places[numbering.rank(&moved)? as usize]);
            }
        }
        numbering.advance(&mut counts);
    }
    Ok(singles)
}

/// The different places to which a roll leads.
fn plays(singles: &[[Vec<u32>; 6]], large: usize, small: usize, place: u32) -> Vec<u32> {
    let after = |places: &[u32], die: usize| {
        let next = places.iter().flat_map(|&at| &singles[at as usize][die - 1]);
        let mut next: Vec<u32> = next.copied().collect();
        next.sort_unstable();
        next.dedup();
        next
    };
    if large == small {
        return (0..4).fold(vec![place], |places, _| after(&places, large));
    }
    let mut plays = after(&after(&[place], large), small);
    plays.extend(after(&after(&[place], small), large));
    plays.sort_unstable();
    plays.dedup();
    plays
}

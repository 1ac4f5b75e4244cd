//! The arithmetic of equities, for 16 positions at once.
//!
//! An equity is an `i16` from −32768 to 32767, stored with 0x8000 added. A
//! block holds `B = 16 · values` of them, value by value: those of 16
//! positions that lie side by side. The values are cubeless, cube owned by
//! the side on roll, centred, owned by the opponent; or cubeless alone.

/// Positions in a block.
pub(crate) const LANES: usize = 16;

/// An equity of one: winning.
const CERTAIN: i16 = i16::MAX;

/// One equity of 16 positions after another.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Block<const B: usize>(pub(crate) [i16; B]);

impl<const B: usize> Block<B> {
    /// The same equity everywhere.
    pub(crate) const fn all(equity: i16) -> Self {
        Block([equity; B])
    }
}

/// "The side on roll has none left": it has won.
pub(crate) const WON: i16 = i16::MAX;

/// "The other side has none left."
pub(crate) const LOST: i16 = i16::MIN;

/// What equities of the side on roll are worth to the opponent who may play
/// into them, with the cube as it stands *for the opponent*: the smallest is
/// the best play.
#[inline(always)]
pub(crate) fn seen<const B: usize>(equities: &Block<B>) -> Block<B> {
    if B == LANES {
        return *equities;
    }
    let mut seen = *equities;
    for lane in 0..LANES {
        let [_, owned, centred, opponent] =
            [0, 1, 2, 3].map(|value| equities.0[value * LANES + lane]);
        // When the opponent owns the cube, the side on roll cannot double.
        seen.0[LANES + lane] = opponent;
        seen.0[2 * LANES + lane] = with_cube(centred, opponent);
        seen.0[3 * LANES + lane] = with_cube(owned, opponent);
    }
    seen
}

/// The equity of a side that may double: `keep` without doubling, and `give`
/// per cube after handing a doubled cube over. Halves truncate toward zero.
#[inline(always)]
fn with_cube(keep: i16, give: i16) -> i16 {
    let (keep, give) = (i32::from(keep), i32::from(give));
    let certain = i32::from(CERTAIN);
    let doubled = if give >= certain / 2 {
        certain
    } else {
        2 * give
    };
    (if give >= keep / 2 { doubled } else { keep }) as i16
}

/// The mean over all rolls of what the best play is worth, from the blocks
/// after each play: `plays(roll)` are places, `block(place)` what is [`seen`].
#[inline(always)]
pub(crate) fn average<'a, const B: usize>(
    plays: impl Fn(usize) -> &'a [u32],
    block: impl Fn(usize) -> &'a Block<B>,
) -> Block<B> {
    let mut sum = [0i32; B];
    for (roll, (_, _, weight)) in super::side::ROLLS.into_iter().enumerate() {
        let mut best = [i16::MAX; B];
        for &place in plays(roll) {
            let block = block(place as usize);
            for (best, &value) in best.iter_mut().zip(&block.0) {
                *best = (*best).min(value);
            }
        }
        // What is worst for the opponent, negated, is best for us.
        for (sum, &value) in sum.iter_mut().zip(&best) {
            *sum += weight * i32::from(!value);
        }
    }
    let mut mean = Block::all(0);
    for (mean, sum) in mean.0.iter_mut().zip(sum) {
        *mean = (sum / 36) as i16;
    }
    mean
}

/// The equity in a lane as it is stored.
#[inline(always)]
pub(crate) fn stored<const B: usize>(block: &Block<B>, lane: usize, out: &mut [u8]) {
    for (value, out) in out.chunks_exact_mut(2).enumerate() {
        let equity = block.0[value * LANES + lane];
        out.copy_from_slice(&((equity as u16) ^ 0x8000).to_le_bytes());
    }
}

/// The other way round.
#[inline(always)]
pub(crate) fn unstored<const B: usize>(block: &mut Block<B>, lane: usize, bytes: &[u8]) {
    for (value, bytes) in bytes.chunks_exact(2).enumerate() {
        let equity = u16::from_le_bytes([bytes[0], bytes[1]]) ^ 0x8000;
        block.0[value * LANES + lane] = equity as i16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_is_given_when_that_is_no_worse() {
        // Too weak to double, doubles and is taken, doubles and is passed.
        assert_eq!(with_cube(1000, 499), 1000);
        assert_eq!(with_cube(1000, 500), 1000);
        assert_eq!(with_cube(1000, 501), 1002);
        assert_eq!(with_cube(20000, 16382), 32764);
        assert_eq!(with_cube(20000, 16383), 32767);
        assert_eq!(with_cube(20000, 32767), 32767);
        // Halves go toward zero.
        assert_eq!(with_cube(-1001, -500), -1000);
        assert_eq!(with_cube(-1001, -501), -1001);
    }
}

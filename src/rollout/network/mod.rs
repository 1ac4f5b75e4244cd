//! A small neural network of our own, trained by self-play against exact
//! bearoff values with `examples/train_network`.

pub mod features;
mod forward;
pub mod weights;
#[cfg(target_arch = "x86_64")]
mod x86;

use self::features::{Class, encode};
use self::forward::{Expanded, Isa, forward};
use self::weights::Weights;
use crate::Result;
use crate::bearoff::Board;
use crate::rollout::Chances;

/// Networks for contact and for races, ready to evaluate.
#[derive(Debug, Clone)]
pub struct Network {
    contact: Expanded,
    race: Expanded,
    isa: Isa,
}

/// The weights that come with the crate; `docs/rollouts.md` tells how they were
/// trained.
const BUILT_IN: &[u8] = include_bytes!("weights.bin");

impl Network {
    /// The network that comes with the crate.
    ///
    /// # Errors
    /// None, unless the crate was built from a damaged copy.
    pub fn built_in() -> Result<Self> {
        weights::read(BUILT_IN).map(|networks| Network::new(&networks))
    }

    /// Prepares the contact and the race network.
    pub fn new([contact, race]: &[Weights; 2]) -> Self {
        Network {
            contact: contact.expand(Class::Contact),
            race: race.expand(Class::Race),
            isa: Isa::best(),
        }
    }

    /// The chances of the side on roll, before it rolls.
    #[inline]
    pub fn evaluate(&self, board: &Board) -> Chances {
        if let Some(over) = finished(board) {
            return over;
        }
        let (class, active) = encode(board);
        let net = match class {
            Class::Contact => &self.contact,
            Class::Race => &self.race,
        };
        possible(board, class, forward(net, active.rows(), self.isa))
    }
}

/// The result of a finished game, for the side on roll.
#[inline]
pub fn finished(board: &Board) -> Option<Chances> {
    let value = |side: &[u8; 25], other: &[u8; 25]| {
        // `side` is off; how much has `other` lost?
        debug_assert!(side.iter().all(|&n| n == 0));
        let gammon = other.iter().map(|&n| u32::from(n)).sum::<u32>() == 15;
        let backgammon = gammon && other[18..].iter().any(|&n| n > 0);
        [
            1.0,
            f32::from(u8::from(gammon)),
            f32::from(u8::from(backgammon)),
        ]
    };
    let (mine, theirs) = (board.on_roll(), board.opponent());
    if theirs == &[0; 25] {
        let [_, gammon, backgammon] = value(theirs, mine);
        return Some(Chances {
            lose_gammon: gammon,
            lose_backgammon: backgammon,
            ..Chances::default()
        });
    }
    if mine == &[0; 25] {
        let [win, gammon, backgammon] = value(mine, theirs);
        return Some(Chances {
            win,
            win_gammon: gammon,
            win_backgammon: backgammon,
            ..Chances::default()
        });
    }
    None
}

/// Takes out what the rules exclude: a gammon against a side that has borne
/// off, a backgammon that is out of reach, more gammons than wins.
#[inline]
fn possible(
    board: &Board,
    class: Class,
    [win, mut wg, mut wb, mut lg, mut lb]: [f32; 5],
) -> Chances {
    let off = board.off();
    if off[1] > 0 {
        wg = 0.0;
    }
    if off[0] > 0 {
        lg = 0.0;
    }
    if class == Class::Race {
        let behind = |side: &[u8; 25]| side[18..].iter().any(|&n| n > 0);
        if !behind(board.opponent()) {
            wb = 0.0;
        }
        if !behind(board.on_roll()) {
            lb = 0.0;
        }
    }
    let win_gammon = wg.min(win);
    let lose_gammon = lg.min(1.0 - win);
    Chances {
        win,
        win_gammon,
        win_backgammon: wb.min(win_gammon),
        lose_gammon,
        lose_backgammon: lb.min(lose_gammon),
    }
}

//! Legal plays with contact: bar, blocked points, hits, bearing off, and the
//! rule that as many dice as possible must be played, else the larger one.

use super::board::{BAR, Board, Points};
use super::position::Dice;

/// The 21 rolls, larger die first, each with the number of the 36 equally
/// likely throws that show it.
pub const ROLLS: [(Dice, u32); 21] = {
    let mut rolls = [([0, 0], 0); 21];
    let (mut k, mut a) = (0, 1u8);
    while a <= 6 {
        let mut b = 1u8;
        while b <= a {
            rolls[k] = ([a, b], if a == b { 1 } else { 2 });
            k += 1;
            b += 1;
        }
        a += 1;
    }
    rolls
};

/// One chequer's move by one die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Move {
    /// Where it starts: 1 to 24, or 25 for the bar.
    pub from: u8,
    /// Where it ends: 1 to 24, or 0 for off.
    pub to: u8,
}

/// A legal play: its moves and the board to which it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Play {
    moves: [Move; 4],
    len: u8,
    next: Board,
}

impl Play {
    /// The moves, in an order in which they can be made.
    pub fn moves(&self) -> &[Move] {
        &self.moves[..usize::from(self.len)]
    }

    /// The board after the play, with the *other* side on roll.
    pub fn next(&self) -> &Board {
        &self.next
    }

    /// Whether the play bears off the last chequer.
    pub fn wins(&self) -> bool {
        self.next.opponent() == &[0; 25]
    }
}

/// A buffer for the plays of a roll, to be used again and again.
#[derive(Debug, Default)]
pub struct Plays {
    list: Vec<Play>,
    seen: Seen,
}

impl Plays {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// The plays of the last call of [`Plays::generate`].
    pub fn as_slice(&self) -> &[Play] {
        &self.list
    }

    /// Lists the legal plays of `dice` for the side on roll: one for each
    /// board that can result. Without any, the list is empty and the turn
    /// passes. The order depends on board and dice alone.
    pub fn generate(&mut self, board: &Board, dice: Dice) -> &[Play] {
        self.list.clear();
        let start = State::new(board);
        let [a, b] = dice.map(usize::from);
        debug_assert!((1..=6).contains(&a) && (1..=6).contains(&b));
        if a == b {
            let mut longest = 0;
            let line = Line {
                moves: [Move::default(); 4],
                len: 0,
            };
            self.double(&start, a, 1 << BAR, line, &mut longest);
        } else {
            self.pair(&start, a.max(b), a.min(b));
        }
        &self.list
    }

    /// All sequences of up to four moves by `die` whose sources don't rise:
    /// any other order of the same moves leads to the same board, and two
    /// different sets of sources never do.
    fn double(&mut self, state: &State, die: usize, highest: u32, line: Line, longest: &mut u8) {
        let sources = state.sources(die) & (highest | (highest - 1));
        if line.len == 4 || sources == 0 {
            if line.len < *longest || line.len == 0 {
                return;
            }
            if line.len > *longest {
                *longest = line.len;
                self.list.clear();
            }
            self.list.push(line.finish(state));
            return;
        }
        for from in bits(sources) {
            let (after, step) = state.step(from, die);
            self.double(&after, die, 1 << from, line.with(step), longest);
        }
    }

    /// Both orders of two different dice; the same board can be reached in
    /// several ways.
    fn pair(&mut self, start: &State, large: usize, small: usize) {
        self.seen.clear();
        let mut both = false;
        let mut single = 0;
        for (first, second) in [(large, small), (small, large)] {
            for from in bits(start.sources(first)) {
                let (middle, step) = start.step(from, first);
                let line = Line {
                    moves: [step, Move::default(), Move::default(), Move::default()],
                    len: 1,
                };
                let sources = middle.sources(second);
                if sources == 0 && !both && (single == 0 || single == first) {
                    single = first;
                    self.list.push(line.finish(&middle));
                }
                for from in bits(sources) {
                    if !both {
                        both = true;
                        self.list.clear();
                    }
                    let (end, step) = middle.step(from, second);
                    if self.seen.insert(&end, &self.list) {
                        self.list.push(line.with(step).finish(&end));
                    }
                }
            }
        }
    }
}

/// Moves on the way.
#[derive(Clone, Copy)]
struct Line {
    moves: [Move; 4],
    len: u8,
}

impl Line {
    fn with(mut self, step: Move) -> Self {
        self.moves[usize::from(self.len)] = step;
        self.len += 1;
        self
    }

    fn finish(self, state: &State) -> Play {
        Play {
            moves: self.moves,
            len: self.len,
            next: Board::from_sides([state.theirs, state.mine]),
        }
    }
}

/// A board in the midst of a play, with bit sets of the mover's points
/// (bit 0 its ace-point, bit 24 its bar).
#[derive(Clone, Copy)]
struct State {
    mine: Points,
    theirs: Points,
    /// Held by the mover.
    held: u32,
    /// Held by two or more of the opponent's chequers.
    blocked: u32,
    /// Held by one.
    blots: u32,
}

impl State {
    fn new(board: &Board) -> Self {
        let (mine, theirs) = (*board.on_roll(), *board.opponent());
        let (mut held, mut blocked, mut blots) = (0, 0, 0);
        for (i, &n) in mine.iter().enumerate() {
            held |= u32::from(n > 0) << i;
        }
        for i in 0..24 {
            blocked |= u32::from(theirs[23 - i] > 1) << i;
            blots |= u32::from(theirs[23 - i] == 1) << i;
        }
        State {
            mine,
            theirs,
            held,
            blocked,
            blots,
        }
    }

    /// Points from which a chequer may move by `die`.
    fn sources(&self, die: usize) -> u32 {
        let inside = self.held & (!self.blocked << die);
        if self.held >> BAR != 0 {
            return inside & 1 << BAR;
        }
        if self.held >> 6 != 0 || self.held == 0 {
            return inside;
        }
        let exact = 1 << (die - 1);
        let highest = 1 << self.held.ilog2();
        inside
            | if highest < exact {
                highest
            } else {
                self.held & exact
            }
    }

    /// The board after a legal move, and the move.
    fn step(&self, from: usize, die: usize) -> (Self, Move) {
        let mut after = *self;
        after.mine[from] -= 1;
        if after.mine[from] == 0 {
            after.held &= !(1 << from);
        }
        let mut to = 0;
        if from >= die {
            let index = from - die;
            to = index + 1;
            after.mine[index] += 1;
            after.held |= 1 << index;
            if after.blots >> index & 1 == 1 {
                after.blots &= !(1 << index);
                after.theirs[23 - index] = 0;
                after.theirs[BAR] += 1;
            }
        }
        (
            after,
            Move {
                from: from as u8 + 1,
                to: to as u8,
            },
        )
    }
}

/// The set bits, from the highest down.
fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let highest = set.checked_ilog2()?;
        set &= !(1 << highest);
        Some(highest as usize)
    })
}

/// Which boards a list holds already: open addressing by a hash of the board.
#[derive(Debug)]
struct Seen {
    slots: Box<[u16; Seen::SLOTS]>,
    used: Vec<u16>,
}

impl Seen {
    /// More than twice the plays that two different dice can have (at most
    /// two orders × 15 × 15 pairs of sources).
    const SLOTS: usize = 1024;
    const FREE: u16 = u16::MAX;

    fn clear(&mut self) {
        for slot in self.used.drain(..) {
            self.slots[usize::from(slot)] = Self::FREE;
        }
    }

    /// Notes that the board goes to the end of `list`; false if it is there.
    fn insert(&mut self, state: &State, list: &[Play]) -> bool {
        let mut slot = hash(state) as usize % Self::SLOTS;
        loop {
            match self.slots[slot] {
                Self::FREE => {
                    self.slots[slot] = list.len() as u16;
                    self.used.push(slot as u16);
                    return true;
                }
                index => {
                    let known = &list[usize::from(index)].next;
                    if known.opponent() == &state.mine && known.on_roll() == &state.theirs {
                        return false;
                    }
                }
            }
            slot = (slot + 1) % Self::SLOTS;
        }
    }
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            slots: Box::new([Self::FREE; Self::SLOTS]),
            used: Vec::new(),
        }
    }
}

/// Mixes where the mover's chequers and the opponent's blots stand.
fn hash(state: &State) -> u64 {
    let word = |at: usize| {
        state.mine[at..at + 8]
            .iter()
            .fold(0u64, |acc, &n| acc << 8 | u64::from(n))
    };
    let mut h = u64::from(state.blots);
    for w in [word(0), word(8), word(16)] {
        h = (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^= h >> 29;
    }
    h
}

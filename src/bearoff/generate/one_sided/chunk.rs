//! Computing a chunk of a layer, in batches: while one batch of memory
//! accesses is under way, the next is asked for.

use super::arithmetic::{Arithmetic, ROLLS};
use super::choice::{Choice, Moves, Repeated, RowId};
use super::home::{HOME_POINTS, Home};
use super::layers::{CHUNK, PLACE_BITS, repeated_at};
use super::order::{MAX_POINTS, Order, Walk};
use super::store::{GROUP, Packed};

/// Positions whose memory accesses are under way together.
const BATCH: usize = 16;

/// Where the results of a chunk go.
pub(crate) struct Out<'a, A: Arithmetic> {
    pub(crate) rows: &'a mut [A::Row],
    pub(crate) moves: &'a mut [Moves<A::Mean>],
    pub(crate) repeated: &'a mut [Repeated<A::Mean>],
}

/// A layer's best moves.
pub(crate) type BestMoves<'a, M> = (&'a [Moves<M>], &'a [Repeated<M>]);

/// What the threads that compute a layer share.
pub(crate) struct View<'a, A: Arithmetic> {
    pub(crate) order: &'a Order,
    pub(crate) home: &'a Home<A>,
    pub(crate) total: u8,
    pub(crate) pips: usize,
    /// Id of the layer's first row.
    pub(crate) base: RowId,
    /// Rows by buffer.
    pub(crate) rows: [&'a [A::Row]; 32],
    /// Best moves of the layers of 1 to 6 pips less.
    pub(crate) best: [BestMoves<'a, A::Mean>; 6],
    /// Whether rows are to be computed, or are there.
    pub(crate) with_rows: bool,
}

/// The places of the positions after moving one chequer.
#[derive(Clone, Copy)]
struct After {
    /// By source, from the highest down, then by die.
    places: [[u32; 6]; MAX_POINTS],
    /// How many sources can move each die.
    able: [u8; 6],
}

impl<A: Arithmetic> View<'_, A> {
    /// Computes the positions from `place` on.
    pub(crate) fn chunk(&self, place: usize, out: Out<'_, A>) -> Packed {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("bmi2")
            {
                // SAFETY: the processor has the features.
                #[allow(unsafe_code)]
                return unsafe { self.chunk_avx512(place, out) };
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
                // SAFETY: the processor has the features.
                #[allow(unsafe_code)]
                return unsafe { self.chunk_avx2(place, out) };
            }
        }
        self.chunk_of(place, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn chunk_avx512(&self, place: usize, out: Out<'_, A>) -> Packed {
        self.chunk_of(place, out)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn chunk_avx2(&self, place: usize, out: Out<'_, A>) -> Packed {
        self.chunk_of(place, out)
    }

    /// The same code for every instruction set; the compiler makes the best
    /// of each, and the results do not depend on it.
    #[inline(always)]
    fn chunk_of(&self, place: usize, out: Out<'_, A>) -> Packed {
        let count = out.rows.len();
        let mut packed = Packed::with_capacity(count, A::typical_bytes());
        let mut walk = Walk::new(self.order, self.total, self.pips, place);
        let mut after = [After {
            places: [[0; 6]; MAX_POINTS],
            able: [0; 6],
        }; BATCH];
        let mut home = [None; BATCH];
        let mut rolls = [[0; ROLLS]; BATCH];
        for start in (0..count).step_by(BATCH) {
            let batch = start..count.min(start + BATCH);
            for i in batch.clone() {
                if i > 0 {
                    walk.advance();
                }
                home[i - start] = None;
                if walk.above(HOME_POINTS) == 0 {
                    home[i - start] = Some(self.home_number(&walk));
                } else {
                    self.move_one(&walk, &mut after[i - start]);
                }
            }
            for i in batch.clone() {
                let id = self.base + (place + i) as u32;
                if let Some(number) = home[i - start] {
                    out.rows[i] = self.home.rows[number];
                    out.moves[i] = self.home.moves[number];
                    for die in 0..6 {
                        out.repeated[die * CHUNK + i] = self.home.repeated[number][die];
                    }
                    continue;
                }
                let choice = self.choose(&after[i - start]);
                if self.with_rows {
                    rolls[i - start] = choice.rolls();
                    for &id in &rolls[i - start] {
                        prefetch(self.row(id));
                    }
                }
                out.moves[i] = choice.moves(id);
                for die in 0..6 {
                    out.repeated[die * CHUNK + i] = choice.repeated(die);
                }
            }
            for i in batch {
                if home[i - start].is_none() {
                    if self.with_rows {
                        out.rows[i] = A::average(&rolls[i - start].map(|id| self.row(id)));
                    }
                    out.moves[i].stay(A::mean(&out.rows[i]));
                }
                if self.with_rows {
                    if i % GROUP == 0 {
                        packed.groups.push(packed.bytes.len() as u32);
                    }
                    A::put(&out.rows[i], &mut packed.bytes);
                }
            }
        }
        packed
    }

    #[inline(always)]
    fn row(&self, id: RowId) -> &A::Row {
        &self.rows[(id >> PLACE_BITS) as usize][id as usize & ((1 << PLACE_BITS) - 1)]
    }

    /// The number of a position that is all in the home board.
    fn home_number(&self, walk: &Walk<'_>) -> usize {
        let mut counts = [0; HOME_POINTS];
        for (i, count) in counts.iter_mut().enumerate() {
            *count = walk.chequers(i);
        }
        // The home board has as many chequers as the table.
        self.home.numbering.rank(&counts).unwrap_or(0) as usize
    }

    /// Finds the positions after moving one chequer, with one outside the
    /// home board: all moves stay on the board.
    #[inline(always)]
    fn move_one(&self, walk: &Walk<'_>, after: &mut After) {
        let mut occupied = 0;
        after.able = [0; 6];
        for source in (0..self.order.points()).rev() {
            if walk.chequers(source) == 0 {
                continue;
            }
            let places = &mut after.places[occupied];
            occupied += 1;
            walk.places(source, places);
            // Sources go down: those that cannot move a die come last.
            for die in 0..source.min(6) {
                after.able[die] = occupied as u8;
                let (moves, repeated) = self.best[die];
                let place = places[die] as usize;
                prefetch(&moves[place]);
                prefetch(&repeated[repeated_at(place, die)]);
            }
        }
    }

    /// The best plays of a position with a chequer outside the home board.
    #[inline(always)]
    fn choose(&self, after: &After) -> Choice<A::Mean> {
        let mut choice = Choice::none(A::WORST);
        for die in 0..6 {
            let (moves, repeated) = self.best[die];
            let places = after.places[..usize::from(after.able[die])].iter();
            let after = places.map(|places| places[die] as usize);
            choice.among(
                die,
                after.map(|at| (&moves[at], &repeated[repeated_at(at, die)])),
            );
        }
        choice
    }
}

/// Asks for the memory of `what`, which will be read soon.
#[inline(always)]
fn prefetch<T>(what: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing; the address is valid anyway.
        #[allow(unsafe_code)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(what).cast())
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}

//! Pip layers: all positions of one total and pip count at once, in parallel.
//!
//! With a chequer outside the home board nothing can be borne off, so that a
//! total's positions follow from those of the same total and from the home
//! board alone. A roll lowers the pip count by at most 24 and a move by at
//! most 6: only the rows of 24 layers and the best moves of 6 are kept.

use rayon::prelude::*;

use super::arithmetic::Arithmetic;
use super::choice::{Best, Choice, RowId};
use super::home::{HOME_POINTS, Home};
use super::order::{Order, Walk};
use super::store::{GROUP, Packed};

/// Buffers of rows: 24 layers that a roll reaches and the one in work.
pub(crate) const ROW_LAYERS: usize = 25;

/// Buffers of best moves: 6 layers that a move reaches and the one in work.
pub(crate) const BEST_LAYERS: usize = 7;

/// Bits of a row's place in its buffer.
const PLACE_BITS: u32 = 27;

/// The buffer of the home board.
const HOME_BUFFER: usize = 31;

/// What is added to a home position's number to get its row's id.
pub(crate) const HOME_BASE: RowId = (HOME_BUFFER as u32) << PLACE_BITS;

/// The most positions of a layer.
pub(crate) const LAYER_LIMIT: usize = 1 << PLACE_BITS;

/// Positions that a thread computes at a time; whole groups of the store.
const CHUNK: usize = 8 * GROUP;

/// The layers of one total that are still needed.
pub(crate) struct Layers<'a, A: Arithmetic> {
    order: &'a Order,
    home: &'a Home<A>,
    total: u8,
    rows: Vec<Vec<A::Row>>,
    best: Vec<Vec<Best<A::Mean>>>,
}

impl<'a, A: Arithmetic> Layers<'a, A> {
    /// No layer yet.
    pub(crate) fn new(order: &'a Order, home: &'a Home<A>, total: u8) -> Self {
        Layers {
            order,
            home,
            total,
            rows: (0..ROW_LAYERS).map(|_| Vec::new()).collect(),
            best: (0..BEST_LAYERS).map(|_| Vec::new()).collect(),
        }
    }

    /// Computes the layer of `pips` pips, for which the 24 below it are there,
    /// and answers its rows in order, packed for the store.
    pub(crate) fn compute(&mut self, pips: usize) -> Vec<Packed> {
        self.run(pips, true)
    }

    /// Puts a layer's rows back that were computed before. The best moves
    /// are right once those of 18 layers below have been put back.
    pub(crate) fn restore(&mut self, pips: usize, rows: Vec<A::Row>) {
        self.rows[pips % ROW_LAYERS] = rows;
        self.run(pips, false);
    }

    fn run(&mut self, pips: usize, with_rows: bool) -> Vec<Packed> {
        let count = self.order.len(self.total, pips);
        let (row_buffer, best_buffer) = (pips % ROW_LAYERS, pips % BEST_LAYERS);
        let mut rows = std::mem::take(&mut self.rows[row_buffer]);
        let mut best = std::mem::take(&mut self.best[best_buffer]);
        rows.resize(count, A::off());
        best.resize(count, Best::settled(A::Mean::default(), 0));
        let view = View {
            order: self.order,
            home: self.home,
            total: self.total,
            pips,
            base: (row_buffer as u32) << PLACE_BITS,
            rows: std::array::from_fn(|i| match i {
                HOME_BUFFER => self.home.rows.as_slice(),
                _ => self.rows.get(i).map_or(&[][..], Vec::as_slice),
            }),
            best: std::array::from_fn(|d| {
                match (pips - usize::from(self.total)).checked_sub(d + 1) {
                    Some(_) => self.best[(pips - d - 1) % BEST_LAYERS].as_slice(),
                    None => &[],
                }
            }),
            with_rows,
        };
        let packed = rows
            .par_chunks_mut(CHUNK)
            .zip(best.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(i, (rows, best))| view.chunk(i * CHUNK, rows, best))
            .collect();
        self.rows[row_buffer] = rows;
        self.best[best_buffer] = best;
        packed
    }
}

/// What the threads that compute a layer share.
struct View<'a, A: Arithmetic> {
    order: &'a Order,
    home: &'a Home<A>,
    total: u8,
    pips: usize,
    /// Id of the layer's first row.
    base: RowId,
    rows: [&'a [A::Row]; 32],
    /// Best moves of the layers of 1 to 6 pips less.
    best: [&'a [Best<A::Mean>]; 6],
    /// Whether rows are to be computed, or are there.
    with_rows: bool,
}

impl<A: Arithmetic> View<'_, A> {
    /// Computes the positions from `place` on.
    fn chunk(&self, place: usize, rows: &mut [A::Row], best: &mut [Best<A::Mean>]) -> Packed {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("bmi2")
            {
                // SAFETY: the processor has the features.
                #[allow(unsafe_code)]
                return unsafe { self.chunk_avx512(place, rows, best) };
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
                // SAFETY: the processor has the features.
                #[allow(unsafe_code)]
                return unsafe { self.chunk_avx2(place, rows, best) };
            }
        }
        self.chunk_of(place, rows, best)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn chunk_avx512(
        &self,
        place: usize,
        rows: &mut [A::Row],
        best: &mut [Best<A::Mean>],
    ) -> Packed {
        self.chunk_of(place, rows, best)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn chunk_avx2(&self, place: usize, rows: &mut [A::Row], best: &mut [Best<A::Mean>]) -> Packed {
        self.chunk_of(place, rows, best)
    }

    /// The same code for every instruction set; the compiler makes the best
    /// of each, and the results do not depend on it.
    #[inline(always)]
    fn chunk_of(&self, place: usize, rows: &mut [A::Row], best: &mut [Best<A::Mean>]) -> Packed {
        let mut packed = Packed::with_capacity(rows.len(), A::TYPICAL_BYTES);
        let mut walk = Walk::new(self.order, self.total, self.pips, place);
        for (i, (row, best)) in rows.iter_mut().zip(best).enumerate() {
            if i > 0 {
                walk.advance();
            }
            self.position(&walk, self.base + (place + i) as u32, row, best);
            if self.with_rows {
                if i % GROUP == 0 {
                    packed.groups.push(packed.bytes.len() as u32);
                }
                A::put(row, &mut packed.bytes);
            }
        }
        packed
    }

    #[inline(always)]
    fn position(&self, walk: &Walk<'_>, id: RowId, row: &mut A::Row, best: &mut Best<A::Mean>) {
        if walk.above(HOME_POINTS) == 0 {
            let mut counts = [0; HOME_POINTS];
            for (i, count) in counts.iter_mut().enumerate() {
                *count = walk.chequers(i);
            }
            // The table has a home board's points and chequers or more.
            let number = self.home.numbering.rank(&counts).unwrap_or(0) as usize;
            *row = self.home.rows[number];
            *best = self.home.best[number];
            return;
        }
        // Places of the positions after moving one chequer, by source.
        let mut places = [[0u32; 6]; super::order::MAX_POINTS];
        let mut sources = [0usize; super::order::MAX_POINTS];
        let mut occupied = 0;
        for source in (0..self.order.points()).rev() {
            if walk.chequers(source) > 0 {
                walk.places(source, &mut places[occupied]);
                sources[occupied] = source;
                occupied += 1;
            }
        }
        let choice = Choice::<A>::among(|die| {
            let from = self.best[die];
            // Sources go down: those that cannot move this die are the last.
            let able = sources[..occupied]
                .iter()
                .take_while(move |&&source| source > die);
            able.zip(&places[..occupied])
                .map(move |(_, places)| &from[places[die] as usize])
        });
        if self.with_rows {
            let rows = choice.rolls().map(|id| {
                &self.rows[(id >> PLACE_BITS) as usize][(id as usize) & (LAYER_LIMIT - 1)]
            });
            *row = A::average(&rows);
        }
        choice.tell(A::mean(row), id, best);
    }
}

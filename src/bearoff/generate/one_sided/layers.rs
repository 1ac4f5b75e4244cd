//! Pip layers: all positions of one total and pip count at once, in parallel.
//!
//! With a chequer outside the home board nothing can be borne off, so that a
//! total's positions follow from those of the same total and from the home
//! board alone. A roll lowers the pip count by at most 24 and a move by at
//! most 6: only the rows of 24 layers and the best moves of 6 are kept.

use rayon::prelude::*;

use super::arithmetic::Arithmetic;
use super::choice::{Moves, Repeated, RowId};
use super::chunk::{Out, View};
use super::home::Home;
use super::order::Order;
use super::store::{GROUP, Packed};

/// Buffers of rows: 24 layers that a roll reaches and the one in work.
pub(crate) const ROW_LAYERS: usize = 25;

/// Buffers of best moves: 6 layers that a move reaches and the one in work.
pub(crate) const BEST_LAYERS: usize = 7;

/// Bits of a row's place in its buffer.
pub(crate) const PLACE_BITS: u32 = 27;

/// The buffer of the home board.
const HOME_BUFFER: usize = 31;

/// What is added to a home position's number to get its row's id.
pub(crate) const HOME_BASE: RowId = (HOME_BUFFER as u32) << PLACE_BITS;

/// Positions that a thread computes at a time; whole groups of the store.
pub(crate) const CHUNK: usize = 8 * GROUP;

/// The layers of one total that are still needed.
pub(crate) struct Layers<'a, A: Arithmetic> {
    order: &'a Order,
    home: &'a Home<A>,
    total: u8,
    rows: Vec<Vec<A::Row>>,
    moves: Vec<Vec<Moves<A::Mean>>>,
    repeated: Vec<Vec<Repeated<A::Mean>>>,
}

/// Where the [`Repeated`] of a die and a place is. A chunk has those of all
/// places for one die, then for the next, and is always whole.
#[inline(always)]
pub(crate) fn repeated_at(place: usize, die: usize) -> usize {
    (place & !(CHUNK - 1)) * 6 + die * CHUNK + (place & (CHUNK - 1))
}

impl<'a, A: Arithmetic> Layers<'a, A> {
    /// Bytes of memory that the layers of one total take at most.
    pub(crate) fn bytes(order: &Order, total: u8) -> u64 {
        let largest = (0..=usize::from(total) * order.points())
            .map(|pips| order.len(total, pips))
            .max()
            .unwrap_or(0);
        let rows = ROW_LAYERS * size_of::<A::Row>() + A::typical_bytes() * 2;
        let best = size_of::<Moves<A::Mean>>() + 6 * size_of::<Repeated<A::Mean>>();
        (largest * (rows + BEST_LAYERS * best)) as u64
    }

    /// No layer yet.
    pub(crate) fn new(order: &'a Order, home: &'a Home<A>, total: u8) -> Self {
        Layers {
            order,
            home,
            total,
            rows: vec![Vec::new(); ROW_LAYERS],
            moves: vec![Vec::new(); BEST_LAYERS],
            repeated: vec![Vec::new(); BEST_LAYERS],
        }
    }

    /// Computes the layer of `pips` pips, for which the 24 below it are there,
    /// and answers its rows in order, packed for the store.
    pub(crate) fn compute(&mut self, pips: usize) -> Vec<Packed> {
        self.run(pips, true)
    }

    /// Starts from the layer of `pips` pips, which will be put back.
    pub(crate) fn forget_below(&mut self, pips: usize) {
        for below in pips.saturating_sub(BEST_LAYERS - 1)..pips {
            let count = self.order.len(self.total, below);
            let buffer = below % BEST_LAYERS;
            self.moves[buffer].resize(count, Moves::settled(A::WORST, 0));
            self.repeated[buffer].resize(count.next_multiple_of(CHUNK) * 6, Repeated::default());
        }
    }

    /// Puts the rows of a layer back that was computed before.
    ///
    /// Of best moves, one needs the positions of 6 layers below, two and three
    /// those of 6 more each: when 24 layers have been put back, those of the
    /// last 6, which the next layer needs, are right.
    pub(crate) fn restore(&mut self, pips: usize, rows: Vec<A::Row>) {
        self.rows[pips % ROW_LAYERS] = rows;
        self.run(pips, false);
    }

    fn run(&mut self, pips: usize, with_rows: bool) -> Vec<Packed> {
        let count = self.order.len(self.total, pips);
        let (row_buffer, best_buffer) = (pips % ROW_LAYERS, pips % BEST_LAYERS);
        let mut rows = std::mem::take(&mut self.rows[row_buffer]);
        let mut moves = std::mem::take(&mut self.moves[best_buffer]);
        let mut repeated = std::mem::take(&mut self.repeated[best_buffer]);
        // Exactly: the buffers are what bounds the memory.
        rows.reserve_exact(count.saturating_sub(rows.len()));
        moves.reserve_exact(count.saturating_sub(moves.len()));
        rows.resize(count, A::off());
        moves.resize(count, Moves::settled(A::WORST, 0));
        repeated.resize(count.next_multiple_of(CHUNK) * 6, Repeated::default());
        let view = View {
            order: self.order,
            home: self.home,
            total: self.total,
            pips,
            base: (row_buffer as u32) << PLACE_BITS,
            rows: std::array::from_fn(|buffer| match self.rows.get(buffer) {
                Some(rows) => rows.as_slice(),
                None if buffer == HOME_BUFFER => self.home.rows.as_slice(),
                None => &[],
            }),
            best: std::array::from_fn(|die| {
                let buffer = (pips + BEST_LAYERS - 1 - die) % BEST_LAYERS;
                (
                    self.moves[buffer].as_slice(),
                    self.repeated[buffer].as_slice(),
                )
            }),
            with_rows,
        };
        let packed = if count <= CHUNK {
            // Not worth waking other threads for.
            let (rows, moves, repeated) = (&mut rows[..], &mut moves[..], &mut repeated[..]);
            vec![view.chunk(
                0,
                Out {
                    rows,
                    moves,
                    repeated,
                },
            )]
        } else {
            rows.par_chunks_mut(CHUNK)
                .zip(moves.par_chunks_mut(CHUNK))
                .zip(repeated.par_chunks_mut(CHUNK * 6))
                .enumerate()
                .map(|(i, ((rows, moves), repeated))| {
                    view.chunk(
                        i * CHUNK,
                        Out {
                            rows,
                            moves,
                            repeated,
                        },
                    )
                })
                .collect()
        };
        self.rows[row_buffer] = rows;
        self.moves[best_buffer] = moves;
        self.repeated[best_buffer] = repeated;
        packed
    }
}

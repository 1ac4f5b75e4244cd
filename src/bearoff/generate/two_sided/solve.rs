//! Layers of positions of equal pip count, each against all others.
//!
//! With R\[u\]\[t\] the equities of `u` on roll against `t`, row `u` needs of
//! the columns only those of `u`'s successors, and column `u` needs only row
//! `u`. So a layer's rows are computed first, then its columns; what has
//! lower pips is there already. The positions `t` are cut into tiles: a
//! tile's part of all columns lies together and belongs to one thread at a
//! time. A row is vectorised over `t`, a column over the `u` of the layer.

use rayon::prelude::*;

use super::equity::{Block, LANES, LOST, WON, average, seen, stored, unstored};
use super::side::Side;

/// Blocks of a tile.
const TILE_BLOCKS: usize = 4;

/// Positions of a tile.
pub(crate) const TILE: usize = TILE_BLOCKS * LANES;

/// The most by which a play lowers the pip count.
const REACH: usize = 24;

/// Tables of both sides' equities as far as later layers need them; `B` is
/// the length of a [`Block`].
pub(crate) struct Solver<'a, const B: usize> {
    side: &'a Side,
    /// By tile, place `j` and block: what is [`seen`] of R\[t\]\[j\] for the
    /// `t` of the block. Only pairs with fewer pips of `j` than of `t` count.
    columns: Vec<Vec<Block<B>>>,
    /// Of the layer in work, by place `k` and block of 16 `u`: what is seen
    /// of R\[u\]\[k\].
    rows: Vec<Block<B>>,
}

/// A layer's equities in stored form.
pub(crate) struct Solved {
    /// R\[u\]\[t\] for the tiles from the layer's first place on: by tile, by
    /// `u`, by `t`.
    pub(crate) rows: Vec<u8>,
    /// R\[t\]\[u\] for the same `t`, by `t` and then by `u`.
    pub(crate) columns: Vec<u8>,
}

impl<'a, const B: usize> Solver<'a, B> {
    /// Bytes of a stored record.
    pub(crate) const RECORD: usize = 2 * B / LANES;

    /// Nothing solved yet.
    pub(crate) fn new(side: &'a Side) -> Self {
        let tiles = side.len().div_ceil(TILE);
        let columns = (0..tiles)
            .map(|tile| Vec::with_capacity(Self::columns_of(&side.starts, tile) * TILE_BLOCKS))
            .collect();
        Solver {
            side,
            columns,
            rows: Vec::new(),
        }
    }

    /// How many columns a tile needs: those with fewer pips than its last `t`.
    fn columns_of(starts: &[u32], tile: usize) -> usize {
        let last = ((tile + 1) * TILE).min(starts[starts.len() - 1] as usize) - 1;
        let pips = starts.partition_point(|&start| start as usize <= last) - 1;
        starts[pips] as usize
    }

    /// Bytes of memory that solving takes at most, by the first place of each
    /// pip count.
    pub(crate) fn bytes(starts: &[u32]) -> u64 {
        let n = starts[starts.len() - 1] as usize;
        // Columns come as layers are solved, and a tile's go when its last
        // position is passed. (Capacity is reserved, but not touched before.)
        let alive = |pips: usize| {
            let first = starts[pips] as usize / TILE;
            let columns = (first..n.div_ceil(TILE))
                .map(|tile| Self::columns_of(starts, tile).min(starts[pips + 1] as usize));
            columns.sum::<usize>() * TILE_BLOCKS
        };
        let columns = (0..starts.len() - 1).map(alive).max().unwrap_or(0);
        let widest = starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as usize)
            .max()
            .unwrap_or(0);
        let rows = widest.div_ceil(LANES) * (n + TILE);
        // A layer's results, and once more while they are kept.
        let results = 4 * widest * (n + TILE) * Self::RECORD;
        ((columns + rows) * size_of::<Block<B>>() + results) as u64
    }

    /// The first tile of a layer's results.
    pub(crate) fn first_tile(side: &Side, pips: usize) -> usize {
        side.layer(pips).start / TILE
    }

    /// Solves the layer of `pips` pips; all lower ones are solved.
    pub(crate) fn solve(&mut self, pips: usize) -> Solved {
        let us = self.side.layer(pips);
        let first = Self::first_tile(self.side, pips);
        let tiles = self.columns.len() - first;
        let mut solved = Solved {
            rows: vec![0; tiles * us.len() * TILE * Self::RECORD],
            columns: vec![0; tiles * us.len() * TILE * Self::RECORD],
        };
        if us.is_empty() {
            return solved;
        }
        self.solve_rows(pips, &mut solved.rows);
        self.solve_columns(pips, &mut solved.columns);
        self.forget(pips);
        solved
    }

    /// Makes room in a tile for the columns of a layer.
    fn make_room(side: &Side, pips: usize, tile: usize, columns: &mut Vec<Block<B>>) {
        let needed = Self::columns_of(&side.starts, tile).min(side.layer(pips).end);
        columns.resize(needed * TILE_BLOCKS, Block::all(0));
    }

    /// Frees the tiles whose positions have all been solved as rows.
    fn forget(&mut self, pips: usize) {
        let passed = self.side.layer(pips).end / TILE;
        for tile in &mut self.columns[..passed] {
            *tile = Vec::new();
        }
    }

    /// Takes a layer over that was solved before.
    pub(crate) fn restore(&mut self, pips: usize, columns: &[u8]) {
        let us = self.side.layer(pips);
        let first = Self::first_tile(self.side, pips);
        let tile_bytes = us.len() * TILE * Self::RECORD;
        if us.is_empty() {
            return;
        }
        let side = self.side;
        let tiles = self.columns[first..]
            .par_iter_mut()
            .zip(columns.par_chunks(tile_bytes));
        tiles.enumerate().for_each(|(i, (tile, bytes))| {
            Self::make_room(side, pips, first + i, tile);
            let columns = tile.chunks_exact_mut(TILE_BLOCKS).skip(us.start);
            for (u, blocks) in columns.take(us.len()).enumerate() {
                for (i, block) in blocks.iter_mut().enumerate() {
                    let mut equities = Block::all(0);
                    for lane in 0..LANES {
                        let at = ((i * LANES + lane) * us.len() + u) * Self::RECORD;
                        unstored(&mut equities, lane, &bytes[at..at + Self::RECORD]);
                    }
                    *block = seen(&equities);
                }
            }
        });
        self.forget(pips);
    }

    fn solve_rows(&mut self, pips: usize, out: &mut [u8]) {
        let us = self.side.layer(pips);
        let blocks = us.len().div_ceil(LANES);
        let first = Self::first_tile(self.side, pips);
        let mut rows = std::mem::take(&mut self.rows);
        rows.resize(self.columns.len() * TILE * blocks, Block::all(0));
        let lowest = self.side.layer(pips.saturating_sub(REACH)).start / TILE;
        let (before, from) = rows.split_at_mut(first * TILE * blocks);
        // What is below the layer has been solved as columns.
        before
            .par_chunks_mut(TILE * blocks)
            .enumerate()
            .skip(lowest)
            .for_each(|(tile, rows)| {
                self.gather(pips, tile * TILE..(tile + 1) * TILE, rows);
            });
        from.par_chunks_mut(TILE * blocks)
            .zip(out.par_chunks_mut(us.len() * TILE * Self::RECORD))
            .enumerate()
            .for_each(|(i, (rows, out))| {
                let tile = first + i;
                if i == 0 {
                    self.gather(pips, tile * TILE..us.start, rows);
                }
                run(|| self.rows_of_tile(pips, tile, rows, out));
            });
        self.rows = rows;
    }

    /// Fills rows for places below the layer.
    fn gather(&self, pips: usize, places: std::ops::Range<usize>, rows: &mut [Block<B>]) {
        let us = self.side.layer(pips);
        let blocks = us.len().div_ceil(LANES);
        for (k, rows) in places.zip(rows.chunks_exact_mut(blocks)) {
            for (i, u) in us.clone().enumerate() {
                let column = &self.columns[u / TILE][k * TILE_BLOCKS + u % TILE / LANES];
                let (from, to) = (u % LANES, i % LANES);
                for value in 0..B / LANES {
                    rows[i / LANES].0[value * LANES + to] = column.0[value * LANES + from];
                }
            }
        }
    }

    #[inline(always)]
    fn rows_of_tile(&self, pips: usize, tile: usize, rows: &mut [Block<B>], out: &mut [u8]) {
        let us = self.side.layer(pips);
        let blocks = us.len().div_ceil(LANES);
        let columns = &self.columns[tile];
        for block in 0..TILE_BLOCKS {
            let start = tile * TILE + block * LANES;
            let end = (start + LANES).min(self.side.len());
            if end <= us.start || start >= end {
                continue;
            }
            for (i, u) in us.clone().enumerate() {
                let equities = if pips == 0 {
                    Block::all(WON)
                } else {
                    average(
                        |roll| self.side.results(u, roll),
                        |j| &columns[j * TILE_BLOCKS + block],
                    )
                };
                let seen = seen(&equities);
                for t in start.max(us.start)..end {
                    let lane = t - start;
                    let to = &mut rows[(t - tile * TILE) * blocks + i / LANES];
                    for value in 0..B / LANES {
                        to.0[value * LANES + i % LANES] = seen.0[value * LANES + lane];
                    }
                    let at = (i * TILE + block * LANES + lane) * Self::RECORD;
                    stored(&equities, lane, &mut out[at..at + Self::RECORD]);
                }
            }
        }
    }

    fn solve_columns(&mut self, pips: usize, out: &mut [u8]) {
        let us = self.side.layer(pips);
        let first = Self::first_tile(self.side, pips);
        let (side, rows) = (self.side, &self.rows);
        self.columns[first..]
            .par_iter_mut()
            .zip(out.par_chunks_mut(us.len() * TILE * Self::RECORD))
            .enumerate()
            .for_each(|(i, (columns, out))| {
                Self::make_room(side, pips, first + i, columns);
                run(|| Self::columns_of_tile(side, rows, pips, first + i, columns, out));
            });
    }

    #[inline(always)]
    fn columns_of_tile(
        side: &Side,
        rows: &[Block<B>],
        pips: usize,
        tile: usize,
        columns: &mut [Block<B>],
        out: &mut [u8],
    ) {
        let us = side.layer(pips);
        let blocks = us.len().div_ceil(LANES);
        let ts = (tile * TILE).max(us.end)..((tile + 1) * TILE).min(side.len());
        for block in 0..blocks {
            for t in ts.clone() {
                let equities = if pips == 0 {
                    Block::all(LOST)
                } else {
                    average(|roll| side.results(t, roll), |k| &rows[k * blocks + block])
                };
                let seen = seen(&equities);
                let lanes = LANES.min(us.len() - block * LANES);
                for lane in 0..lanes {
                    let i = block * LANES + lane;
                    let to = &mut columns[(us.start + i) * TILE_BLOCKS + (t - tile * TILE) / LANES];
                    for value in 0..B / LANES {
                        to.0[value * LANES + t % LANES] = seen.0[value * LANES + lane];
                    }
                    let at = ((t - tile * TILE) * us.len() + i) * Self::RECORD;
                    stored(&equities, lane, &mut out[at..at + Self::RECORD]);
                }
            }
        }
    }
}

/// Runs the same code with the best instructions that the processor has.
#[inline(always)]
fn run<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx512<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        if is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the processor has the features.
            #[allow(unsafe_code)]
            return unsafe { avx512(work) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has the features.
            #[allow(unsafe_code)]
            return unsafe { avx2(work) };
        }
    }
    work()
}

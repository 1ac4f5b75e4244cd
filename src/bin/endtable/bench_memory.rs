//! What the machine's memory costs, against which look-ups that wait for it are to
//! be read.

use std::hint::black_box;
use std::time::Instant;

use crate::bench::Random;

/// Bytes of a line, of which one word is read.
const LINE: usize = 64;
/// Memory that is read, at most.
const MOST_BYTES: u64 = 256 << 20;
/// Reads that are timed.
const READS: u32 = 500_000;

/// Mean time in ns of one read whose place the read before it gave, in random order
/// all over about `bytes` of memory.
pub(crate) fn dependent_read(random: &mut Random, bytes: u64) -> f64 {
    let words = LINE / size_of::<u32>();
    let lines = (bytes.min(MOST_BYTES) as usize / LINE).max(2);
    // A single cycle through all lines (Sattolo's shuffle).
    let mut next: Vec<u32> = (0..lines as u32).collect();
    for i in (1..lines).rev() {
        next.swap(i, random.below(i as u64) as usize);
    }
    let mut memory = vec![0u32; lines * words];
    for (line, &to) in memory.chunks_exact_mut(words).zip(&next) {
        line[0] = to;
    }
    let start = Instant::now();
    let mut at = 0;
    for _ in 0..READS {
        at = memory[at as usize * words];
    }
    black_box(at);
    start.elapsed().as_nanos() as f64 / f64::from(READS)
}

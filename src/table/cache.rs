//! A byte-budgeted cache of blocks, sharded so that threads do not queue, which
//! many tables can share.
//!
//! Blocks go in the order in which they came, but for those that were used since:
//! they go to the end of the queue. A hit then touches its entry alone, where exact
//! LRU order would have it wait for the memory of its neighbours in a list too:
//! skewed look-ups in a `small` table of 10 points take 276 ns where they took 391.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Shards, a power of two.
const SHARDS: usize = 16;
/// What an entry costs beside its block, in bytes: its places in map and queue and
/// what the allocator adds. Measured: processes that cached 100,000 to 400,000 blocks
/// of 40 bytes grew by 85 to 106 for each beside them.
const ENTRY_BYTES: usize = 128;
/// Blocks within so many numbers are in the same shard; logarithm.
const NEIGHBOURS_LOG2: u32 = 8;
/// Blocks that were asked for lately and are not kept, of each shard, about.
const REMEMBERED: usize = 4096;

/// Names a block of a column of an open table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// A number from [`BlockCache::register`].
    pub(super) column: u64,
    pub(super) block: u64,
}

/// Mixes two numbers; odd multipliers with many bits set spread consecutive ones
/// over shards and buckets.
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let x = (b ^ a.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(mix(self.column, self.block));
    }
}

/// Passes on the one number that [`Key`] has mixed already.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(b);
        }
    }
    fn write_u64(&mut self, v: u64) {
        self.0 = v;
    }
}

/// A block that is kept.
struct Entry {
    block: Box<[u8]>,
    /// Whether it was asked for since it came, or was last spared.
    used: bool,
}

struct Kept {
    blocks: HashMap<Key, Entry, BuildHasherDefault<Mixed>>,
    /// Keys of the blocks, those that go first in front.
    queue: VecDeque<Key>,
    bytes: usize,
    /// Whether a block had to go for another one.
    full: bool,
    /// Mixed keys of blocks that were asked for lately, each in its place.
    asked: Box<[u64]>,
    hits: u64,
    misses: u64,
}

/// How a cache has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Look-ups answered from the cache.
    pub hits: u64,
    /// Look-ups for which a block was read.
    pub misses: u64,
    /// Blocks held now.
    pub blocks: u64,
    /// Bytes held now, bookkeeping included.
    pub bytes: u64,
}

/// Blocks that were read lately, up to a budget in bytes.
pub struct BlockCache {
    shards: Vec<Mutex<Kept>>,
    shard_budget: usize,
    next_id: AtomicU64,
}

impl std::fmt::Debug for BlockCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockCache")
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}

impl BlockCache {
    /// A cache of at most `budget` bytes; 0 keeps nothing.
    pub fn new(budget: usize) -> Self {
        let kept = || Kept {
            blocks: HashMap::default(),
            queue: VecDeque::new(),
            bytes: 0,
            full: false,
            asked: vec![0; REMEMBERED].into(),
            hits: 0,
            misses: 0,
        };
        let shards = (0..SHARDS).map(|_| Mutex::new(kept())).collect();
        BlockCache {
            shards,
            shard_budget: budget / SHARDS,
            next_id: AtomicU64::new(0),
        }
    }

    /// Whether the cache keeps nothing at all.
    #[inline]
    pub fn is_off(&self) -> bool {
        self.shard_budget == 0
    }

    /// Numbers for `columns` columns of a table that is being opened.
    pub(super) fn register(&self, columns: usize) -> u64 {
        self.next_id.fetch_add(columns as u64, Ordering::Relaxed)
    }

    /// The shard of the blocks of a table around number `first`, whatever their
    /// columns: those of one record are looked up under one lock.
    #[inline]
    pub(super) fn shard_of(&self, table: u64, first: u64) -> usize {
        (mix(table, first >> NEIGHBOURS_LOG2) >> 60) as usize % SHARDS
    }

    /// Locks two shards, which may be the same, always in the same order.
    #[inline]
    pub(super) fn lock_two(&self, shards: [usize; 2]) -> Two<'_> {
        let (low, high) = (shards[0].min(shards[1]), shards[0].max(shards[1]));
        Two {
            low,
            one: self.lock(low),
            two: (low < high).then(|| self.lock(high)),
        }
    }

    /// Locks a shard that [`BlockCache::shard_of`] gave.
    #[inline]
    pub(super) fn lock(&self, shard: usize) -> Shard<'_> {
        // A panic cannot leave a shard half changed: the lock covers no code
        // of others but the reading of a finished block.
        let kept = self.shards[shard % SHARDS]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Shard {
            kept,
            budget: self.shard_budget,
        }
    }

    /// Drops everything; the counts of hits and misses start again.
    pub fn clear(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.blocks.clear();
            shard.queue.clear();
            shard.asked.fill(0);
            shard.full = false;
            (shard.bytes, shard.hits, shard.misses) = (0, 0, 0);
        }
    }

    /// Counts over all shards.
    pub fn statistics(&self) -> CacheStatistics {
        let mut sum = CacheStatistics::default();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            sum.hits += shard.hits;
            sum.misses += shard.misses;
            sum.blocks += shard.blocks.len() as u64;
            sum.bytes += shard.bytes as u64;
        }
        sum
    }
}

/// Two locked shards.
pub(super) struct Two<'a> {
    low: usize,
    one: Shard<'a>,
    two: Option<Shard<'a>>,
}

impl<'a> Two<'a> {
    /// The one that was asked for as `shard`.
    #[inline]
    pub(super) fn of(&mut self, shard: usize) -> &mut Shard<'a> {
        match &mut self.two {
            Some(two) if shard != self.low => two,
            _ => &mut self.one,
        }
    }
}

/// A locked shard.
pub(super) struct Shard<'a> {
    kept: MutexGuard<'a, Kept>,
    budget: usize,
}

impl Shard<'_> {
    /// Hands a cached block to `read`, or `None` when it is not there.
    #[inline]
    pub(super) fn get<T>(&mut self, key: Key, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let kept = &mut *self.kept;
        let entry = kept.blocks.get_mut(&key)?;
        entry.used = true;
        kept.hits += 1;
        Some(read(&entry.block))
    }

    /// Whether a block that is not there is worth keeping: where another one would
    /// have to go for it, only if it was asked for lately already.
    pub(super) fn admits(&mut self, key: Key) -> bool {
        let kept = &mut *self.kept;
        kept.misses += 1;
        let mixed = mix(key.column, key.block);
        // Bits that buckets depend on least.
        let asked = &mut kept.asked[(mixed >> 32) as usize % REMEMBERED];
        let admits = !kept.full || *asked == mixed;
        *asked = mixed;
        admits
    }

    /// Keeps a block, and drops others to stay in the budget.
    pub(super) fn insert(&mut self, key: Key, block: Box<[u8]>) {
        let cost = block.len() + ENTRY_BYTES;
        if cost > self.budget {
            return;
        }
        let kept = &mut *self.kept;
        match kept.blocks.insert(key, Entry { block, used: false }) {
            Some(old) => kept.bytes -= old.block.len() + ENTRY_BYTES,
            None => kept.queue.push_back(key),
        }
        kept.bytes += cost;
        while kept.bytes > self.budget {
            kept.full = true;
            kept.drop_one();
        }
    }
}

impl Kept {
    /// Drops the block that has its turn.
    fn drop_one(&mut self) {
        while let Some(key) = self.queue.pop_front() {
            match self.blocks.get_mut(&key) {
                Some(entry) if entry.used => {
                    entry.used = false;
                    self.queue.push_back(key);
                }
                _ => {
                    if let Some(old) = self.blocks.remove(&key) {
                        self.bytes -= old.block.len() + ENTRY_BYTES;
                    }
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Key = Key {
        column: 1,
        block: 0,
    };

    #[test]
    fn the_budget_holds_and_the_oldest_go() {
        let cache = BlockCache::new(1 << 20);
        let shard = cache.shard_of(1, 0);
        for block in 0..10_000 {
            let key = Key { block, ..ONE };
            cache.lock(shard).insert(key, vec![7; 1000].into());
        }
        let held = cache.statistics();
        assert!(held.bytes <= (1 << 20) / SHARDS as u64, "{held:?}");
        assert!(held.blocks > 50, "{held:?}");
        let newest = Key {
            block: 9_999,
            ..ONE
        };
        let length = |key| cache.lock(shard).get(key, |block| block.len());
        assert_eq!(length(ONE), None);
        assert_eq!(length(newest), Some(1000));
        assert_eq!(
            length(Key {
                column: 2,
                ..newest
            }),
            None
        );
        let counted = cache.statistics();
        assert_eq!((counted.hits, counted.misses), (1, 0));
        // A second copy of a block replaces the first.
        cache.lock(shard).insert(newest, vec![8; 10].into());
        assert_eq!(length(newest), Some(10));
        // A block over a shard's budget is not kept.
        cache
            .lock(shard)
            .insert(Key { column: 3, ..ONE }, vec![0; 1 << 17].into());
        assert_eq!(length(Key { column: 3, ..ONE }), None);
        cache.clear();
        assert_eq!(cache.statistics(), CacheStatistics::default());
    }

    #[test]
    fn a_block_in_use_stays() {
        let cache = BlockCache::new(1 << 20);
        let shard = cache.shard_of(1, 0);
        cache.lock(shard).insert(ONE, vec![7; 1000].into());
        for block in 1..10_000 {
            let key = Key { block, ..ONE };
            cache.lock(shard).insert(key, vec![7; 1000].into());
            assert!(cache.lock(shard).get(ONE, |_| ()).is_some(), "{block}");
        }
    }

    #[test]
    fn a_full_cache_keeps_what_is_asked_for_twice() {
        let cache = BlockCache::new(1 << 20);
        let shard = cache.shard_of(1, 0);
        let admits = |block| cache.lock(shard).admits(Key { block, ..ONE });
        assert!(admits(0), "there is room");
        for block in 0..10_000 {
            let key = Key { block, ..ONE };
            cache.lock(shard).insert(key, vec![7; 1000].into());
        }
        assert!(!admits(10_000));
        assert!(!admits(10_001));
        assert!(admits(10_000));
        // Too many others came in between.
        (20_000..300_000).for_each(|block| assert!(!admits(block)));
        assert!(!admits(10_001));
        assert_eq!(cache.statistics().misses, 280_005);
    }

    #[test]
    fn neighbours_share_a_shard_and_all_shards_are_used() {
        let cache = BlockCache::new(1 << 20);
        let mut used = [0; SHARDS];
        for first in (0..100_000).step_by(32) {
            let shard = cache.shard_of(1, first);
            assert_eq!(shard, cache.shard_of(1, first / 256 * 256));
            used[shard] += 1;
        }
        assert!(used.iter().all(|&n| n > 0), "{used:?}");
    }
}

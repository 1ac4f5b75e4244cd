//! A byte-budgeted LRU cache of blocks, sharded so that threads do not queue,
//! which many tables can share.

use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;

/// Shards, a power of two.
const SHARDS: usize = 16;
/// What an entry costs beside its block, in bytes: key, links, hash slot and
/// what the allocator adds. Measured: a process that cached 300,000 blocks of one
/// byte grew by 128 for each.
const ENTRY_BYTES: usize = 128;

/// Names a block of a column of an open table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// A number from [`BlockCache::register`].
    pub(super) column: u64,
    pub(super) block: u64,
}

impl Key {
    /// Mixes both numbers; odd multipliers with many bits set spread
    /// consecutive blocks over shards and buckets.
    fn mixed(self) -> u64 {
        let x = (self.block ^ self.column.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mixed());
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

type Blocks = LruCache<Key, Box<[u8]>, BuildHasherDefault<Mixed>>;

struct Shard {
    blocks: Blocks,
    bytes: usize,
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
    shards: Vec<Mutex<Shard>>,
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
        let shards = (0..SHARDS)
            .map(|_| {
                Mutex::new(Shard {
                    blocks: LruCache::unbounded_with_hasher(BuildHasherDefault::default()),
                    bytes: 0,
                    hits: 0,
                    misses: 0,
                })
            })
            .collect();
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

    #[inline]
    fn shard(&self, key: Key) -> MutexGuard<'_, Shard> {
        let shard = &self.shards[(key.mixed() >> 60) as usize % SHARDS];
        // A panic cannot leave a shard half changed: the lock covers no code
        // of others but the reading of a finished block.
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a cached block to `read`, or `None` when it is not there.
    #[inline]
    pub(super) fn get<T>(&self, key: Key, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        let mut shard = self.shard(key);
        let shard = &mut *shard;
        match shard.blocks.get(&key) {
            Some(block) => {
                shard.hits += 1;
                Some(read(block))
            }
            None => {
                shard.misses += 1;
                None
            }
        }
    }

    /// Keeps a block, and drops those longest unused to stay in the budget.
    pub(super) fn insert(&self, key: Key, block: Box<[u8]>) {
        let cost = block.len() + ENTRY_BYTES;
        if cost > self.shard_budget {
            return;
        }
        let mut shard = self.shard(key);
        if let Some((_, old)) = shard.blocks.push(key, block) {
            shard.bytes -= old.len() + ENTRY_BYTES;
        }
        shard.bytes += cost;
        while shard.bytes > self.shard_budget {
            match shard.blocks.pop_lru() {
                Some((_, old)) => shard.bytes -= old.len() + ENTRY_BYTES,
                None => break,
            }
        }
    }

    /// Drops everything; the counts of hits and misses start again.
    pub fn clear(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.blocks.clear();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_holds_and_the_oldest_go() {
        let cache = BlockCache::new(1 << 20);
        for block in 0..10_000 {
            cache.insert(Key { column: 1, block }, vec![7; 1000].into());
        }
        let held = cache.statistics();
        assert!(held.bytes <= 1 << 20, "{held:?}");
        assert!(held.blocks > 700, "{held:?}");
        assert_eq!(
            cache.get(
                Key {
                    column: 1,
                    block: 0
                },
                |_| ()
            ),
            None
        );
        assert_eq!(
            cache.get(
                Key {
                    column: 1,
                    block: 9_999
                },
                |b| b.len()
            ),
            Some(1000)
        );
        assert_eq!(
            cache.get(
                Key {
                    column: 2,
                    block: 9_999
                },
                |b| b.len()
            ),
            None
        );
        let counted = cache.statistics();
        assert_eq!((counted.hits, counted.misses), (1, 2));
        // A second copy of a block replaces the first.
        cache.insert(
            Key {
                column: 1,
                block: 9_999,
            },
            vec![8; 10].into(),
        );
        assert_eq!(
            cache.get(
                Key {
                    column: 1,
                    block: 9_999
                },
                |b| b[0]
            ),
            Some(8)
        );
        // A block over a shard's budget is not kept.
        cache.insert(
            Key {
                column: 3,
                block: 0,
            },
            vec![0; 1 << 17].into(),
        );
        assert_eq!(
            cache.get(
                Key {
                    column: 3,
                    block: 0
                },
                |_| ()
            ),
            None
        );
        cache.clear();
        assert_eq!(cache.statistics(), CacheStatistics::default());
    }
}

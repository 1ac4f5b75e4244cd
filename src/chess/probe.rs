//! Looking positions up in a folder of tables.

use std::hash::BuildHasherDefault;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use super::error::ProbeError;
use super::position::{Move, Position};
use super::signature::{Signature, Spread};
use super::table::{Place, Table};
use super::{Material, Score};
use crate::table::{BlockCache, OpenOptions};
use crate::{Error, Limits, Result};

/// Tables kept open at a time unless the caller says otherwise.
const OPEN_TABLES: usize = 128;
/// Budget of the cache of blocks in bytes unless the caller says otherwise.
const CACHE_BYTES: usize = 64 << 20;

/// Open tables by [`Signature`].
type Tables = LruCache<u64, Arc<Table>, BuildHasherDefault<Spread>>;

/// A folder of chess tables, `KQvKR.etb` and so on. Tables are opened when they
/// are first needed, at most so many at a time, and share one cache of blocks.
/// Usable from many threads.
pub struct Probe {
    folder: PathBuf,
    tables: Mutex<Tables>,
    cache: Arc<BlockCache>,
    limits: Limits,
    mapped: bool,
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probe")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// How a folder is opened.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    open_tables: usize,
    cache: Option<Arc<BlockCache>>,
    limits: Limits,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self {
            open_tables: OPEN_TABLES,
            cache: None,
            limits: Limits::default(),
        }
    }
}

impl ProbeOptions {
    /// 128 tables open at a time, a cache of 64 MiB, default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps at most `count` tables (and so file handles) open; at least one.
    #[must_use]
    pub fn open_tables(mut self, count: usize) -> Self {
        self.open_tables = count.max(1);
        self
    }

    /// A cache of `bytes` bytes for all tables together; 0 for none.
    #[must_use]
    pub fn cache_bytes(mut self, bytes: usize) -> Self {
        self.cache = Some(Arc::new(BlockCache::new(bytes)));
        self
    }

    /// A cache shared with others.
    #[must_use]
    pub fn cache(mut self, cache: Arc<BlockCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Other limits for what a file may make the reader allocate.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Opens a folder; its tables are opened later, when they are needed.
    pub fn open(self, folder: impl AsRef<Path>) -> Probe {
        self.build(folder.as_ref(), false)
    }

    /// Opens a folder whose tables are memory maps, which is the fastest.
    ///
    /// # Safety
    /// Nobody may change a table while the probe lives.
    #[allow(unsafe_code)]
    pub unsafe fn map(self, folder: impl AsRef<Path>) -> Probe {
        self.build(folder.as_ref(), true)
    }

    fn build(self, folder: &Path, mapped: bool) -> Probe {
        let open =
            std::num::NonZeroUsize::new(self.open_tables).unwrap_or(std::num::NonZeroUsize::MIN);
        Probe {
            folder: folder.to_owned(),
            tables: Mutex::new(LruCache::with_hasher(open, BuildHasherDefault::default())),
            cache: self
                .cache
                .unwrap_or_else(|| Arc::new(BlockCache::new(CACHE_BYTES))),
            limits: self.limits,
            mapped,
        }
    }
}

/// What the tables say of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The value for the side to move. The half-move clock is ignored: the 50-move
    /// rule may turn a win into a draw.
    pub score: Score,
    /// Whether the side to move is not stored and its moves were looked up
    /// instead.
    pub searched: bool,
}

/// Where a score is found.
enum Stored {
    /// Two kings are a draw.
    Bare,
    At(Arc<Table>, Place),
    /// The table holds the other side to move.
    Other,
}

impl Probe {
    /// Opens a folder with [`ProbeOptions::new`].
    pub fn open(folder: impl AsRef<Path>) -> Self {
        ProbeOptions::new().open(folder)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The table of a material, from the tables that are open or the folder.
    ///
    /// # Errors
    /// [`ProbeError::MissingTable`], or [`ProbeError::Table`] when the file cannot
    /// be opened.
    pub fn table(&self, material: &Material) -> Result<Arc<Table>, ProbeError> {
        self.table_of(Signature::of_material(material), || Ok(material.clone()))
    }

    /// The table of these men, which `material` names when it has to be opened.
    fn table_of(
        &self,
        men: Signature,
        material: impl FnOnce() -> Result<Material>,
    ) -> Result<Arc<Table>, ProbeError> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = tables.get(&men.key()) {
            return Ok(Arc::clone(table));
        }
        let table = Arc::new(self.open_table(material()?.canonical().0)?);
        tables.put(men.key(), Arc::clone(&table));
        Ok(table)
    }

    fn open_table(&self, ending: Material) -> Result<Table, ProbeError> {
        let path = self.folder.join(format!("{ending}.etb"));
        if !path.exists() {
            return Err(ProbeError::MissingTable {
                ending,
                folder: self.folder.clone(),
            });
        }
        let options = OpenOptions::new()
            .limits(self.limits)
            .cache(Arc::clone(&self.cache));
        let reader = if self.mapped {
            // SAFETY: whoever asked for memory maps promised it in `map`.
            #[allow(unsafe_code)]
            unsafe {
                options.map(&path)?
            }
        } else {
            options.open(&path)?
        };
        let table = Table::new(reader).map_err(|e| e.in_file(&path))?;
        if table.material()? != ending {
            return Err(Error::corrupt(
                "K-4",
                format!(
                    "the table is of {}, by its name of {ending}",
                    table.material()?
                ),
            )
            .in_file(&path)
            .into());
        }
        Ok(table)
    }

    /// Looks a position up.
    ///
    /// # Errors
    /// [`ProbeError::TooManyMen`], [`ProbeError::MissingTable`] for the ending or
    /// one that a capture leads to where that is needed, [`ProbeError::Table`].
    pub fn probe(&self, position: &Position) -> Result<Answer, ProbeError> {
        let stored = match self.stored(position)? {
            Stored::Bare => Score::DRAW,
            Stored::At(table, place) => table.score(place, position)?,
            Stored::Other => {
                // Moves of the side that is not stored lead to the side that is.
                let score = self.best(position, |_| true)?;
                return Ok(Answer {
                    score: score.unwrap_or_else(|| end(position)),
                    searched: true,
                });
            }
        };
        if position.en_passant.is_none() {
            return Ok(Answer {
                score: stored,
                searched: false,
            });
        }
        // The table holds the position without the right: its moves but en passant.
        let captures = self.best(position, |m| position.takes_en_passant(m))?;
        let others = position
            .moves()
            .iter()
            .any(|&(m, _)| !position.takes_en_passant(m));
        let score = match captures {
            Some(capture) if others => capture.max(stored),
            Some(capture) => capture,
            None => stored,
        };
        Ok(Answer {
            score,
            searched: false,
        })
    }

    /// The best score over the moves that `wanted` takes; none without any.
    fn best(
        &self,
        position: &Position,
        wanted: impl Fn(Move) -> bool,
    ) -> Result<Option<Score>, ProbeError> {
        let mut best = None;
        let mut places = Vec::new();
        for (m, after) in position.moves() {
            if !wanted(m) {
                continue;
            }
            // Without a cache neighbouring numbers are decoded together.
            if self.cache.is_off()
                && after.en_passant.is_none()
                && let Stored::At(table, place) = self.stored(&after)?
            {
                places.push((table, place, after));
            } else {
                best = best.max(Some(self.probe(&after)?.score.before()));
            }
        }
        places.sort_by_key(|(table, ..)| Arc::as_ptr(table));
        for of_table in places.chunk_by(|(a, ..), (b, ..)| Arc::ptr_eq(a, b)) {
            if let Some((table, ..)) = of_table.first() {
                let scores =
                    table.scores(of_table.iter().map(|(_, place, after)| (*place, after)))?;
                best = best.max(scores.into_iter().map(Score::before).max());
            }
        }
        Ok(best)
    }

    /// Where the score of a position is stored, en passant left out.
    #[inline]
    fn stored(&self, position: &Position) -> Result<Stored, ProbeError> {
        let men = position.occupied().count_ones() as usize;
        if men > Material::MAX_MEN {
            return Err(ProbeError::TooManyMen {
                men,
                most: Material::MAX_MEN,
            });
        }
        if men == 2 {
            return Ok(Stored::Bare);
        }
        let signature = Signature::of_position(position);
        let table = self.table_of(signature, || position.material())?;
        let mut seen = if signature.is_swapped() {
            position.swapped()
        } else {
            *position
        };
        if signature.is_symmetric() && table.coding(seen.mover).is_none() {
            seen = seen.swapped();
        }
        Ok(match table.place(&seen)? {
            Some(place) => Stored::At(table, place),
            None => Stored::Other,
        })
    }

    /// Every legal move with its score for the side to move, the best first and
    /// equal ones in the order of [`Position::moves`].
    ///
    /// # Errors
    /// As [`Probe::probe`].
    pub fn moves(&self, position: &Position) -> Result<Vec<(Move, Score)>, ProbeError> {
        let mut moves = Vec::new();
        for (m, after) in position.moves() {
            moves.push((m, self.probe(&after)?.score.before()));
        }
        moves.sort_by_key(|&(_, score)| std::cmp::Reverse(score));
        Ok(moves)
    }
}

/// The score of a position without a legal move.
fn end(position: &Position) -> Score {
    if position.in_check() {
        Score::loss(0)
    } else {
        Score::DRAW
    }
}

//! Looking positions up in a folder of tables.

use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;

use super::error::ProbeError;
use super::position::{Move, Position};
use super::store::Coding;
use super::{Kind, Material, Score, Side};
use crate::numbering::kings::board::squares;
use crate::numbering::kings::{Kings, Placement, Sides, Tight};
use crate::table::{BlockCache, OpenOptions, Reader};
use crate::{Error, Limits, Result};

/// Tables kept open at a time unless the caller says otherwise.
const OPEN_TABLES: usize = 128;
/// Budget of the cache of blocks in bytes unless the caller says otherwise.
const CACHE_BYTES: usize = 64 << 20;

/// Open tables by [`Signature`].
type Tables = LruCache<u64, Arc<Table>, BuildHasherDefault<Spread>>;

/// Spreads numbers of few bits over a hash table.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, n: u64) {
        let mixed = (self.0 ^ n ^ n >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// How many men of each kind the sides have, as a number for each side that is
/// the greater the more men, and of as many the stronger ones, it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signature {
    white: u32,
    black: u32,
}

impl Signature {
    fn of(count: impl Fn(Side, Kind) -> u32) -> Self {
        let side = |side| {
            let (mut men, mut kinds) = (0, 0);
            for kind in Kind::MEN {
                let n = count(side, kind);
                men += n;
                kinds = kinds << 3 | n;
            }
            men << 15 | kinds
        };
        Signature {
            white: side(Side::White),
            black: side(Side::Black),
        }
    }

    fn of_position(position: &Position) -> Self {
        Self::of(|side, kind| {
            // There are few, so that this takes less than counting bits.
            squares(position.men(side, kind)).count() as u32
        })
    }

    fn of_material(material: &Material) -> Self {
        Self::of(|side, kind| material.side(side).iter().filter(|&&k| k == kind).count() as u32)
    }

    /// Whether the table of these men has the colours exchanged; as
    /// [`Material::canonical`].
    fn is_swapped(self) -> bool {
        self.black > self.white
    }

    fn is_symmetric(self) -> bool {
        self.black == self.white
    }

    /// Names the table: the same with the colours exchanged.
    fn key(self) -> u64 {
        u64::from(self.white.max(self.black)) << 32 | u64::from(self.white.min(self.black))
    }
}

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

/// A number of either version of the numbering.
#[derive(Debug)]
enum Numbers {
    Plain(Kings),
    Tight(Tight),
}

impl Numbers {
    fn number(&self, placement: &Placement) -> Option<u64> {
        match self {
            Numbers::Plain(n) => n.number(placement),
            Numbers::Tight(n) => n.number(placement),
        }
    }

    fn sides(&self) -> Sides {
        match self {
            Numbers::Plain(n) => n.sides(),
            Numbers::Tight(n) => n.sides(),
        }
    }

    fn men(&self) -> &[super::Man] {
        match self {
            Numbers::Plain(n) => n.men(),
            Numbers::Tight(n) => n.men(),
        }
    }

    fn placement(&self, number: u64) -> Option<Placement> {
        match self {
            Numbers::Plain(n) => n.placement(number),
            Numbers::Tight(n) => n.placement(number),
        }
    }
}

/// One open table of an ending.
#[derive(Debug)]
pub struct Table {
    reader: Reader,
    numbers: Numbers,
    /// By value of a record.
    codings: Vec<Coding>,
}

impl Table {
    /// Takes an open table for one of a chess ending.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when its numbering is another; [`Error::Corrupt`]
    /// when its fields are no distances to mate.
    pub fn new(reader: Reader) -> Result<Self> {
        let id = &reader.schema().numbering;
        let numbers = match (id.name.as_str(), id.version) {
            (Kings::NAME, 1) => Numbers::Plain(Kings::from_params(&id.params)?),
            (Kings::NAME, 2) => Numbers::Tight(Tight::from_params(&id.params)?),
            (name, version) => {
                return Err(Error::unsupported(format!(
                    "numbering `{name}` version {version}; a chess table has `kings` 1 or 2"
                )));
            }
        };
        let fields = reader.schema().columns.iter().flat_map(|c| &c.fields);
        let codings = fields.map(Coding::of_field).collect::<Result<Vec<_>>>()?;
        if codings.len() != numbers.sides().list().len() {
            return Err(Error::corrupt(
                "K-3",
                format!(
                    "{} fields, one for each side to move expected",
                    codings.len()
                ),
            ));
        }
        Ok(Self {
            reader,
            numbers,
            codings,
        })
    }

    /// The table itself.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The men beside the kings, in the numbering's order.
    pub fn men(&self) -> &[super::Man] {
        self.numbers.men()
    }

    /// The material.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a numbering with too many men.
    pub fn material(&self) -> Result<Material> {
        let of = |side| -> Vec<super::Kind> {
            self.men()
                .iter()
                .filter(|m| m.side == side)
                .map(|m| m.kind)
                .collect()
        };
        Material::new(&of(Side::White), &of(Side::Black))
    }

    /// The sides to move that are stored.
    pub fn sides(&self) -> &'static [Side] {
        self.numbers.sides().list()
    }

    /// The placement of a number.
    pub fn placement(&self, number: u64) -> Option<Placement> {
        self.numbers.placement(number)
    }

    /// The number of a placement.
    pub fn number(&self, placement: &Placement) -> Option<u64> {
        self.numbers.number(placement)
    }

    /// What the raw values with `side` to move mean; none when it is not stored.
    pub fn coding(&self, side: Side) -> Option<Coding> {
        let value = self.sides().iter().position(|&s| s == side)?;
        self.codings.get(value).copied()
    }

    /// The score of a position of this material, en passant left out; none when
    /// its side to move is not stored.
    fn score(&self, position: &Position) -> Result<Option<Score>> {
        let Some(value) = self.sides().iter().position(|&s| s == position.mover) else {
            return Ok(None);
        };
        let placement = position.placement(self.men());
        let missing =
            || Error::corrupt("K-5", format!("no value for the legal position {position}"));
        let number = self.numbers.number(&placement).ok_or_else(missing)?;
        let raw = self.reader.get_value(number, value)?;
        let score = self
            .codings
            .get(value)
            .map_or(Score::ILLEGAL, |c| c.score(raw));
        if score.is_legal() {
            Ok(Some(score))
        } else {
            Err(missing())
        }
    }
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
        let stored = self.stored(position)?;
        let Some(stored) = stored else {
            // The moves of the side that is not stored lead to the side that is.
            let score = self.best(position, |_| true)?;
            return Ok(Answer {
                score: score.unwrap_or_else(|| end(position)),
                searched: true,
            });
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
        for (m, after) in position.moves() {
            if wanted(m) {
                best = best.max(Some(self.probe(&after)?.score.before()));
            }
        }
        Ok(best)
    }

    /// The stored score, en passant left out; none when the side is not stored.
    fn stored(&self, position: &Position) -> Result<Option<Score>, ProbeError> {
        let men = position.occupied().count_ones() as usize;
        if men > Material::MAX_MEN {
            return Err(ProbeError::TooManyMen {
                men,
                most: Material::MAX_MEN,
            });
        }
        if men == 2 {
            return Ok(Some(Score::DRAW));
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
        Ok(table.score(&seen)?)
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

//! What `small` learns from a column, in memory.

use super::layout::{
    DYNAMIC_CLASSES, LANES, MAX_REFERENCES, MODES, NEAR, PREVIOUS, SCALES, STATIC_CLASSES, SYMBOLS,
    symbol_class,
};
use crate::Result;
use crate::codec::rans::{EncoderTable, Table};

/// The order in which a pair of features keeps the weights of its lanes: that
/// of 16-bit numbers interleaved within the halves of a 256-bit register.
pub(super) const LANE_ORDER: [usize; LANES] =
    [0, 1, 2, 3, 8, 9, 10, 11, 4, 5, 6, 7, 12, 13, 14, 15];

/// Where [`LANE_ORDER`] has each lane: the order is its own inverse.
fn place_of(lane: usize) -> usize {
    LANE_ORDER.get(lane).copied().unwrap_or(0)
}

/// References that are used together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    /// Bit k for kind k, bit [`PREVIOUS`] for the previous record.
    pub(super) mask: u16,
    /// The bits of `mask`, ascending; the first one is the base.
    pub(super) kinds: [u8; MAX_REFERENCES],
    /// How many there are.
    pub(super) count: usize,
    /// How many values before the references' first non-zero one coding begins.
    pub(super) margin: u8,
}

impl Set {
    pub(super) fn new(mask: u16, margin: u8) -> Self {
        let mut kinds = [0; MAX_REFERENCES];
        let mut count = 0;
        for (kind, place) in (0..16u8).filter(|k| mask >> k & 1 == 1).zip(&mut kinds) {
            *place = kind;
            count += 1;
        }
        Self {
            mask,
            kinds,
            count,
            margin,
        }
    }

    /// Features of a prediction from these references.
    pub(super) fn features(&self, spread: bool) -> usize {
        let others = self.count.saturating_sub(1);
        if spread {
            6 + others + 2 * others.min(NEAR - 1)
        } else {
            2 + others
        }
    }
}

/// Weights of a set of references for records of one group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Cell {
    /// For each pair of features, for each lane in [`LANE_ORDER`], two weights.
    pub(super) weights: Vec<[i16; 2 * LANES]>,
    /// For each lane, those of the last three errors and of their sum.
    pub(super) feedback: [[i16; 4]; LANES],
    /// Those of the scale's features.
    pub(super) scales: [i16; SCALES],
}

impl Cell {
    /// The weight of `feature` in `lane`.
    pub(super) fn weight(&self, feature: usize, lane: usize) -> i16 {
        let place = place_of(lane);
        let pair = self.weights.get(feature / 2);
        pair.and_then(|w| w.get(2 * place + feature % 2))
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn set_weight(&mut self, feature: usize, lane: usize, weight: i16) {
        let place = place_of(lane);
        if self.weights.len() <= feature / 2 {
            self.weights.resize(feature / 2 + 1, [0; 2 * LANES]);
        }
        if let Some(w) = self
            .weights
            .get_mut(feature / 2)
            .and_then(|w| w.get_mut(2 * place + feature % 2))
        {
            *w = weight;
        }
    }
}

/// How residuals of similar contexts are coded.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    /// Low bits of a magnitude that are raw.
    pub(super) shift: u32,
    /// Frequencies of the symbols, tagged with their dynamic class.
    pub(super) table: Table,
}

impl Cluster {
    pub(super) fn new(shift: u32, frequencies: &[u16]) -> Result<Self> {
        let tags: [u8; SYMBOLS] = std::array::from_fn(|s| symbol_class(s as u8, shift));
        Ok(Self {
            shift,
            table: Table::new(frequencies, &tags)?,
        })
    }
}

/// A whole model.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// Whether a record is one distribution: neighbouring values help.
    pub(super) spread: bool,
    /// What the values of every record sum to, where they all do.
    pub(super) total: Option<u32>,
    /// Whether records that the numbering ties to the one before are taken for
    /// copies of it.
    pub(super) ties: bool,
    /// Kinds of references, without the previous record.
    pub(super) kinds: usize,
    /// Classes of records.
    pub(super) classes: usize,
    /// A record belongs to group g when its base's mean is below `thresholds[g]`
    /// and not below the one before.
    pub(super) thresholds: Vec<u8>,
    /// Which of [`Slot::anchors`](crate::codec::Slot::anchors) is used.
    pub(super) anchoring: usize,
    /// Values of the anchors' rows, one row after the other.
    pub(super) anchors: Vec<u32>,
    /// The sets; the first one has no reference.
    pub(super) sets: Vec<Set>,
    /// Set s, group g at `s * groups + g`.
    pub(super) cells: Vec<Cell>,
    /// The set of a class and the references that exist; see [`Model::key`].
    pub(super) set_of: Vec<u16>,
    pub(super) clusters: Vec<Cluster>,
    /// The cluster of a static and a dynamic class.
    pub(super) contexts: Vec<[u8; DYNAMIC_CLASSES]>,
    /// How a record's mode is coded, by the mode before; with ties, then that of
    /// a tied record.
    pub(super) modes: Vec<Table>,
}

impl Model {
    pub(super) fn groups(&self) -> usize {
        self.thresholds.len() + 1
    }

    /// The place in [`Model::set_of`] of a record of `class` whose existing
    /// references are `mask`.
    #[inline(always)]
    pub(super) fn key(&self, class: u8, mask: u16) -> usize {
        let low = usize::from(mask) & ((1 << self.kinds) - 1);
        let previous = usize::from(mask >> PREVIOUS);
        usize::from(class) << (self.kinds + 1) | previous << self.kinds | low
    }

    /// The group of a record whose base has the mean `mean`.
    #[inline(always)]
    pub(super) fn group(&self, mean: u8) -> usize {
        self.thresholds.iter().filter(|&&t| mean >= t).count()
    }

    /// The encoder's tables: clusters, then modes.
    pub(super) fn encoders(&self) -> Vec<EncoderTable> {
        self.clusters
            .iter()
            .map(|c| &c.table)
            .chain(&self.modes)
            .map(Table::encoder)
            .collect()
    }

    /// A context's part of the model that nothing is known of yet.
    pub(super) fn no_contexts() -> Vec<[u8; DYNAMIC_CLASSES]> {
        vec![[0; DYNAMIC_CLASSES]; STATIC_CLASSES]
    }

    /// Tables by which all modes are equally likely.
    pub(super) fn uniform_modes(ties: bool) -> Result<Vec<Table>> {
        let even = [crate::codec::rans::TOTAL as u16 / MODES as u16; MODES];
        let tables = MODES + usize::from(ties);
        (0..tables).map(|_| Table::new(&even, &[])).collect()
    }
}

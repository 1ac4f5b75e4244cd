//! A model as bytes; `spec/small.md` has the grid. Any bytes may come in.

use super::layout::{LANES, MODES, PREVIOUS, SCALES, SYMBOLS};
use super::model::{Cell, Cluster, Model, Set};
use crate::codec::rans::{SIDE_BY_SIDE, Table};
use crate::codec::{MAX_KINDS, Shape};
use crate::{Error, Result};

const SPREAD: u8 = 1;
const TOTAL: u8 = 2;
const TIES: u8 = 4;

/// The bytes of a model.
pub(super) fn write(model: &Model, shape: &Shape) -> Vec<u8> {
    let mut out = Vec::new();
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    let flags =
        flag(model.spread, SPREAD) | flag(model.total.is_some(), TOTAL) | flag(model.ties, TIES);
    out.extend([
        flags,
        model.kinds as u8,
        model.classes as u8,
        model.thresholds.len() as u8,
    ]);
    out.extend(&model.thresholds);
    if let Some(total) = model.total {
        out.extend(total.to_le_bytes());
    }
    let rows = model.anchors.len() / shape.width().max(1);
    out.push(model.anchoring as u8);
    out.extend((rows as u32).to_le_bytes());
    let mut before = vec![0; shape.width()];
    for row in model.anchors.chunks_exact(shape.width().max(1)) {
        for (value, before) in row.iter().zip(&mut before) {
            varint(&mut out, zigzag(i64::from(*value) - i64::from(*before)));
            *before = *value;
        }
    }
    out.extend((model.sets.len() as u16).to_le_bytes());
    for set in &model.sets {
        out.extend(set.mask.to_le_bytes());
        out.push(set.margin);
    }
    for (index, cell) in model.cells.iter().enumerate() {
        let features = model
            .sets
            .get(index / model.groups())
            .map_or(0, |set| set.features(model.spread));
        let used = |lane: usize| {
            (0..features).any(|f| cell.weight(f, lane) != 0)
                || cell
                    .feedback
                    .get(lane)
                    .is_some_and(|w| w.iter().any(|&w| w != 0))
        };
        let first = (0..LANES).find(|&l| used(l)).unwrap_or(0);
        let end = (0..LANES).rev().find(|&l| used(l)).map_or(first, |l| l + 1);
        out.extend([first as u8, end as u8]);
        let numbers = |out: &mut Vec<u8>, w: i16| out.extend(w.to_le_bytes());
        for feature in 0..features {
            (first..end).for_each(|lane| numbers(&mut out, cell.weight(feature, lane)));
        }
        let lanes = cell.feedback.get(first..end).unwrap_or_default();
        lanes.iter().flatten().for_each(|&w| numbers(&mut out, w));
        cell.scales.iter().for_each(|&w| numbers(&mut out, w));
    }
    let known = model
        .set_of
        .iter()
        .enumerate()
        .filter(|&(_, &set)| set != 0);
    out.extend((known.clone().count() as u32).to_le_bytes());
    for (key, &set) in known {
        out.extend((key as u32).to_le_bytes());
        out.extend(set.to_le_bytes());
    }
    out.push(model.clusters.len() as u8);
    let table = |out: &mut Vec<u8>, table: &Table| {
        table
            .frequencies()
            .iter()
            .for_each(|f| out.extend(f.to_le_bytes()));
    };
    for cluster in &model.clusters {
        out.push(cluster.shift as u8);
        table(&mut out, &cluster.table);
    }
    model.contexts.iter().for_each(|row| out.extend(row));
    model.modes.iter().for_each(|modes| table(&mut out, modes));
    out
}

/// A model from bytes.
pub(super) fn read(bytes: &[u8], shape: &Shape) -> Result<Model> {
    let mut from = Cursor { bytes, at: 0 };
    let [flags, kinds, classes, thresholds] = from.array()?;
    let (kinds, classes) = (usize::from(kinds), usize::from(classes));
    if flags > SPREAD | TOTAL | TIES
        || kinds > MAX_KINDS
        || !(1..=16).contains(&classes)
        || thresholds > 7
    {
        return Err(from.wrong("flags, kinds, classes or groups out of range"));
    }
    let spread = flags & SPREAD != 0;
    let thresholds = from.take(usize::from(thresholds))?.to_vec();
    let total = match flags & TOTAL {
        0 => None,
        _ => Some(u32::from_le_bytes(from.array()?)),
    };
    if total == Some(0) {
        return Err(from.wrong("a total of 0"));
    }
    let [anchoring] = from.array()?;
    if anchoring > 1 {
        return Err(from.wrong("another anchoring than 0 or 1"));
    }
    let anchors = read_anchors(&mut from, shape)?;
    let count = usize::from(u16::from_le_bytes(from.array()?));
    if count == 0 {
        return Err(from.wrong("no set of references"));
    }
    let mut sets = Vec::with_capacity(count);
    for index in 0..count {
        let [low, high, margin] = from.array()?;
        let mask = u16::from_le_bytes([low, high]);
        let known = ((1u32 << kinds) - 1) | (1 << PREVIOUS);
        if u32::from(mask) & !known != 0 || (index == 0) != (mask == 0) {
            return Err(from.wrong("references that do not exist"));
        }
        sets.push(Set::new(mask, margin));
    }
    let groups = thresholds.len() + 1;
    let mut cells = Vec::with_capacity(count * groups);
    for set in &sets {
        for _ in 0..groups {
            cells.push(read_cell(&mut from, set.features(spread))?);
        }
    }
    let mut model = Model {
        spread,
        total,
        ties: flags & TIES != 0,
        kinds,
        classes,
        thresholds,
        anchoring: usize::from(anchoring),
        anchors,
        sets,
        cells,
        set_of: vec![0; classes << (kinds + 1)],
        clusters: Vec::new(),
        contexts: Model::no_contexts(),
        modes: Vec::new(),
    };
    read_keys(&mut from, &mut model)?;
    read_clusters(&mut from, &mut model)?;
    if from.at != bytes.len() {
        return Err(from.wrong("more bytes than the model has"));
    }
    Ok(model)
}

fn read_anchors(from: &mut Cursor<'_>, shape: &Shape) -> Result<Vec<u32>> {
    let rows = u32::from_le_bytes(from.array()?) as usize;
    let width = shape.width();
    // A value takes a byte at least.
    if rows > 65536 || rows * width > from.bytes.len() {
        return Err(from.wrong("more anchors than there are bytes"));
    }
    let mut anchors: Vec<u32> = Vec::with_capacity(rows * width);
    for at in 0..rows * width {
        let before = at
            .checked_sub(width)
            .and_then(|b| anchors.get(b))
            .copied()
            .unwrap_or(0);
        let value = i64::from(before).checked_add(unzigzag(from.varint()?));
        let largest = shape
            .bits
            .get(at % width.max(1))
            .map_or(0, |&bits| Shape::largest(bits));
        let value = value
            .and_then(|v| u32::try_from(v).ok())
            .filter(|&v| v <= largest);
        anchors.push(value.ok_or_else(|| from.wrong("an anchor's value out of range"))?);
    }
    Ok(anchors)
}

fn read_cell(from: &mut Cursor<'_>, features: usize) -> Result<Cell> {
    let [first, end] = from.array()?;
    let lanes = usize::from(first)..usize::from(end);
    if lanes.end > LANES || lanes.start > lanes.end {
        return Err(from.wrong("lanes out of range"));
    }
    let mut cell = Cell {
        weights: vec![[0; 2 * LANES]; features.div_ceil(2)],
        ..Cell::default()
    };
    let stored = from.take(features * lanes.len() * 2)?;
    for (feature, row) in stored.chunks_exact((lanes.len() * 2).max(1)).enumerate() {
        for (lane, weight) in lanes.clone().zip(row.as_chunks::<2>().0) {
            cell.set_weight(feature, lane, i16::from_le_bytes(*weight));
        }
    }
    for lane in cell.feedback.get_mut(lanes).unwrap_or_default() {
        for weight in lane {
            *weight = i16::from_le_bytes(from.array()?);
        }
    }
    let mut scales = [0; SCALES];
    for weight in &mut scales {
        *weight = i16::from_le_bytes(from.array()?);
    }
    cell.scales = scales;
    Ok(cell)
}

fn read_keys(from: &mut Cursor<'_>, model: &mut Model) -> Result<()> {
    let keys = u32::from_le_bytes(from.array()?);
    for _ in 0..keys {
        let key = u32::from_le_bytes(from.array()?) as usize;
        let set = u16::from_le_bytes(from.array()?);
        let mask = model.sets.get(usize::from(set)).map(|set| set.mask);
        let (Some(mask), Some(place)) = (mask, model.set_of.get_mut(key)) else {
            return Err(from.wrong("a key or its set out of range"));
        };
        // A record must have all the references of its set.
        let low = (key & ((1 << model.kinds) - 1)) as u16;
        let exists = low | ((key >> model.kinds & 1) as u16) << PREVIOUS;
        if mask & !exists != 0 {
            return Err(from.wrong("a set with references that its records do not have"));
        }
        *place = set;
    }
    Ok(())
}

fn read_clusters(from: &mut Cursor<'_>, model: &mut Model) -> Result<()> {
    let [clusters] = from.array()?;
    if !(1..=SIDE_BY_SIDE).contains(&usize::from(clusters)) {
        return Err(from.wrong("no cluster of contexts, or more than 64"));
    }
    for _ in 0..clusters {
        let [shift] = from.array()?;
        if shift > 24 {
            return Err(from.wrong("a shift out of range"));
        }
        let frequencies = frequencies::<SYMBOLS>(from)?;
        model
            .clusters
            .push(Cluster::new(u32::from(shift), &frequencies)?);
    }
    for row in &mut model.contexts {
        *row = from.array()?;
        if row.iter().any(|&cluster| cluster >= clusters) {
            return Err(from.wrong("a context without a cluster"));
        }
    }
    for _ in 0..MODES + usize::from(model.ties) {
        model
            .modes
            .push(Table::new(&frequencies::<MODES>(from)?, &[])?);
    }
    Ok(())
}

fn frequencies<const N: usize>(from: &mut Cursor<'_>) -> Result<[u16; N]> {
    let mut found = [0; N];
    for frequency in &mut found {
        *frequency = u16::from_le_bytes(from.array()?);
    }
    Ok(found)
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn wrong(&self, what: &str) -> Error {
        Error::corrupt(
            "small-1",
            format!(
                "the model of codec 'small' has {what} before its byte {}",
                self.at
            ),
        )
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        match self
            .at
            .checked_add(count)
            .and_then(|end| self.bytes.get(self.at..end))
        {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => Err(self.wrong("fewer bytes than it needs")),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        taken
            .try_into()
            .map_err(|_| self.wrong("fewer bytes than it needs"))
    }

    /// An unsigned number of up to 64 bits, seven to a byte, low ones first.
    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(self.wrong("a number of more than 63 bits"))
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

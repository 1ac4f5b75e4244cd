//! Making tables of endings in a folder, with all that they convert into.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Material;
use super::generate::{self, Working};
use super::store::Ending;
use super::table::Table;
use crate::numbering::kings::Sides;
use crate::table::{OpenOptions, Summary, WriteOptions, write};
use crate::{Error, Result};

/// Numbers in a block where one side is kept: eight rows, of one rank of the
/// man before the last.
const ONE_SIDE_BLOCK: u32 = 512;

/// The sides to move that tables hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Both; only White where the two sides have the same men.
    #[default]
    Both,
    /// The side whose table is smaller; the other is searched by the probe.
    Smaller,
}

/// How tables are made.
#[derive(Debug, Clone)]
pub struct MakeOptions {
    /// The codec's name.
    pub codec: String,
    /// Positions in a block; what suits the codec when none.
    pub block_positions: Option<u32>,
    /// The sides to move that are kept.
    pub keep: Keep,
    /// Keep tables that exist.
    pub resume: bool,
    /// Replace tables that exist.
    pub force: bool,
    /// The most bytes of memory for positions; a larger need is an error
    /// beforehand.
    pub memory: Option<u64>,
}

impl Default for MakeOptions {
    fn default() -> Self {
        Self {
            codec: crate::codec::CONTEXT.to_owned(),
            block_positions: None,
            keep: Keep::default(),
            resume: false,
            force: false,
            memory: None,
        }
    }
}

/// What [`make`] is doing.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Step<'a> {
    /// An ending is begun: which one, and how many follow.
    Begin(&'a Material, usize),
    /// All positions decided in so many plies are known.
    Wave(u16),
    /// A table was written.
    Written(&'a Material, &'a Summary),
    /// A table was found and used.
    Reused(&'a Material),
}

/// Bytes of memory that an ending takes when finished, and while it is made.
pub fn memory_bytes(material: &Material) -> (u64, u64) {
    let men = material.numbered_men();
    let segments = if material.has_pawns() { 1806 } else { 462 };
    let fixed = men.iter().rev().skip(1).map(|m| m.squares());
    let words: u64 = segments * fixed.product::<u64>();
    // 64 scores of 2 bytes, both sides; six sets of 8 bytes and 4 more, both sides.
    (words * 256, words * (256 + 104))
}

/// Makes the tables of `endings` in `folder`; those they convert into are made
/// as well, or read where they are there. `tell` hears of each step and may stop
/// the work; no unfinished table is left. Runs in the current rayon pool, and
/// the tables do not depend on its size.
///
/// # Errors
/// [`Error::Invalid`] when a table that was asked for exists and neither
/// `resume` nor `force` is set; [`Error::Limit`] when `memory` does not suffice;
/// [`Error::Io`]; what `tell` answers.
pub fn make(
    endings: &[Material],
    folder: &Path,
    options: &MakeOptions,
    tell: &dyn Fn(Step<'_>) -> Result<()>,
) -> Result<()> {
    let wanted: BTreeSet<Material> = endings.iter().map(|m| m.canonical().0).collect();
    if let Some(bare) = wanted.iter().find(|m| m.men() < 3) {
        return Err(Error::invalid(format!(
            "{bare} is always a draw and has no table"
        )));
    }
    let path = |m: &Material| folder.join(format!("{m}.etb"));
    for ending in &wanted {
        if path(ending).exists() && !options.resume && !options.force {
            return Err(Error::invalid(format!(
                "{} exists: --resume keeps it, --force makes it again",
                path(ending).display()
            )));
        }
    }
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::io("create the folder", e).in_file(folder))?;
    let mut plan = Plan {
        folder,
        wanted: &wanted,
        options,
        steps: Vec::new(),
    };
    for ending in &wanted {
        if options.force || !path(ending).exists() {
            plan.visit(ending)?;
        }
    }
    let steps = plan.steps;
    check_memory(&steps, options.memory)?;
    let mut held: BTreeMap<Material, Arc<Working>> = BTreeMap::new();
    for (i, (ending, reuse)) in steps.iter().enumerate() {
        tell(Step::Begin(ending, steps.len() - i - 1))?;
        let working = if *reuse {
            tell(Step::Reused(ending))?;
            load(&path(ending))?
        } else {
            let wave = |plies| tell(Step::Wave(plies));
            let made = generate::generate(ending, &|m| held.get(m).cloned(), &wave)?;
            if options.force && wanted.contains(ending) || !path(ending).exists() {
                let summary = store(&made, &path(ending), options, tell)?;
                tell(Step::Written(ending, &summary))?;
            }
            made
        };
        held.insert(ending.clone(), Arc::new(working));
        let later = needed_after(&steps, i)?;
        held.retain(|m, _| later.contains(m));
    }
    Ok(())
}

/// What is needed for the steps after `i`.
fn needed_after(steps: &[(Material, bool)], i: usize) -> Result<BTreeSet<Material>> {
    let mut needed = BTreeSet::new();
    for (ending, reuse) in steps.iter().skip(i + 1) {
        if !reuse {
            needed.extend(generate::conversions(ending)?);
        }
    }
    Ok(needed)
}

fn check_memory(steps: &[(Material, bool)], most: Option<u64>) -> Result<()> {
    let mut held: BTreeSet<Material> = BTreeSet::new();
    let mut peak = 0;
    for (i, (ending, _)) in steps.iter().enumerate() {
        let others: u64 = held.iter().map(|m| memory_bytes(m).0).sum();
        peak = peak.max(others + memory_bytes(ending).1);
        held.insert(ending.clone());
        let later = needed_after(steps, i)?;
        held.retain(|m| later.contains(m));
    }
    match most {
        Some(allowed) if peak > allowed => Err(Error::Limit {
            path: None,
            what: "memory for positions in bytes",
            needed: peak,
            allowed,
        }),
        _ => Ok(()),
    }
}

/// The order of work: each ending after what it converts into.
struct Plan<'a> {
    folder: &'a Path,
    wanted: &'a BTreeSet<Material>,
    options: &'a MakeOptions,
    /// Endings, and whether each is read from its table.
    steps: Vec<(Material, bool)>,
}

impl Plan<'_> {
    fn visit(&mut self, ending: &Material) -> Result<()> {
        if self.steps.iter().any(|(m, _)| m == ending) {
            return Ok(());
        }
        let path = self.folder.join(format!("{ending}.etb"));
        let again = self.options.force && self.wanted.contains(ending);
        let reuse = !again && path.exists() && is_complete(&path)?;
        if !reuse {
            for next in generate::conversions(ending)? {
                self.visit(&next)?;
            }
        }
        self.steps.push((ending.clone(), reuse));
        Ok(())
    }
}

/// Whether a table tells both sides' values without a search.
fn is_complete(path: &Path) -> Result<bool> {
    let table = Table::new(OpenOptions::new().open(path)?)?;
    Ok(table.sides().len() == 2 || table.material()?.is_symmetric())
}

/// Reads a finished ending back.
fn load(path: &PathBuf) -> Result<Working> {
    let table = Table::new(OpenOptions::new().open(path)?)?;
    Working::from_table(&table).map_err(|e| e.in_file(path))
}

fn store(
    made: &Working,
    path: &Path,
    options: &MakeOptions,
    tell: &dyn Fn(Step<'_>) -> Result<()>,
) -> Result<Summary> {
    let usual = match (options.keep, options.codec.as_str()) {
        // With one value a record more records take as long to decode.
        (Keep::Smaller, crate::codec::CONTEXT) => ONE_SIDE_BLOCK,
        (_, codec) => crate::codec::default_block_positions(codec, 1),
    };
    let block = options.block_positions.unwrap_or(usual);
    // The caller may stop the work between blocks, too.
    let progress = |_| tell(Step::Wave(0));
    let write_options = WriteOptions {
        force: true,
        progress: Some(&progress),
    };
    let write_sides = |sides, path: &Path| {
        let ending = Ending::new(made, sides)?;
        write(
            &ending,
            ending.schema(&options.codec, block),
            path,
            &write_options,
        )
    };
    if made.material().is_symmetric() {
        return write_sides(Sides::White, path);
    }
    if options.keep == Keep::Both {
        return write_sides(Sides::Both, path);
    }
    let scratch = tempfile::tempdir_in(path.parent().unwrap_or(Path::new(".")))
        .map_err(|e| Error::io("create a temporary folder", e).in_file(path))?;
    let other = scratch.path().join("black.etb");
    let white = write_sides(Sides::White, path)?;
    let black = write_sides(Sides::Black, &other)?;
    if black.file_bytes >= white.file_bytes {
        return Ok(white);
    }
    std::fs::rename(&other, path)
        .map_err(|e| Error::io("move the smaller table", e).in_file(path))?;
    Ok(black)
}

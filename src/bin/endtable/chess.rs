//! Chess endings in the program: making tables, answers to positions,
//! statistics, deep verification.

use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use endtable::chess::make::{Keep, MakeOptions, Step, make};
use endtable::chess::{
    Answer, Material, Position, Probe, ProbeError, ProbeOptions, Score, SideStats, Stats, Table,
};
use endtable::codec;
use endtable::table::{OpenOptions, library};
use endtable::{Error, Result};
use serde_json::{Value, json};

use crate::common::{
    Failure, Outcome, Ran, WorkArguments, bytes_of, catch_interrupts, grouped, interrupted, map,
    print_json, started,
};

/// Chess endings: distance to mate in plies, with all endings they convert into
///
/// Tables are named after their ending, `KRPvKR.etb`; those of endings that captures and
/// promotions lead to are made as well, or read where they are there. The 50-move rule and
/// castling are not considered, en passant and underpromotion are.
#[derive(Args)]
pub(crate) struct Make {
    /// Endings, such as KQK or KRPvKR
    #[arg(required_unless_present = "men", value_name = "ENDING", value_parser = Material::parse)]
    endings: Vec<Material>,
    /// All endings with this many men, kings included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..=6))]
    men: Option<u8>,
    /// Folder for the tables
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Keep one side to move only, the one whose table is smaller; look-ups of the other search
    /// one ply
    #[arg(long)]
    one_side: bool,
    /// How blocks are compressed
    #[arg(long, default_value = codec::CONTEXT, value_name = "NAME", value_parser = PossibleValuesParser::new(codec::NAMES.iter().copied().chain([codec::CONTEXT])))]
    codec: String,
    /// Numbers in a block; `context` takes whole rows of 64, or of 48 where the last man is a
    /// pawn [default: what suits the codec]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    block: Option<u32>,
    /// Keep tables that are there already, and go on from them
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Make tables again that are there already
    #[arg(long)]
    force: bool,
    /// The most memory for positions, such as 8G; a larger need is an error beforehand
    #[arg(long, value_name = "BYTES", value_parser = bytes_of)]
    memory: Option<u64>,
    #[command(flatten)]
    work: WorkArguments,
}

pub(crate) fn run_make(arguments: &Make) -> Ran {
    arguments.work.start()?;
    catch_interrupts();
    let mut endings = arguments.endings.clone();
    endings.extend(
        arguments
            .men
            .into_iter()
            .flat_map(|n| Material::all(usize::from(n))),
    );
    let options = MakeOptions {
        keep: if arguments.one_side {
            Keep::Smaller
        } else {
            Keep::Both
        },
        codec: arguments.codec.clone(),
        block_positions: arguments.block,
        resume: arguments.resume,
        force: arguments.force,
        memory: arguments.memory,
    };
    let bar = arguments.work.progress(0, "endings");
    let (tables, bytes) = (Cell::new(0), Cell::new(0));
    make(&endings, &arguments.output, &options, &|step| {
        match step {
            Step::Begin(ending, after) => {
                bar.set_length(bar.position() + 1 + after as u64);
                bar.set_message(ending.to_string());
            }
            Step::Written(_, summary) => {
                tables.set(tables.get() + 1);
                bytes.set(bytes.get() + summary.file_bytes);
                bar.inc(1);
            }
            Step::Reused(_) => bar.inc(1),
            _ => {}
        }
        interrupted()
    })?;
    bar.finish_and_clear();
    if !arguments.work.quiet {
        eprintln!(
            "{} tables, {} bytes, in {:.2} s",
            tables.get(),
            grouped(bytes.get()),
            started().elapsed().as_secs_f64()
        );
    }
    Ok(Outcome::Done)
}

/// Whether a text looks like a position in chess notation.
pub(crate) fn is_fen(text: &str) -> bool {
    let board = text.split_ascii_whitespace().next().unwrap_or_default();
    board.matches('/').count() == 7
}

/// Answers positions from the tables of a folder.
pub(crate) fn answer(
    folder: &Path,
    positions: impl Iterator<Item = Result<String>>,
    as_json: bool,
) -> Ran {
    let tables = Tables::open(folder)?;
    let mut outcome = Outcome::Done;
    for text in positions {
        let text = text?;
        match tables.answer(&text, as_json, false)? {
            Ok(()) => {}
            Err(error) if as_json => {
                print_json(&json!({ "position": text, "error": error.to_string() }))?;
                outcome = Outcome::Differs;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(outcome)
}

/// The chess tables of a folder.
pub(crate) struct Tables(Probe);

impl Tables {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        if !folder.is_dir() {
            return Err(Error::invalid(format!(
                "{}: no folder; name one with tables",
                folder.display()
            )));
        }
        // SAFETY: a table is never changed in place: the writer moves whole files
        // into place, and the program's help tells users to do the same.
        #[allow(unsafe_code)]
        let probe = unsafe { ProbeOptions::new().map(folder) };
        Ok(Tables(probe))
    }

    /// Prints the answer to a position, with every move when `all`; the inner
    /// error is why it has none.
    pub(crate) fn answer(
        &self,
        text: &str,
        as_json: bool,
        all: bool,
    ) -> Result<Result<()>, Failure> {
        match Found::of(&self.0, text) {
            Ok(found) if as_json => print_json(&found.json(text, all))?,
            Ok(found) => found.print(text, all)?,
            Err(error) => return Ok(Err(error.into())),
        }
        Ok(Ok(()))
    }
}

/// The folder whose chess tables are to be used: the first one named that has
/// some, else the first one named, the one of the first table named, else the
/// first with a chess table that is found.
pub(crate) fn folder(folders: &[PathBuf], files: &[PathBuf]) -> Result<PathBuf> {
    let with_tables = |folder: &&PathBuf| {
        let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.any(|file| is_named(&file.path()))
    };
    if let Some(folder) = folders.iter().find(with_tables).or(folders.first()) {
        return Ok(folder.clone());
    }
    if let Some(file) = files.first() {
        return Ok(folder_of(file).to_owned());
    }
    let found = library::find(&library::search_path(), library::is_table);
    match found.iter().find(|path| is_named(path)) {
        Some(path) => Ok(folder_of(path).to_owned()),
        None => Err(Error::invalid(format!(
            "no chess tables: name their folder with --tables, list it in {}, or make some with `endtable make chess --men 3 -o DIR`",
            library::PATH_VARIABLE
        ))),
    }
}

/// Whether a file has the name of a chess table.
fn is_named(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|s| s.to_str());
    path.extension().is_some_and(|e| e == "etb")
        && stem.is_some_and(|s| s.contains("vK") && Material::parse(s).is_ok())
}

/// The folder of a table.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// What is found out about one position.
struct Found {
    answer: Answer,
    /// Each move with its score, the best first; none when a table that some
    /// move leads to is missing.
    moves: Option<Vec<(String, Score)>>,
}

impl Found {
    fn of(probe: &Probe, text: &str) -> Result<Self, ProbeError> {
        let position = Position::from_fen(text)?;
        let answer = probe.probe(&position)?;
        let moves = match probe.moves(&position) {
            Ok(moves) => Some(
                moves
                    .iter()
                    .map(|(m, score)| (m.to_string(), *score))
                    .collect(),
            ),
            Err(ProbeError::MissingTable { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Found { answer, moves })
    }

    fn best(&self) -> Option<Vec<&str>> {
        let moves = self.moves.as_ref()?;
        let best = moves.first().map(|m| m.1);
        Some(
            moves
                .iter()
                .filter(|m| Some(m.1) == best)
                .map(|m| m.0.as_str())
                .collect(),
        )
    }

    fn json(&self, text: &str, all: bool) -> Value {
        let mut out = json!({
            "position": text,
            "result": result(self.answer.score),
            "dtm_plies": signed(self.answer.score),
            "best_moves": self.best(),
            "searched_one_ply": self.answer.searched,
            "half_move_clock": "ignored",
        });
        if all {
            let line = |(name, score): &(String, Score)| {
                json!({
                    "move": name,
                    "result": result(*score),
                    "dtm_plies": signed(*score),
                    "dtm_moves": score.plies().map(|n| n.div_ceil(2)),
                })
            };
            out["moves"] = json!(
                self.moves
                    .as_ref()
                    .map(|m| m.iter().map(line).collect::<Vec<_>>())
            );
        }
        out
    }

    fn print(&self, text: &str, all: bool) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}")?;
        writeln!(out, "  {}", in_words(self.answer.score))?;
        if self.answer.searched {
            writeln!(
                out,
                "  (this side to move is not stored: its moves were searched)"
            )?;
        }
        writeln!(out, "  (the 50-move rule is ignored)")?;
        match (&self.moves, all) {
            (None, _) => writeln!(out, "  moves unknown: tables that they lead to are missing")?,
            (Some(moves), true) => {
                for (name, score) in moves {
                    writeln!(out, "  {name:6} {}", in_words(*score))?;
                }
            }
            (Some(_), false) => {
                writeln!(out, "  best: {}", self.best().unwrap_or_default().join(" "))?;
            }
        }
        Ok(())
    }
}

fn result(score: Score) -> &'static str {
    match (score.is_win(), score.is_loss()) {
        (true, _) => "win",
        (_, true) => "loss",
        _ => "draw",
    }
}

/// Plies to mate, negative when losing; none for a draw.
fn signed(score: Score) -> Option<i32> {
    let plies = i32::from(score.plies()?);
    Some(if score.is_loss() { -plies } else { plies })
}

fn in_words(score: Score) -> String {
    match score.plies() {
        None => "draw".to_owned(),
        Some(0) => "checkmated".to_owned(),
        Some(n) => {
            let who = if score.is_win() { "mates" } else { "is mated" };
            format!(
                "{}: {who} in {} moves ({n} plies)",
                result(score),
                n.div_ceil(2)
            )
        }
    }
}

/// Whether a table is one of a chess ending.
pub(crate) fn is_chess(schema: &endtable::format::Schema) -> bool {
    schema.numbering.name == "kings"
}

/// Statistics of a chess table.
pub(crate) fn stats(file: &Path, as_json: bool) -> Ran {
    let table = Table::new(map(file, OpenOptions::new())?).map_err(|e| e.in_file(file))?;
    let stats = table.stats()?;
    let names = ["white_to_move", "black_to_move"];
    if as_json {
        let mut out = json!({
            "ending": table.material()?.to_string(),
            "file_bytes": stats.file_bytes,
            "numbers": stats.numbers,
            "entries": stats.entries,
            "bits_per_entry": stats.bits_per_entry(),
            "mutual_zugzwangs": stats.zugzwangs.map(|z| json!({
                "draw_instead_of_win": z[0], "loss_instead_of_draw": z[1], "loss_instead_of_win": z[2],
            })),
        });
        for (name, side) in names.iter().zip(&stats.sides) {
            out[name] = json!(side.as_ref().map(side_json));
        }
        print_json(&out)?;
        return Ok(Outcome::Done);
    }
    print_stats(&table, &stats, names)?;
    Ok(Outcome::Done)
}

fn side_json(side: &SideStats) -> Value {
    let longest = |x: Option<(u16, Position)>| {
        x.map(|(plies, p)| json!({ "plies": plies, "position": p.to_string() }))
    };
    json!({
        "wins": side.counts[0], "draws": side.counts[1], "losses": side.counts[2],
        "longest_win": longest(side.longest_win), "longest_loss": longest(side.longest_loss),
    })
}

fn print_stats(table: &Table, stats: &Stats, names: [&str; 2]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{}: {} bytes, {} values of positions, {:.3} bits each",
        table.material()?,
        grouped(stats.file_bytes),
        grouped(stats.entries),
        stats.bits_per_entry()
    )?;
    for (name, side) in names.iter().zip(&stats.sides) {
        let Some(side) = side else {
            writeln!(out, "{name}: not stored")?;
            continue;
        };
        let [wins, draws, losses] = side.counts.map(grouped);
        writeln!(out, "{name}: {wins} won, {draws} drawn, {losses} lost")?;
        for (kind, longest) in [("win", side.longest_win), ("loss", side.longest_loss)] {
            if let Some((plies, position)) = longest {
                writeln!(
                    out,
                    "  longest {kind}: {} moves ({plies} plies), {position}",
                    plies.div_ceil(2)
                )?;
            }
        }
    }
    if let Some([half_win, half_draw, full]) = stats.zugzwangs {
        writeln!(
            out,
            "mutual zugzwangs: {half_win} draws instead of wins, {half_draw} losses instead of draws, {full} losses instead of wins"
        )?;
    }
    Ok(())
}

/// Checks that values follow from their moves: all with three men, else on a
/// sample of `sample` numbers.
pub(crate) fn check_deeply(file: &Path, sample: u64, work: &WorkArguments) -> Ran {
    let table = Table::new(map(file, OpenOptions::new())?).map_err(|e| e.in_file(file))?;
    let material = table.material()?;
    // SAFETY: as in `answer`.
    #[allow(unsafe_code)]
    let probe = unsafe { ProbeOptions::new().map(folder_of(file)) };
    let sample = if material.men() <= 3 {
        u64::MAX
    } else {
        sample
    };
    let bar = work.progress(sample.min(table.reader().len()), "positions");
    let checked = endtable::chess::check(&probe, &material, sample, &|done| {
        bar.inc(done);
        interrupted()
    })
    .map_err(|e| e.in_file(file))?;
    bar.finish_and_clear();
    if !work.quiet {
        println!(
            "{}: {} values of {} numbers follow from their moves",
            file.display(),
            grouped(checked.values),
            grouped(checked.numbers)
        );
    }
    Ok(Outcome::Done)
}

//! What the verbs share: opening, options, progress, output, exit codes.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};
use std::time::Duration;

use clap::Args;
use endtable::bearoff::Database;
use endtable::bearoff::schema::Packing;
use endtable::table::{OpenOptions, Reader};
use endtable::{Error, Properties, Result};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How a verb ended when nothing went wrong.
pub(crate) enum Outcome {
    /// All is well.
    Done,
    /// The data is bad or differs, as has been said.
    Differs,
    /// Ctrl-C ended the work; what was known by then has been printed.
    Interrupted,
}

/// How a verb failed.
pub(crate) enum Failure {
    /// With an error to report.
    Error(Error),
    /// The reader of our standard output went away.
    ClosedPipe,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Error(Error::io("write to standard output", error)),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Failure::from(io::Error::from(error))
    }
}

/// What a verb returns.
pub(crate) type Ran = Result<Outcome, Failure>;

/// Exit code after Ctrl-C, as shells have it: 128 and the signal's number.
pub(crate) const INTERRUPTED: u8 = 130;

/// 1 when the data or the machine is at fault, 2 when the call is.
pub(crate) fn exit_code(error: &Error) -> u8 {
    match error {
        Error::Invalid { .. } => 2,
        Error::Interrupted => INTERRUPTED,
        _ => 1,
    }
}

/// How blocks are made.
#[derive(Args)]
pub(crate) struct PackingArguments {
    /// How blocks are encoded
    #[arg(long, default_value = "packed", value_name = "CODEC", value_parser = endtable::codec::NAMES)]
    codec: String,
    /// Positions in a block [default: what suits the codec]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=32_768))]
    block: Option<u32>,
    /// Compression level of zstd [default: 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=22))]
    level: Option<u64>,
}

impl PackingArguments {
    pub(crate) fn packing(&self) -> Packing {
        let mut options = Properties::new();
        if let Some(level) = self.level {
            options = options.with("level", level);
        }
        Packing {
            codec: Some(self.codec.clone()),
            block_positions: self.block,
            options,
        }
    }
}

/// Options of long work.
#[derive(Args)]
pub(crate) struct WorkArguments {
    /// Threads to use [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl WorkArguments {
    /// Applies `--threads`, for the whole program.
    pub(crate) fn start(&self) -> Result<()> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(usize::from(threads))
                .build_global()
                .map_err(|e| Error::invalid(format!("cannot start {threads} threads: {e}")))?;
        }
        Ok(())
    }

    /// A bar over `total` items on a terminal, hidden elsewhere.
    pub(crate) fn progress(&self, total: u64, unit: &str) -> ProgressBar {
        let bar = match self.quiet {
            true => ProgressBar::hidden(),
            false => {
                ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10))
            }
        };
        bar.set_style(
            ProgressStyle::with_template(&format!(
                "{{bar:40}} {{human_pos}}/{{human_len}} {unit} {{per_sec}}, {{eta}} left"
            ))
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }
}

/// Set by Ctrl-C and by a request to terminate.
static STOP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks the work to stop, so that nothing half is left; a
/// second one ends the program at once.
pub(crate) fn catch_interrupts() {
    static CAUGHT: Once = Once::new();
    CAUGHT.call_once(|| {
        // Without a handler the default holds, which is to end at once.
        let _ = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(INTERRUPTED));
            }
        });
    });
}

/// Set once the work was asked to stop.
pub(crate) fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Whether the work was asked to stop.
pub(crate) fn interrupted() -> Result<()> {
    match STOP.load(Ordering::Relaxed) {
        true => Err(Error::Interrupted),
        false => Ok(()),
    }
}

/// Opens a table through a memory map.
pub(crate) fn map(path: &Path, options: OpenOptions) -> Result<Reader> {
    // SAFETY: a table is never changed in place: the writer moves whole files
    // into place, and the program's help tells users to do the same.
    #[allow(unsafe_code)]
    unsafe {
        options.map(path)
    }
}

/// Opens a file of either make.
pub(crate) fn open(path: &Path) -> Result<Database> {
    Database::open_with(path, |path| map(path, OpenOptions::new()))
}

/// Positions from the command line; `-` stands for the lines of standard input.
pub(crate) fn positions(arguments: &[String]) -> impl Iterator<Item = Result<String>> + '_ {
    arguments
        .iter()
        .flat_map(|argument| -> Box<dyn Iterator<Item = Result<String>>> {
            match argument.as_str() {
                "-" => Box::new(
                    io::stdin()
                        .lines()
                        .map(|line| line.map_err(|e| Error::io("read standard input", e))),
                ),
                _ => Box::new(std::iter::once(Ok(argument.clone()))),
            }
        })
}

/// Prints an object on a line of its own.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// A number with its thousands apart.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// When the program started, for the time that work took.
pub(crate) fn started() -> std::time::Instant {
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    *START.get_or_init(std::time::Instant::now)
}

/// Reads a size such as `512M` or `2G` (powers of 1024).
pub(crate) fn bytes_of(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        unit => return Err(format!("unit '{unit}' is none of K, M, G, T")),
    };
    let number: f64 = digits
        .parse()
        .map_err(|_| format!("'{digits}' is no number"))?;
    let bytes = number * (1u64 << shift) as f64;
    match bytes.is_finite() && (0.0..1e19).contains(&bytes) {
        true => Ok(bytes as u64),
        false => Err(format!("'{text}' is out of range")),
    }
}

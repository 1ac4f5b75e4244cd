//! What making any table has in common: means, progress, the finished file.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use clap::Args;
use endtable::bearoff::generate::{Keep, Needs};
use endtable::bearoff::schema::Packing;
use endtable::format::Schema;
use endtable::table::{Records, WriteOptions, write};
use endtable::{Error, Result};

use crate::common::{
    PackingArguments, WorkArguments, bytes_of, catch_interrupts, grouped, interrupted, started,
};
use crate::machine::{available_memory, free_disk};

/// More finished layers than this are kept in a working file even if they
/// would fit into memory, so that a long run can be continued.
const MOST_IN_MEMORY: u64 = 1 << 30;

/// Memory that writing the table takes beside the generator's, about.
const WRITER_BYTES: u64 = 128 << 20;

/// Where a made table goes, and what may be used to make it.
#[derive(Args)]
pub(crate) struct Making {
    /// File to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    #[command(flatten)]
    packing: PackingArguments,
    #[command(flatten)]
    work: WorkArguments,
    /// Memory to use, such as 2G [default: half of what is free]
    #[arg(long, value_name = "BYTES", value_parser = bytes_of)]
    memory: Option<u64>,
    /// Keep finished layers in OUT.work, and go on from those of an earlier run
    #[arg(long)]
    resume: bool,
    /// Replace OUT if it exists
    #[arg(long)]
    force: bool,
    #[arg(skip)]
    computed: Cell<f64>,
}

impl Making {
    pub(crate) fn packing(&self) -> Packing {
        self.packing.packing()
    }

    /// Compares what is needed with what is there, and says where finished
    /// layers are to be kept.
    pub(crate) fn prepare(&self, needs: Needs) -> Result<Keep> {
        self.work.start()?;
        if self.output.exists() && !self.force {
            return Err(Error::invalid(format!(
                "{} exists: choose another name, or --force",
                self.output.display()
            )));
        }
        let memory = self
            .memory
            .or_else(|| Some(available_memory()? / 2))
            .unwrap_or(2 << 30);
        let needed = needs.memory_bytes + WRITER_BYTES;
        if needed > memory {
            return Err(Error::invalid(format!(
                "this table takes about {} bytes of memory to make, and {} may be used{}",
                grouped(needed),
                grouped(memory),
                match self.memory {
                    Some(_) => ": allow more with --memory",
                    None => " (half of what is free): allow more with --memory",
                }
            )));
        }
        let working = self.working_file();
        let in_memory = needs.layer_bytes <= MOST_IN_MEMORY.min(memory - needed);
        if in_memory && !self.resume && !working.exists() {
            self.say(needed + needs.layer_bytes, 0);
            return Ok(Keep::Memory);
        }
        self.check_disk(needs.layer_bytes, &working)?;
        self.say(needed, needs.layer_bytes);
        catch_interrupts();
        Ok(match self.resume {
            true => Keep::Resume(working),
            false => Keep::File(working),
        })
    }

    fn working_file(&self) -> PathBuf {
        let mut name = self.output.as_os_str().to_owned();
        name.push(".work");
        name.into()
    }

    /// The table takes about as much as the working file, or less.
    fn check_disk(&self, layer_bytes: u64, working: &Path) -> Result<()> {
        let folder = match self.output.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let there = std::fs::metadata(working).map_or(0, |file| file.len());
        let needed = (2 * layer_bytes).saturating_sub(there);
        match free_disk(folder) {
            Some(free) if free < needed => Err(Error::invalid(format!(
                "this table takes about {} bytes of disk to make, and {} are free in {}",
                grouped(needed),
                grouped(free),
                folder.display()
            ))),
            _ => Ok(()),
        }
    }

    fn say(&self, memory: u64, disk: u64) {
        if !self.work.quiet {
            let mebibytes = |bytes: u64| grouped(bytes.div_ceil(1 << 20));
            eprint!("takes about {} MiB of memory", mebibytes(memory));
            match disk {
                0 => eprintln!(),
                _ => eprintln!(" and {} MiB of disk besides the table", mebibytes(disk)),
            }
        }
    }

    /// Runs `generate` under a progress bar over `work` positions.
    pub(crate) fn compute<T>(
        &self,
        work: u64,
        generate: impl FnOnce(&dyn Fn(u64) -> Result<()>) -> Result<T>,
    ) -> Result<T> {
        catch_interrupts();
        let bar = self.work.progress(work, "positions computed");
        let made = generate(&|done| {
            bar.inc(done);
            interrupted()
        });
        bar.finish_and_clear();
        self.computed.set(started().elapsed().as_secs_f64());
        if matches!(made, Err(Error::Interrupted)) && self.working_file().exists() {
            eprintln!(
                "finished layers are in {}: --resume goes on from there",
                self.working_file().display()
            );
        }
        made
    }

    /// Writes the table and says how it went.
    pub(crate) fn write(&self, records: &dyn Records, schema: Schema) -> Result<()> {
        let raw = schema.positions * schema.record_bytes() as u64;
        let bar = self.work.progress(schema.positions, "positions written");
        let progress = |done| {
            bar.set_position(done);
            interrupted()
        };
        let options = WriteOptions {
            force: self.force,
            progress: Some(&progress),
        };
        let summary = write(records, schema, &self.output, &options)?;
        bar.finish_and_clear();
        if !self.work.quiet {
            let seconds = started().elapsed().as_secs_f64();
            eprintln!(
                "{} positions in {seconds:.2} s ({:.2} s to compute them), {:.0} a second: \
                 {} bytes, {:.2} times smaller than the {} raw",
                grouped(summary.positions),
                self.computed.get(),
                summary.positions as f64 / seconds,
                grouped(summary.file_bytes),
                raw as f64 / summary.file_bytes as f64,
                grouped(raw),
            );
        }
        Ok(())
    }
}

//! Making and transcoding tables, with a callback for progress.

use std::cell::Cell;
use std::path::PathBuf;

use endtable::bearoff::Database;
use endtable::bearoff::generate::{Form, Keep, OneSided, TwoSided};
use endtable::bearoff::gnubg::{self, Export};
use endtable::bearoff::schema::{self, Packing};
use endtable::format::Schema;
use endtable::table::{Records, WriteOptions, write};
use endtable::{Error, Properties, Result};
use pyo3::prelude::*;

use crate::raise;

/// Calls back into Python while the interpreter's lock is released.
struct Progress<'a> {
    callback: Option<&'a Py<PyAny>>,
    total: u64,
    done: Cell<u64>,
    raised: Cell<Option<PyErr>>,
}

impl<'a> Progress<'a> {
    fn new(callback: Option<&'a Py<PyAny>>, total: u64) -> Self {
        Progress {
            callback,
            total,
            done: Cell::new(0),
            raised: Cell::new(None),
        }
    }

    /// Tells that `done` of the total is done; what Python raises, or a
    /// Ctrl-C, stops the work.
    fn set(&self, done: u64) -> Result<()> {
        self.done.set(done);
        let told = Python::attach(|py| -> PyResult<()> {
            py.check_signals()?;
            match self.callback {
                Some(callback) => callback.call1(py, (done, self.total)).map(drop),
                None => Ok(()),
            }
        });
        told.map_err(|raised| {
            self.raised.set(Some(raised));
            Error::Interrupted
        })
    }

    fn add(&self, more: u64) -> Result<()> {
        self.set(self.done.get() + more)
    }

    /// The exception that Python raised meanwhile, else that of the error.
    fn raise(&self, error: Error) -> PyErr {
        self.raised.take().unwrap_or_else(|| raise(error))
    }
}

fn packing(codec: &str, block: Option<u32>, level: Option<u64>) -> Packing {
    let mut options = Properties::new();
    if let Some(level) = level {
        options = options.with("level", level);
    }
    Packing {
        codec: Some(codec.to_owned()),
        block_positions: block,
        options,
    }
}

/// Runs `work` without the interpreter's lock; its callback may take it.
fn detached<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    total: u64,
    work: impl FnOnce(&Progress<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        let progress = Progress::new(callback.as_ref(), total);
        work(&progress).map_err(|error| progress.raise(error))
    })
}

/// Refuses early what writing would refuse after the work.
fn refuse_existing(output: &std::path::Path, force: bool) -> Result<()> {
    match output.exists() && !force {
        true => Err(Error::invalid(format!(
            "{} exists: choose another name, or force=True",
            output.display()
        ))),
        false => Ok(()),
    }
}

fn finish(records: &dyn Records, schema: Schema, output: &PathBuf, force: bool) -> Result<u64> {
    let options = WriteOptions {
        force,
        progress: None,
    };
    write(records, schema, output, &options).map(|summary| summary.file_bytes)
}

/// Make a one-sided bearoff table and return its length in bytes.
///
/// `progress(done, total)` is called now and then; what it raises stops the work,
/// and no file is left.
#[pyfunction]
#[pyo3(signature = (points, output, *, chequers = 15, gammon = true, codec = "packed", block = None, level = None, force = false, progress = None))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub(crate) fn make_bearoff(
    py: Python<'_>,
    points: u8,
    output: PathBuf,
    chequers: u8,
    gammon: bool,
    codec: &str,
    block: Option<u32>,
    level: Option<u64>,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let table = OneSided::new(points, chequers, gammon, Form::Rounded).map_err(raise)?;
    let packing = packing(codec, block, level);
    detached(py, progress, table.work(), |progress| {
        refuse_existing(&output, force)?;
        let records = table.generate(&Keep::Memory, &|done| progress.add(done))?;
        finish(&records, table.schema(&packing)?, &output, force)
    })
}

/// Make a two-sided bearoff table and return its length in bytes; `progress` as
/// in `make_bearoff`.
#[pyfunction]
#[pyo3(signature = (points, chequers, output, *, cubeful = true, codec = "packed", block = None, level = None, force = false, progress = None))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub(crate) fn make_two_sided(
    py: Python<'_>,
    points: u8,
    chequers: u8,
    output: PathBuf,
    cubeful: bool,
    codec: &str,
    block: Option<u32>,
    level: Option<u64>,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let table = TwoSided::new(points, chequers, cubeful).map_err(raise)?;
    let packing = packing(codec, block, level);
    detached(py, progress, table.positions(), |progress| {
        refuse_existing(&output, force)?;
        let records = table.generate(&Keep::Memory, &|done| progress.add(done))?;
        finish(&records, table.schema(&packing)?, &output, force)
    })
}

/// Write a table or a gnubg database in another form and return its length in
/// bytes: a gnubg database if `output` ends in .bd, else a table. `progress` as in
/// `make_bearoff`.
#[pyfunction]
#[pyo3(signature = (input, output, *, codec = "packed", block = None, level = None, force = false, progress = None))]
#[allow(clippy::too_many_arguments)] // They are keywords in Python.
pub(crate) fn transcode(
    py: Python<'_>,
    input: PathBuf,
    output: PathBuf,
    codec: &str,
    block: Option<u32>,
    level: Option<u64>,
    force: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<u64> {
    let packing = packing(codec, block, level);
    let input = py.detach(|| Database::open(&input)).map_err(raise)?;
    let total = input.records().len();
    detached(py, progress, total, |progress| {
        let tell = |done| progress.set(done);
        if output
            .extension()
            .is_some_and(|extension| extension == "bd")
        {
            let kind = match &input {
                Database::Gnubg(file) => file.kind(),
                Database::Table(reader) => schema::kind(reader.schema())?,
            };
            let export = Export {
                overwrite: force,
                beyond_gnubg: force,
            };
            gnubg::write(&output, kind, input.records(), export, &tell)?;
            let written = std::fs::metadata(&output);
            return written
                .map(|file| file.len())
                .map_err(|e| Error::io("ask for the file's length", e).in_file(&output));
        }
        let schema = match &input {
            Database::Table(reader) => packing.apply(reader.schema().clone()),
            Database::Gnubg(file) => schema::schema(file.kind(), &packing)?,
        };
        let options = WriteOptions {
            force,
            progress: Some(&tell),
        };
        write(input.records(), schema, &output, &options).map(|summary| summary.file_bytes)
    })
}

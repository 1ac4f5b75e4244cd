//! `Table`: one open table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use endtable::numbering::{Multiset, Numbering, Pair};
use endtable::table::{OpenOptions, Reader, Records};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice};

use crate::{InvalidError, raise};

/// Records that a chunk has, roughly.
const CHUNK_RECORDS: u64 = 65_536;

/// One open table. Look-ups may come from any number of threads.
#[pyclass(frozen, module = "endtable")]
pub(crate) struct Table {
    reader: Arc<Reader>,
}

#[pymethods]
impl Table {
    /// Open a table.
    ///
    /// `cache_bytes` is the budget of its block cache, 0 for none. With `mapped`,
    /// which is the fastest, nobody may change the file until the table is gone;
    /// without it, the file is read at positions.
    #[staticmethod]
    #[pyo3(signature = (path, *, cache_bytes = 16 << 20, mapped = true))]
    fn open(py: Python<'_>, path: PathBuf, cache_bytes: usize, mapped: bool) -> PyResult<Self> {
        let opened = py.detach(|| {
            let options = OpenOptions::new().cache_bytes(cache_bytes);
            match mapped {
                // SAFETY: the documentation asks that the file stay as it is.
                true => unsafe { options.map(&path) },
                false => options.open(&path),
            }
        });
        let reader = Arc::new(opened.map_err(raise)?);
        Ok(Table { reader })
    }

    /// The file's name.
    #[getter]
    fn path(&self) -> Option<&Path> {
        self.reader.path()
    }

    /// Values in a record.
    #[getter]
    fn width(&self) -> usize {
        self.reader.width()
    }

    /// Length of the file in bytes.
    #[getter]
    fn file_bytes(&self) -> u64 {
        self.reader.file_bytes()
    }

    /// CRC-32 of the content, as the file states it.
    #[getter]
    fn content_crc32(&self) -> u32 {
        self.reader.content_crc32()
    }

    /// What the table holds, such as 'bearoff one-sided'.
    #[getter]
    fn content(&self) -> &str {
        let properties = &self.reader.schema().properties;
        properties.text("content").unwrap_or("records")
    }

    /// How positions are numbered, such as 'multiset'.
    #[getter]
    fn numbering(&self) -> &str {
        &self.reader.schema().numbering.name
    }

    /// The codec of each column, by name.
    #[getter]
    fn codecs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let codecs = PyDict::new(py);
        for column in &self.reader.schema().columns {
            codecs.set_item(&column.name, &column.codec.name)?;
        }
        Ok(codecs)
    }

    /// Where each field lies in a record: a slice by name, as in
    /// `table[5][table.fields['win']]`.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        let mut at = 0;
        for field in self.reader.schema().columns.iter().flat_map(|c| &c.fields) {
            let end = at + field.count as isize;
            fields.set_item(&field.name, PySlice::new(py, at, end, 1))?;
            at = end;
        }
        Ok(fields)
    }

    fn __len__(&self) -> usize {
        self.reader.len() as usize
    }

    fn __repr__(&self) -> String {
        let path = self.reader.path().unwrap_or(Path::new("")).display();
        let (content, positions) = (self.content(), self.reader.len());
        format!("<endtable.Table {path}: {content}, {positions} positions>")
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        number: i64,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let len = self.reader.len() as i64;
        let number = if number < 0 { number + len } else { number };
        match (0..len).contains(&number) {
            true => self.get(py, number as u64),
            false => Err(PyIndexError::new_err(format!(
                "position {number} of a table of {len}"
            ))),
        }
    }

    /// The record of a position: its raw values (uint32).
    fn get<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let mut values = vec![0; self.reader.width()];
        self.reader.get(number, &mut values).map_err(raise)?;
        Ok(values.into_pyarray(py))
    }

    /// The records of many positions, in any order, as an array of shape
    /// `(len(numbers), width)`. `numbers` is a contiguous array of uint64.
    fn get_many<'py>(
        &self,
        py: Python<'py>,
        numbers: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let numbers = numbers.as_slice()?;
        let out = PyArray2::zeros(py, [numbers.len(), self.reader.width()], false);
        {
            let mut view = out.readwrite();
            let values = view.as_slice_mut()?;
            py.detach(|| self.reader.get_batch(numbers, values))
                .map_err(raise)?;
        }
        Ok(out)
    }

    /// The number of a position of a bearoff table: chequers on the points from
    /// the ace-point on, of the side on roll and, for a two-sided table, of its
    /// opponent. Points that are not given are empty.
    #[pyo3(signature = (on_roll, opponent = None))]
    fn number(&self, on_roll: Vec<u8>, opponent: Option<Vec<u8>>) -> PyResult<u64> {
        let id = &self.reader.schema().numbering;
        match (id.name.as_str(), opponent) {
            (Multiset::NAME, None) => {
                let side = Multiset::from_params(&id.params).map_err(raise)?;
                rank(&side, on_roll)
            }
            (Pair::NAME, Some(opponent)) => {
                let pair = Pair::from_params(&id.params).map_err(raise)?;
                let (us, them) = (rank(pair.side(), on_roll)?, rank(pair.side(), opponent)?);
                Ok(us * pair.side().len() + them)
            }
            (Multiset::NAME, Some(_)) => Err(InvalidError::new_err("the table is one-sided")),
            (Pair::NAME, None) => Err(InvalidError::new_err(
                "the table is two-sided: the opponent's chequers are needed, too",
            )),
            _ => Err(InvalidError::new_err(
                "the table is not numbered by chequers",
            )),
        }
    }

    fn __iter__(&self) -> Chunks {
        self.chunks(CHUNK_RECORDS)
    }

    /// Iterate over the whole table: pairs of the first number and an array of
    /// the records from there on, `records` at a time.
    #[pyo3(signature = (records = CHUNK_RECORDS))]
    fn chunks(&self, records: u64) -> Chunks {
        Chunks {
            reader: self.reader.clone(),
            step: records.max(1),
            next: 0,
        }
    }

    /// Hits, misses, blocks and bytes of the block cache.
    fn cache_statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let seen = self.reader.cache_statistics();
        let statistics = PyDict::new(py);
        statistics.set_item("hits", seen.hits)?;
        statistics.set_item("misses", seen.misses)?;
        statistics.set_item("blocks", seen.blocks)?;
        statistics.set_item("bytes", seen.bytes)?;
        Ok(statistics)
    }
}

/// The number of a side; points that are not given are empty.
fn rank(numbering: &Multiset, mut counts: Vec<u8>) -> PyResult<u64> {
    if counts.iter().skip(numbering.points()).any(|&n| n > 0) {
        let points = numbering.points();
        let message = format!("a chequer lies outside the table's {points} points");
        return Err(crate::NotCoveredError::new_err(message));
    }
    counts.resize(numbering.points(), 0);
    numbering.rank(&counts).map_err(raise)
}

/// Records in number order.
#[pyclass(module = "endtable")]
pub(crate) struct Chunks {
    reader: Arc<Reader>,
    step: u64,
    next: u64,
}

/// A chunk: its first number and its records.
type Chunk<'py> = (u64, Bound<'py, PyArray2<u32>>);

#[pymethods]
impl Chunks {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Chunk<'py>>> {
        let first = self.next;
        let count = self.step.min(self.reader.len() - first);
        if count == 0 {
            return Ok(None);
        }
        self.next += count;
        let out = PyArray2::zeros(py, [count as usize, self.reader.width()], false);
        {
            let mut view = out.readwrite();
            let values = view.as_slice_mut()?;
            py.detach(|| self.reader.read(first, values))
                .map_err(raise)?;
        }
        Ok(Some((first, out)))
    }
}

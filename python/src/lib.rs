//! endtable for Python: the extension module `endtable._endtable`.
//!
//! It converts between Python and the library and holds no logic; what is
//! slow runs without the interpreter's lock.

mod evaluate;
mod make;
mod table;

use endtable::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(
    endtable,
    EndtableError,
    PyException,
    "Any fault that endtable reports."
);
create_exception!(
    endtable,
    ReadError,
    EndtableError,
    "Reading or writing failed."
);
create_exception!(
    endtable,
    CorruptError,
    EndtableError,
    "A file breaks its format."
);
create_exception!(
    endtable,
    UnsupportedError,
    EndtableError,
    "A file needs something that this version does not know."
);
create_exception!(
    endtable,
    LimitError,
    EndtableError,
    "A file asks for more memory than is allowed."
);
create_exception!(
    endtable,
    InvalidError,
    EndtableError,
    "An argument is wrong."
);
create_exception!(
    endtable,
    NotCoveredError,
    EndtableError,
    "No open table covers the position."
);

/// The exception of an error.
fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Io { .. } => ReadError::new_err(text),
        Error::Corrupt { .. } => CorruptError::new_err(text),
        Error::Unsupported { .. } => UnsupportedError::new_err(text),
        Error::Limit { .. } => LimitError::new_err(text),
        Error::Invalid { .. } => InvalidError::new_err(text),
        Error::NotCovered(_) => NotCoveredError::new_err(text),
        Error::Interrupted => PyKeyboardInterrupt::new_err(text),
        _ => EndtableError::new_err(text),
    }
}

#[pymodule]
fn _endtable(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("EndtableError", py.get_type::<EndtableError>())?;
    m.add("ReadError", py.get_type::<ReadError>())?;
    m.add("CorruptError", py.get_type::<CorruptError>())?;
    m.add("UnsupportedError", py.get_type::<UnsupportedError>())?;
    m.add("LimitError", py.get_type::<LimitError>())?;
    m.add("InvalidError", py.get_type::<InvalidError>())?;
    m.add("NotCoveredError", py.get_type::<NotCoveredError>())?;
    m.add_class::<table::Table>()?;
    m.add_class::<table::Chunks>()?;
    m.add_class::<evaluate::Tables>()?;
    m.add_class::<evaluate::Evaluation>()?;
    m.add_class::<evaluate::Play>()?;
    m.add_function(wrap_pyfunction!(make::make_bearoff, m)?)?;
    m.add_function(wrap_pyfunction!(make::make_two_sided, m)?)?;
    m.add_function(wrap_pyfunction!(make::transcode, m)?)?;
    Ok(())
}

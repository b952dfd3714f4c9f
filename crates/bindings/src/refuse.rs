//! `ValueError`: what is asked for cannot be done.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

/// With the reason why.
#[allow(clippy::needless_pass_by_value)] // for map_err
pub fn refuse(why: impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// For a word that is none of those allowed.
pub fn unknown(what: &str, found: &str, allowed: &str) -> PyErr {
    refuse(format!("{what} is {found:?}; allowed: {allowed}"))
}

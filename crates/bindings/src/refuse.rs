//! `ValueError`: what is asked for cannot be done.

use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, PyResult};

/// With the reason why.
#[allow(clippy::needless_pass_by_value)] // for map_err
pub fn refuse(why: impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// For a word that is none of those allowed.
pub fn unknown(what: &str, found: &str, allowed: &str) -> PyErr {
    refuse(format!("{what} is {found:?}; allowed: {allowed}"))
}

/// The one of `known` that is called so.
pub fn named<T: Copy, const N: usize>(
    what: &str,
    name: &str,
    known: [T; N],
    called: fn(T) -> &'static str,
) -> PyResult<T> {
    let found = known.into_iter().find(|one| called(*one) == name);
    found.ok_or_else(|| unknown(what, name, &known.map(called).join(", ")))
}

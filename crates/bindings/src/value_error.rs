//! `ValueError` for invalid arguments.

use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, PyResult};

/// Create a `ValueError` with this reason.
#[allow(clippy::needless_pass_by_value)] // for map_err
pub fn value_error(reason: impl ToString) -> PyErr {
    PyValueError::new_err(reason.to_string())
}

/// Error for a value outside the allowed ones.
pub fn unknown_value(what: &str, found: &str, allowed: &str) -> PyErr {
    value_error(format!("{what} is {found:?}; allowed: {allowed}"))
}

/// Find the value with this name.
pub fn parse_name<T: Copy, const N: usize>(
    what: &str,
    name: &str,
    known: [T; N],
    name_of: fn(T) -> &'static str,
) -> PyResult<T> {
    let found = known.into_iter().find(|one| name_of(*one) == name);
    found.ok_or_else(|| unknown_value(what, name, &known.map(name_of).join(", ")))
}

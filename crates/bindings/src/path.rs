//! Conversion of Python paths: text or bytes in any encoding.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Path from `str` (undecodable bytes as surrogates) or `bytes`.
pub struct NativePath(pub PathBuf);

impl<'py> FromPyObject<'_, 'py> for NativePath {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Self(OsString::from_vec(bytes.as_bytes().to_vec()).into()));
        }
        value
            .extract::<OsString>()
            .map(|text| Self(text.into()))
            .map_err(|_| {
                PyTypeError::new_err(format!(
                    "a path must be str or bytes, not {}",
                    value.get_type()
                ))
            })
    }
}

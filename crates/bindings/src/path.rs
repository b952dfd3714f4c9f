//! Conversion of Python paths, and the identity with which a thread opens them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use pyo3::exceptions::{PyPermissionError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustix::fs::Gid;
use rustix::thread::set_thread_groups;

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

/// No user and no group has this number: the kernel then only returns the present one.
const NONE: u32 = u32::MAX;

#[pyfunction]
pub fn set_file_identity(uid: u32, gid: u32, groups: Vec<u32>) -> PyResult<(u32, u32)> {
    let groups: Vec<_> = groups.into_iter().map(Gid::from_raw).collect();
    let group_before = set_group(gid);
    let earlier = (set_user(uid), group_before);
    let is_allowed = set_group(NONE) == gid && set_user(NONE) == uid;
    if is_allowed && set_thread_groups(&groups).is_ok() {
        return Ok(earlier);
    }
    // Nothing is left half changed: the thread keeps the identity that it had.
    set_user(earlier.0);
    set_group(earlier.1);
    Err(PyPermissionError::new_err(format!(
        "the kernel does not let this thread access files as user {uid}"
    )))
}

#[allow(clippy::cast_sign_loss)] // the C library declares a number of a user as an int
#[expect(unsafe_code, reason = "rustix sets only the ids of whole processes")]
fn set_user(uid: u32) -> u32 {
    // SAFETY: it takes and returns a number. The C library changes no other thread.
    unsafe { libc::setfsuid(uid) as u32 }
}

#[allow(clippy::cast_sign_loss)] // as above
#[expect(unsafe_code, reason = "as above")]
fn set_group(gid: u32) -> u32 {
    // SAFETY: as above.
    unsafe { libc::setfsgid(gid) as u32 }
}

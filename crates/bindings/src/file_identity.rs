//! Python function `set_file_identity`.

use pyo3::exceptions::PyPermissionError;
use pyo3::prelude::*;
use rustix::fs::Gid;
use rustix::thread::set_thread_groups;

/// No user and no group has this number: the kernel then only returns the present one.
const NONE: u32 = u32::MAX;

#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
pub fn set_file_identity(uid: u32, gid: u32, groups: Vec<u32>) -> PyResult<(u32, u32)> {
    let groups: Vec<_> = groups.into_iter().map(Gid::from_raw).collect();
    set_thread_groups(&groups)
        .map_err(|errno| PyPermissionError::new_err((errno.raw_os_error(), errno.to_string())))?;
    let group_before = set_group(gid);
    let earlier = (set_user(uid), group_before);
    if set_group(NONE) == gid && set_user(NONE) == uid {
        return Ok(earlier);
    }
    Err(PyPermissionError::new_err(format!(
        "the kernel does not let this thread access files as user {uid}"
    )))
}

#[allow(clippy::cast_sign_loss)] // the C library declares a number of a user as an int
fn set_user(uid: u32) -> u32 {
    // SAFETY: it takes and returns a number. The C library changes no other thread.
    unsafe { libc::setfsuid(uid) as u32 }
}

#[allow(clippy::cast_sign_loss)] // as above
fn set_group(gid: u32) -> u32 {
    // SAFETY: as above.
    unsafe { libc::setfsgid(gid) as u32 }
}

//! `syncfs`.

use pyo3::prelude::*;
use rustix::fs::{Mode, OFlags, open, syncfs as syncfs_of};
use rustix::io::{Errno, retry_on_intr};

use crate::errors::os_error;
use crate::path::NativePath;

/// Write out everything dirty on the file system that holds ``path``.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // taken over from Python
pub fn syncfs(py: Python<'_>, path: NativePath) -> PyResult<()> {
    let synced = py.detach(|| -> Result<(), Errno> {
        let place = open(&path.0, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        retry_on_intr(|| syncfs_of(&place))
    });
    match synced {
        Ok(()) => Ok(()),
        Err(errno) => Err(os_error(py, errno.raw_os_error(), &path.0, "syncfs")?),
    }
}

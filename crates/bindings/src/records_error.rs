//! How jobs on records are watched, and what they raise.

use iostudy_records::{Error, Fault};
use pyo3::PyErr;
use pyo3::prelude::*;

use crate::errors::{EngineError, StoppedError, VerificationError, call_error, no_thread};
use crate::ticking::ticking;

/// Do the work of a job, watched as [`ticking`] does, and raise what goes wrong.
pub fn watched<R: Send>(
    py: Python<'_>,
    tick: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut (dyn FnMut(u64) -> bool + Send)) -> Result<R, Error> + Send,
) -> PyResult<R> {
    ticking(py, tick, work)?.map_err(|error| from_records(py, &error))
}

fn from_records(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Fault(fault) => from_fault(py, fault),
        Error::Thread(source) => no_thread(source, error),
        Error::Stopped => StoppedError::new_err(error.to_string()),
    }
}

fn from_fault(py: Python<'_>, fault: &Fault) -> PyErr {
    match fault {
        Fault::Io {
            path,
            call,
            offset,
            errno,
        } => call_error(py, errno.raw_os_error(), (path, *offset), call),
        Fault::Memory { errno, .. } => {
            EngineError::new_err((errno.raw_os_error(), fault.to_string()))
        }
        Fault::InvalidData { .. } => VerificationError::new_err(fault.to_string()),
    }
}

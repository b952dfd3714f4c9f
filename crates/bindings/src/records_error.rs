//! Interruptible execution and exceptions of record jobs.

use iostudy_records::{Error, Fault};
use pyo3::PyErr;
use pyo3::prelude::*;

use crate::errors::{EngineError, StoppedError, VerificationError, call_error, thread_error};
use crate::interruptible::run_interruptibly;

/// Run a record job as [`run_interruptibly`] does, and convert its errors.
pub fn run_records_job<R: Send>(
    py: Python<'_>,
    tick: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut (dyn FnMut(u64) -> bool + Send)) -> Result<R, Error> + Send,
) -> PyResult<R> {
    run_interruptibly(py, tick, work)?.map_err(|error| from_records(py, &error))
}

fn from_records(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Fault(fault) => from_fault(py, fault),
        Error::Thread(source) => thread_error(source, error),
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

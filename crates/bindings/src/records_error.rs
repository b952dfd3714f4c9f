//! What jobs on records raise.

use iostudy_records::{Error, Fault};
use pyo3::PyErr;
use pyo3::prelude::*;

use crate::errors::{EngineError, StoppedError, VerificationError, no_thread, os_error};

/// The exception for an error of a job on records.
pub fn from_records(py: Python<'_>, error: &Error) -> PyErr {
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
        } => {
            let note = format!("{call} at byte {offset}");
            os_error(py, errno.raw_os_error(), path, &note)
        }
        Fault::Memory { errno, .. } => {
            EngineError::new_err((errno.raw_os_error(), fault.to_string()))
        }
        Fault::Wrong { .. } => VerificationError::new_err(fault.to_string()),
    }
}

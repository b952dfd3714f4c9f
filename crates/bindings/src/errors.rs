//! The engine's errors as Python exceptions.

use std::io;
use std::path::Path;

use iostudy_engine::{Error, Fault};
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;

pyo3::create_exception!(
    iostudy._native,
    EngineError,
    PyOSError,
    "An I/O error of the engine: errno, strerror and filename are set."
);
pyo3::create_exception!(
    iostudy._native,
    VerificationError,
    PyException,
    "Data read back differ from what was written; the message names file and byte offset."
);
pyo3::create_exception!(
    iostudy._native,
    StoppedError,
    PyException,
    "The tick of a job asked it to stop before its end."
);

/// The exception for an error of a job.
pub fn from_engine(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::File { path, fault } => from_fault(py, path, *fault),
        Error::Thread(source) => no_thread(source, error),
        Error::Stopped => StoppedError::new_err(error.to_string()),
    }
}

fn from_fault(py: Python<'_>, path: &Path, fault: Fault) -> PyErr {
    match fault {
        Fault::Io {
            call,
            offset,
            errno,
        } => call_error(py, errno.raw_os_error(), (path, offset), call),
        Fault::UnexpectedEof { .. } | Fault::DataMismatch { .. } => {
            VerificationError::new_err(format!("{} {fault}", path.display()))
        }
    }
}

/// An `EngineError` for threads that the system does not give.
pub fn no_thread(source: &io::Error, error: &impl ToString) -> PyErr {
    EngineError::new_err((source.raw_os_error(), error.to_string()))
}

/// An `EngineError` for a call that failed at a byte of a file.
pub fn call_error(py: Python<'_>, errno: i32, (path, offset): (&Path, u64), call: &str) -> PyErr {
    os_error(py, errno, path, &format!("{call} at byte {offset}"))
}

/// An `EngineError` with the C library's words for `errno`, and a note that says where.
pub fn os_error(py: Python<'_>, errno: i32, path: &Path, note: &str) -> PyErr {
    noted_error(py, errno, path, note).unwrap_or_else(|failed| failed)
}

fn noted_error(py: Python<'_>, errno: i32, path: &Path, note: &str) -> PyResult<PyErr> {
    let strerror = py
        .import("os")?
        .call_method1("strerror", (errno,))?
        .unbind();
    let error = EngineError::new_err((errno, strerror, path.as_os_str().to_owned()));
    error.value(py).call_method1("add_note", (note,))?;
    Ok(error)
}

//! Python exceptions of the engine.

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
    "The tick of a job stopped it before its end."
);

/// Convert an engine error.
pub fn from_engine(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::File { path, fault } => from_fault(py, path, *fault),
        Error::Thread(source) => thread_error(source, error),
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

/// `EngineError` for threads that could not start.
pub fn thread_error(source: &io::Error, error: &impl ToString) -> PyErr {
    EngineError::new_err((source.raw_os_error(), error.to_string()))
}

/// `EngineError` for a call that failed at an offset of a file.
pub fn call_error(py: Python<'_>, errno: i32, (path, offset): (&Path, u64), call: &str) -> PyErr {
    os_error(py, errno, path, &format!("{call} at byte {offset}"))
}

/// `EngineError` with the C library's message for `errno` and a note on the call.
pub fn os_error(py: Python<'_>, errno: i32, path: &Path, note: &str) -> PyErr {
    error_with_note(py, errno, path, note).unwrap_or_else(|failed| failed)
}

fn error_with_note(py: Python<'_>, errno: i32, path: &Path, note: &str) -> PyResult<PyErr> {
    let strerror = py
        .import("os")?
        .call_method1("strerror", (errno,))?
        .unbind();
    let error = EngineError::new_err((errno, strerror, path.as_os_str().to_owned()));
    error.value(py).call_method1("add_note", (note,))?;
    Ok(error)
}

//! Python exceptions, and interruptible execution of native work.

use std::path::Path;

use iostudy_engine as engine;
use iostudy_metadata as metadata;
use iostudy_namespace as namespace;
use iostudy_records as records;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
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

/// Kind of a native error, which determines its exception.
pub enum ErrorKind<'a> {
    /// A call failed on a file: `EngineError` with the C library's message and a note.
    Call(i32, &'a Path, String),
    /// The system refused a thread or memory: `EngineError`.
    System(Option<i32>),
    /// Data are not what was written: `VerificationError` with this message.
    Data(String),
    /// `StoppedError`.
    Stopped,
    /// `ValueError`.
    Value,
}

/// Error of a native job.
pub trait NativeError: ToString {
    fn kind(&self) -> ErrorKind<'_>;
}

impl NativeError for engine::Error {
    fn kind(&self) -> ErrorKind<'_> {
        match self {
            Self::File { path, fault } => match fault {
                engine::Fault::Io {
                    call,
                    offset,
                    errno,
                } => {
                    let note = format!("{call} at byte {offset}");
                    ErrorKind::Call(errno.raw_os_error(), path, note)
                }
                other => ErrorKind::Data(format!("{} {other}", path.display())),
            },
            Self::Thread(source) => ErrorKind::System(source.raw_os_error()),
            Self::Stopped => ErrorKind::Stopped,
        }
    }
}

impl NativeError for records::Error {
    fn kind(&self) -> ErrorKind<'_> {
        match self {
            Self::Fault(records::Fault::Io {
                path,
                call,
                offset,
                errno,
            }) => {
                let note = format!("{call} at byte {offset}");
                ErrorKind::Call(errno.raw_os_error(), path, note)
            }
            Self::Fault(records::Fault::Memory { errno, .. }) => {
                ErrorKind::System(Some(errno.raw_os_error()))
            }
            Self::Fault(records::Fault::InvalidData { .. }) => ErrorKind::Data(self.to_string()),
            Self::Thread(source) => ErrorKind::System(source.raw_os_error()),
            Self::Stopped => ErrorKind::Stopped,
        }
    }
}

impl NativeError for metadata::Error {
    fn kind(&self) -> ErrorKind<'_> {
        match self {
            Self::Path { path, fault } => match fault {
                metadata::Fault::Io { call, errno } => {
                    ErrorKind::Call(errno.raw_os_error(), path, (*call).to_owned())
                }
                other => ErrorKind::Data(format!("{} {other}", path.display())),
            },
            Self::Thread(source) => ErrorKind::System(source.raw_os_error()),
            Self::Stopped => ErrorKind::Stopped,
        }
    }
}

impl NativeError for namespace::Error {
    fn kind(&self) -> ErrorKind<'_> {
        match self {
            Self::File(fault) => call_on(fault, fault.call.to_owned()),
            // The directory that failed last ended the run.
            Self::AllLogsFailed(failed_logs) => match failed_logs.last() {
                Some(last) => call_on(&last.fault, self.to_string()),
                None => ErrorKind::Data(self.to_string()),
            },
            Self::Unreadable { fault, .. } => call_on(fault, self.to_string()),
            Self::Thread(source) => ErrorKind::System(source.raw_os_error()),
            Self::Stopped => ErrorKind::Stopped,
            Self::TreeError(_)
            | Self::Damaged { .. }
            | Self::Missing { .. }
            | Self::IncompleteLog(_)
            | Self::OutOfOrder { .. }
            | Self::TreeMismatch { .. } => ErrorKind::Data(self.to_string()),
        }
    }
}

fn call_on(fault: &namespace::Fault, note: String) -> ErrorKind<'_> {
    ErrorKind::Call(fault.errno.raw_os_error(), &fault.path, note)
}

/// Convert the error of a native job.
pub fn to_python(py: Python<'_>, error: &impl NativeError) -> PyErr {
    match error.kind() {
        ErrorKind::Call(errno, path, note) => {
            call_error(py, errno, path, &note).unwrap_or_else(|failed| failed)
        }
        ErrorKind::System(errno) => EngineError::new_err((errno, error.to_string())),
        ErrorKind::Data(message) => VerificationError::new_err(message),
        ErrorKind::Stopped => StoppedError::new_err(error.to_string()),
        ErrorKind::Value => value_error(error.to_string()),
    }
}

fn call_error(py: Python<'_>, errno: i32, path: &Path, note: &str) -> PyResult<PyErr> {
    let strerror = py.import("os")?.call_method1("strerror", (errno,))?;
    let error = EngineError::new_err((errno, strerror.unbind(), path.as_os_str().to_owned()));
    error.value(py).call_method1("add_note", (note,))?;
    Ok(error)
}

/// Run a native job without the GIL. Its tick handles signals and calls `tick` with the progress.
/// It returns false once either raises or `tick` returns a false value.
///
/// # Errors
///
/// The exception of a signal handler or of `tick`, which has priority over the resulting stop, or
/// that of the job's error.
pub fn run_job<R: Send, E: NativeError + Send>(
    py: Python<'_>,
    tick: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut (dyn FnMut(u64) -> bool + Send)) -> Result<R, E> + Send,
) -> PyResult<R> {
    let mut tick_result = Ok(true);
    let outcome = py.detach(|| {
        work(&mut |done| {
            // A stop is final: the next phase would otherwise call the tick again.
            if matches!(tick_result, Ok(true)) {
                tick_result = Python::attach(|py| call_tick(py, tick, done));
            }
            matches!(tick_result, Ok(true))
        })
    });
    tick_result?;
    outcome.map_err(|error| to_python(py, &error))
}

fn call_tick(py: Python<'_>, tick: Option<&Py<PyAny>>, done: u64) -> PyResult<bool> {
    py.check_signals()?;
    match tick {
        Some(tick) => tick.call1(py, (done,))?.is_truthy(py),
        None => Ok(true),
    }
}

/// Create a `ValueError` with this reason.
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

//! Python class `MetadataJob` and function `remove_tree`.

use iostudy_metadata::{Error, Fault, Job, Operation, Sync, remove_tree as remove, repeat, run};
use pyo3::prelude::*;

use crate::errors::{StoppedError, VerificationError, os_error, thread_error};
use crate::interruptible::run_interruptibly;
use crate::path::NativePath;
use crate::phase::Phase;
use crate::value_error::{parse_name, unknown_value, value_error};
use crate::windows::{WindowLog, claim, require_cycle};

#[pyclass(frozen, module = "iostudy._native")]
pub struct MetadataJob(Job);

impl MetadataJob {
    pub const fn job(&self) -> &Job {
        &self.0
    }
}

#[pymethods]
impl MetadataJob {
    #[new]
    #[pyo3(signature = (
        directory, *, operations, threads, files, files_per_directory, depth, shared,
        bytes_to_write, sync, seed
    ))]
    #[allow(clippy::too_many_arguments)] // keyword arguments
    fn new(
        directory: NativePath,
        operations: Vec<String>,
        threads: usize,
        files: u64,
        files_per_directory: u64,
        depth: u32,
        shared: bool,
        bytes_to_write: usize,
        sync: &str,
        seed: u64,
    ) -> PyResult<Self> {
        let operations = operations.into_iter().map(|name| parse_operation(&name));
        let job = Job {
            directory: directory.0,
            operations: operations.collect::<PyResult<_>>()?,
            threads,
            files,
            files_per_directory,
            depth,
            shared,
            bytes_to_write,
            sync: parse_sync(sync)?,
            seed,
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
    }

    #[getter]
    fn required_operations(&self) -> Vec<&'static str> {
        self.0
            .required_operations()
            .into_iter()
            .map(Operation::name)
            .collect()
    }

    #[getter]
    fn is_cycle(&self) -> bool {
        self.0.is_cycle()
    }

    #[pyo3(signature = (windows, tick = None))]
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn repeat(
        &self,
        py: Python<'_>,
        windows: Py<WindowLog>,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        require_cycle(self.0.is_cycle())?;
        let log = claim(windows.get(), self.0.threads)?;
        run_interruptibly(py, tick.as_ref(), |tick| repeat(&self.0, log, tick))?
            .map_err(|error| from_error(py, &error))
    }

    #[pyo3(signature = (tick = None))]
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<Vec<Phase>> {
        run_interruptibly(py, tick.as_ref(), |tick| run(&self.0, tick))?
            .map(|phases| phases.iter().map(to_python).collect())
            .map_err(|error| from_error(py, &error))
    }
}

#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
pub fn remove_tree(py: Python<'_>, directory: NativePath) -> PyResult<()> {
    py.detach(|| remove(&directory.0))
        .map_err(|error| from_error(py, &error))
}

pub fn to_python(phase: &iostudy_metadata::Phase) -> Phase {
    Phase::new(phase.operation.name(), phase.wall, &phase.latencies)
}

fn parse_operation(name: &str) -> PyResult<Operation> {
    parse_name("operation", name, Operation::ALL, Operation::name)
}

fn parse_sync(name: &str) -> PyResult<Sync> {
    match name {
        "none" => Ok(Sync::None),
        "file" => Ok(Sync::File),
        "directory" => Ok(Sync::Directory),
        "phase" => Ok(Sync::Phase),
        other => Err(unknown_value("sync", other, "none, file, directory, phase")),
    }
}

fn from_error(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Path {
            path,
            fault: Fault::Io { call, errno },
        } => os_error(py, errno.raw_os_error(), path, call),
        Error::Path { path, fault } => {
            VerificationError::new_err(format!("{} {fault}", path.display()))
        }
        Error::Thread(source) => thread_error(source, error),
        Error::Stopped => StoppedError::new_err(error.to_string()),
    }
}

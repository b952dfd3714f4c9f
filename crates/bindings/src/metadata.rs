//! Python class `MetadataJob` and function `remove_tree`.

use iostudy_metadata::{Job, Operation, SyncPolicy, remove_tree as remove, repeat, run};
use pyo3::prelude::*;

use crate::errors::{parse_name, run_job, to_python, unknown_value, value_error};
use crate::latencies::Phase;
use crate::path::NativePath;
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
    fn repeat(
        &self,
        py: Python<'_>,
        windows: Py<WindowLog>,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        require_cycle(self.0.is_cycle())?;
        let log = claim(windows.get(), self.0.threads)?;
        run_job(py, tick.as_ref(), |tick| repeat(&self.0, log, tick))
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<Vec<Phase>> {
        run_job(py, tick.as_ref(), |tick| run(&self.0, tick))
            .map(|phases| phases.iter().map(phase_to_python).collect())
    }
}

#[pyfunction]
pub fn remove_tree(py: Python<'_>, directory: NativePath) -> PyResult<()> {
    py.detach(|| remove(&directory.0))
        .map_err(|error| to_python(py, &error))
}

pub fn phase_to_python(phase: &iostudy_metadata::Phase) -> Phase {
    Phase::new(phase.operation.name(), phase.wall, &phase.latencies)
}

fn parse_operation(name: &str) -> PyResult<Operation> {
    parse_name("operation", name, Operation::ALL, Operation::name)
}

fn parse_sync(name: &str) -> PyResult<SyncPolicy> {
    match name {
        "none" => Ok(SyncPolicy::None),
        "file" => Ok(SyncPolicy::File),
        "directory" => Ok(SyncPolicy::Directory),
        "phase" => Ok(SyncPolicy::Phase),
        other => Err(unknown_value("sync", other, "none, file, directory, phase")),
    }
}

//! Python classes `NamespaceJob`, `NamespaceOutcome` and `NamespacePhase`.

use std::time::Duration;

use iostudy_namespace::{
    Error, Fault, Job, LogOptions, Operation, Outcome, Sync, WriteOrder, repeat, run,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{StoppedError, VerificationError, os_error, thread_error};
use crate::interruptible::run_interruptibly;
use crate::path::NativePath;
use crate::phase::Phase;
use crate::value_error::{parse_name, unknown_value, value_error};
use crate::windows::{WindowLog, claim, require_cycle};

#[pyclass(frozen, module = "iostudy._native")]
pub struct NamespaceJob(Job);

#[pymethods]
impl NamespaceJob {
    #[new]
    #[pyo3(signature = (
        logs, *, order, sync, preallocate, record_bytes, batch_records, batch_wait_seconds,
        operations, files, files_per_directory, threads, workers, checkpoint_every
    ))]
    #[allow(clippy::too_many_arguments)] // keyword arguments
    fn new(
        logs: Vec<NativePath>,
        order: &str,
        sync: &str,
        preallocate: usize,
        record_bytes: usize,
        batch_records: u32,
        batch_wait_seconds: f64,
        operations: Vec<String>,
        files: u64,
        files_per_directory: u64,
        threads: usize,
        workers: usize,
        checkpoint_every: u64,
    ) -> PyResult<Self> {
        let operations = operations.into_iter().map(|name| parse_operation(&name));
        let batch_wait = Duration::try_from_secs_f64(batch_wait_seconds)
            .map_err(|error| PyValueError::new_err(format!("batch_wait_seconds: {error}")))?;
        let job = Job {
            log: LogOptions {
                directories: logs.into_iter().map(|path| path.0).collect(),
                order: parse_order(order)?,
                sync: parse_sync(sync)?,
                preallocate,
                record_bytes,
                batch_records,
                batch_wait,
            },
            operations: operations.collect::<PyResult<_>>()?,
            files,
            files_per_directory,
            threads,
            workers,
            checkpoint_every,
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
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
    ) -> PyResult<Vec<String>> {
        require_cycle(self.0.is_cycle())?;
        let log = claim(windows.get(), self.0.workers)?;
        run_interruptibly(py, tick.as_ref(), |tick| repeat(&self.0, log, tick))?
            .map(|failed_logs| failed_logs.iter().map(ToString::to_string).collect())
            .map_err(|error| from_error(py, &error))
    }

    #[pyo3(signature = (tick = None))]
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<NamespaceOutcome> {
        run_interruptibly(py, tick.as_ref(), |tick| run(&self.0, tick))?
            .map(|outcome| NamespaceOutcome {
                job: self.0.clone(),
                outcome,
            })
            .map_err(|error| from_error(py, &error))
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct NamespaceOutcome {
    job: Job,
    outcome: Outcome,
}

#[pymethods]
impl NamespaceOutcome {
    #[getter]
    fn phases(&self, py: Python<'_>) -> PyResult<Vec<Py<NamespacePhase>>> {
        let phases = self.outcome.phases.iter();
        phases
            .map(|phase| NamespacePhase::create(py, phase))
            .collect()
    }

    #[getter]
    fn failed_logs(&self) -> Vec<String> {
        let failed_logs = self.outcome.failed_logs.iter();
        failed_logs.map(ToString::to_string).collect()
    }

    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.outcome.verify(&self.job))
            .map_err(|error| from_error(py, &error))
    }
}

#[pyclass(frozen, extends = Phase, module = "iostudy._native")]
pub struct NamespacePhase(iostudy_namespace::Phase);

impl NamespacePhase {
    fn create(py: Python<'_>, phase: &iostudy_namespace::Phase) -> PyResult<Py<Self>> {
        let base = Phase::new(phase.operation.name(), phase.wall, &phase.latencies);
        Py::new(py, (Self(phase.clone()), base))
    }
}

#[pymethods]
impl NamespacePhase {
    #[getter]
    fn mutations(&self) -> u64 {
        self.0.log.mutations
    }

    #[getter]
    fn batches(&self) -> u64 {
        self.0.log.batches
    }

    #[getter]
    fn log_bytes(&self) -> u64 {
        self.0.log.bytes
    }

    #[getter]
    fn writing_seconds(&self) -> f64 {
        self.0.log.writing.as_secs_f64()
    }

    #[getter]
    fn lock_seconds(&self) -> f64 {
        self.0.wait_times.lock.as_secs_f64()
    }

    #[getter]
    fn buffer_seconds(&self) -> f64 {
        self.0.wait_times.buffer.as_secs_f64()
    }

    #[getter]
    fn sync_seconds(&self) -> f64 {
        self.0.wait_times.sync.as_secs_f64()
    }

    #[getter]
    fn checkpoint_seconds(&self) -> f64 {
        self.0.checkpoints.as_secs_f64()
    }
}

fn parse_operation(name: &str) -> PyResult<Operation> {
    parse_name("operation", name, Operation::ALL, Operation::name)
}

fn parse_order(name: &str) -> PyResult<WriteOrder> {
    match name {
        "in-turn" => Ok(WriteOrder::Sequential),
        "parallel" => Ok(WriteOrder::Parallel),
        other => Err(unknown_value("order", other, "in-turn, parallel")),
    }
}

fn parse_sync(name: &str) -> PyResult<Sync> {
    match name {
        "fdatasync" => Ok(Sync::Fdatasync),
        "dsync" => Ok(Sync::Dsync),
        "none" => Ok(Sync::None),
        other => Err(unknown_value("sync", other, "fdatasync, dsync, none")),
    }
}

fn from_error(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::File(fault) => from_fault(py, fault, fault.call),
        // The directory that failed last ended the run.
        Error::AllLogsFailed(failed_logs) => match failed_logs.last() {
            Some(last) => from_fault(py, &last.fault, &error.to_string()),
            None => VerificationError::new_err(error.to_string()),
        },
        Error::Thread(source) => thread_error(source, error),
        Error::Stopped => StoppedError::new_err(error.to_string()),
        Error::Unreadable { fault, .. } => from_fault(py, fault, &error.to_string()),
        Error::TreeError(_)
        | Error::Damaged { .. }
        | Error::Missing { .. }
        | Error::IncompleteLog(_)
        | Error::OutOfOrder { .. }
        | Error::TreeMismatch { .. } => VerificationError::new_err(error.to_string()),
    }
}

fn from_fault(py: Python<'_>, fault: &Fault, note: &str) -> PyErr {
    os_error(py, fault.errno.raw_os_error(), &fault.path, note)
}

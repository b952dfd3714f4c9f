//! Python classes `NamespaceJob`, `NamespaceOutcome` and `NamespacePhase`.

use std::time::Duration;

use iostudy_namespace::{Job, LogOptions, Operation, Outcome, SyncPolicy, WriteOrder, repeat, run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{parse_name, run_job, to_python, unknown_value, value_error};
use crate::getters::getters;
use crate::latencies::Phase;
use crate::path::NativePath;
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
    fn new(
        logs: Vec<NativePath>,
        order: &str,
        sync: &str,
        preallocate: usize,
        record_bytes: usize,
        batch_records: u32,
        batch_wait_seconds: Option<f64>,
        operations: Vec<String>,
        files: u64,
        files_per_directory: u64,
        threads: usize,
        workers: usize,
        checkpoint_every: u64,
    ) -> PyResult<Self> {
        let operations = operations.into_iter().map(|name| parse_operation(&name));
        let batch_wait = batch_wait_seconds
            .map(Duration::try_from_secs_f64)
            .transpose()
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
    fn repeat(
        &self,
        py: Python<'_>,
        windows: Py<WindowLog>,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<Vec<String>> {
        require_cycle(self.0.is_cycle())?;
        let log = claim(windows.get(), self.0.workers)?;
        run_job(py, tick.as_ref(), |tick| repeat(&self.0, log, tick))
            .map(|failed_logs| failed_logs.iter().map(ToString::to_string).collect())
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<NamespaceOutcome> {
        run_job(py, tick.as_ref(), |tick| run(&self.0, tick)).map(|outcome| NamespaceOutcome {
            job: self.0.clone(),
            outcome,
        })
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
            .map_err(|error| to_python(py, &error))
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

getters!(NamespacePhase, this {
    mutations: u64 = this.0.log.mutations;
    batches: u64 = this.0.log.batches;
    log_bytes: u64 = this.0.log.bytes;
    writing_seconds: f64 = this.0.log.writing.as_secs_f64();
    lock_seconds: f64 = this.0.wait_times.lock.as_secs_f64();
    buffer_seconds: f64 = this.0.wait_times.buffer.as_secs_f64();
    sync_seconds: f64 = this.0.wait_times.sync.as_secs_f64();
    checkpoint_seconds: f64 = this.0.checkpoints.as_secs_f64();
});

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

fn parse_sync(name: &str) -> PyResult<SyncPolicy> {
    match name {
        "fdatasync" => Ok(SyncPolicy::Fdatasync),
        "dsync" => Ok(SyncPolicy::Dsync),
        "none" => Ok(SyncPolicy::None),
        other => Err(unknown_value("sync", other, "fdatasync, dsync, none")),
    }
}

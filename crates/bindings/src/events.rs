//! Python classes `EventJobs` and `EventResult`.

use std::time::Duration;

use iostudy_events::{Compute, EventResult as EngineResult, Layout, Workload, repeat, run};
use pyo3::prelude::*;

use crate::errors::{run_job, unknown_value, value_error};
use crate::getters::getters;
use crate::job::duration;
use crate::latencies::Latencies;
use crate::path::NativePath;
use crate::windows::{WindowLog, claim};

#[pyclass(frozen, module = "iostudy._native")]
pub struct EventJobs(Workload);

#[pymethods]
impl EventJobs {
    #[new]
    #[pyo3(signature = (
        paths, *, jobs, events_per_job, event_bytes, gap_bytes, reads, compute, compute_seconds,
        seconds, direct, seed
    ))]
    fn new(
        paths: Vec<NativePath>,
        jobs: usize,
        events_per_job: u64,
        event_bytes: usize,
        gap_bytes: u64,
        reads: usize,
        compute: &str,
        compute_seconds: f64,
        seconds: Option<f64>,
        direct: bool,
        seed: u64,
    ) -> PyResult<Self> {
        let workload = Workload {
            paths: paths.into_iter().map(|path| path.0).collect(),
            jobs,
            events_per_job,
            layout: Layout {
                event_bytes,
                gap_bytes,
                reads,
            },
            compute: parse_compute(compute, duration("compute_seconds", compute_seconds)?)?,
            time: seconds.map(|time| duration("seconds", time)).transpose()?,
            direct,
            seed,
        };
        workload.validate().map_err(value_error)?;
        Ok(Self(workload))
    }

    #[getter]
    fn file_bytes(&self) -> u64 {
        self.0.file_bytes()
    }

    #[pyo3(signature = (windows, tick = None))]
    fn repeat(
        &self,
        py: Python<'_>,
        windows: Py<WindowLog>,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let log = claim(windows.get(), self.0.jobs)?;
        run_job(py, tick.as_ref(), |tick| repeat(&self.0, log, tick))
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<EventResult> {
        run_job(py, tick.as_ref(), |tick| run(&self.0, tick)).map(EventResult)
    }
}

impl EventJobs {
    pub const fn workload(&self) -> &Workload {
        &self.0
    }
}

fn parse_compute(name: &str, time: Duration) -> PyResult<Compute> {
    match name {
        "burn" => Ok(Compute::Burn(time)),
        "sleep" => Ok(Compute::Sleep(time)),
        other => Err(unknown_value("compute", other, "burn, sleep")),
    }
}

/// Measurements of the jobs, in seconds.
#[pyclass(frozen, module = "iostudy._native")]
pub struct EventResult(EngineResult);

impl From<EngineResult> for EventResult {
    fn from(result: EngineResult) -> Self {
        Self(result)
    }
}

getters!(EventResult, this {
    events: u64 = this.0.events;
    read_bytes: u64 = this.0.read_bytes;
    fetched_bytes: Option<u64> = this.0.fetched_bytes;
    wall_seconds: f64 = this.0.wall.as_secs_f64();
    job_seconds: Vec<f64> = this.0.jobs.iter().map(Duration::as_secs_f64).collect();
    read_latencies: Latencies = Latencies::from(&this.0.latencies);
});

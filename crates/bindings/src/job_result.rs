//! Python classes `JobResult` and `IoStats`.

use std::time::Duration;

use hdrhistogram::Histogram;
use iostudy_engine::{Fallback, IoStats as EngineStats, JobResult as EngineResult, Phases};
use pyo3::prelude::*;

use crate::latencies::Latencies;

#[pyclass(frozen, module = "iostudy._native")]
pub struct JobResult(EngineResult);

impl From<EngineResult> for JobResult {
    fn from(result: EngineResult) -> Self {
        Self(result)
    }
}

#[pymethods]
impl JobResult {
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.read.bytes + self.0.write.bytes
    }

    #[getter]
    fn moved_bytes(&self) -> u64 {
        self.0.moved_bytes
    }

    #[getter]
    fn wall_seconds(&self) -> f64 {
        self.0.wall.as_secs_f64()
    }

    #[getter]
    fn thread_seconds(&self) -> Vec<f64> {
        self.0.threads.iter().map(Duration::as_secs_f64).collect()
    }

    #[getter]
    fn thread_phases(&self) -> Vec<(f64, f64, f64, f64)> {
        let seconds = |p: &Phases| {
            let [open, records, sync, close] =
                [p.open, p.records, p.sync, p.close].map(|phase| phase.as_secs_f64());
            (open, records, sync, close)
        };
        self.0.phases.iter().map(seconds).collect()
    }

    #[getter]
    fn read(&self) -> IoStats {
        IoStats::from(&self.0.read)
    }

    #[getter]
    fn write(&self) -> IoStats {
        IoStats::from(&self.0.write)
    }

    #[getter]
    fn sync(&self) -> Latencies {
        Latencies::from(&self.0.sync)
    }

    #[getter]
    fn unissued(&self) -> u64 {
        self.0.unissued
    }

    #[getter]
    fn fallbacks(&self) -> Vec<String> {
        self.0.fallbacks.iter().map(Fallback::to_string).collect()
    }

    #[getter]
    fn cpu_seconds(&self) -> f64 {
        self.0.cpu_seconds
    }
}

/// I/O statistics of one direction.
#[pyclass(frozen, module = "iostudy._native")]
pub struct IoStats {
    bytes: u64,
    latencies: Histogram<u64>,
}

impl IoStats {
    pub fn new(bytes: u64, latencies: &Histogram<u64>) -> Self {
        Self {
            bytes,
            latencies: latencies.clone(),
        }
    }
}

impl From<&EngineStats> for IoStats {
    fn from(stats: &EngineStats) -> Self {
        Self::new(stats.bytes, &stats.latencies)
    }
}

#[pymethods]
impl IoStats {
    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes
    }

    #[getter]
    fn latencies(&self) -> Latencies {
        Latencies::from(&self.latencies)
    }
}

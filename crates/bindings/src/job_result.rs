//! `JobResult`: what a job measured, in seconds.

use std::time::Duration;

use iostudy_engine::JobResult as Measured;
use pyo3::prelude::*;

use crate::latencies::Latencies;

#[pyclass(frozen, module = "iostudy._native")]
pub struct JobResult(Measured);

impl From<Measured> for JobResult {
    fn from(measured: Measured) -> Self {
        Self(measured)
    }
}

#[pymethods]
impl JobResult {
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    #[getter]
    fn wall_seconds(&self) -> f64 {
        self.0.wall.as_secs_f64()
    }

    #[getter]
    fn file_seconds(&self) -> Vec<f64> {
        self.0.files.iter().map(Duration::as_secs_f64).collect()
    }

    #[getter]
    fn latencies(&self) -> Latencies {
        Latencies::from(&self.0.latencies)
    }
}

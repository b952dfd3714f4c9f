//! `JobResult`: what a job measured, in seconds and microseconds.

use std::time::Duration;

use iostudy_engine::JobResult as Measured;
use pyo3::prelude::*;

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
    fn records(&self) -> u64 {
        self.0.latencies.len()
    }

    #[allow(clippy::needless_pass_by_value)] // taken over from Python
    fn latency_percentiles_us(&self, percentiles: Vec<f64>) -> Vec<f64> {
        let value = |percentile: &f64| self.0.latencies.value_at_percentile(*percentile);
        percentiles.iter().map(value).map(microseconds).collect()
    }

    #[getter]
    fn latency_max_us(&self) -> f64 {
        microseconds(self.0.latencies.max())
    }

    fn latency_histogram_us(&self) -> Vec<(f64, u64)> {
        let buckets = self.0.latencies.iter_recorded();
        buckets
            .map(|bucket| {
                (
                    microseconds(bucket.value_iterated_to()),
                    bucket.count_at_value(),
                )
            })
            .collect()
    }
}

#[allow(clippy::cast_precision_loss)] // exact up to 104 days
fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

//! Python classes `Latencies` and `Phase`: measurements that jobs share.

use std::time::Duration;

use hdrhistogram::Histogram;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::getters::getters;

/// View of a histogram in nanoseconds.
#[pyclass(frozen, module = "iostudy._native")]
pub struct Latencies(Histogram<u64>);

impl From<&Histogram<u64>> for Latencies {
    fn from(nanoseconds: &Histogram<u64>) -> Self {
        Self(nanoseconds.clone())
    }
}

#[pymethods]
impl Latencies {
    #[getter]
    fn count(&self) -> u64 {
        self.0.len()
    }

    fn percentiles_us(&self, percentiles: Vec<f64>) -> Vec<f64> {
        let value = |percentile: &f64| self.0.value_at_percentile(*percentile);
        percentiles.iter().map(value).map(microseconds).collect()
    }

    #[getter]
    fn max_us(&self) -> f64 {
        microseconds(self.0.max())
    }

    #[getter]
    fn mean_us(&self) -> f64 {
        self.0.mean() / 1e3
    }

    fn histogram_us(&self) -> Vec<(f64, u64)> {
        let buckets = self.0.iter_recorded();
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

/// Phase of a job; the base class of phases with more measurements.
#[pyclass(frozen, subclass, module = "iostudy._native")]
pub struct Phase {
    operation: &'static str,
    wall: Duration,
    latencies: Histogram<u64>,
}

impl Phase {
    pub fn new(operation: &'static str, wall: Duration, latencies: &Histogram<u64>) -> Self {
        Self {
            operation,
            wall,
            latencies: latencies.clone(),
        }
    }
}

getters!(Phase, this {
    operation: &'static str = this.operation;
    wall_seconds: f64 = this.wall.as_secs_f64();
    latencies: Latencies = Latencies::from(&this.latencies);
});

/// Pack values into bytes, without a Python object for each.
pub fn packed<const N: usize>(
    py: Python<'_>,
    count: usize,
    values: impl Iterator<Item = [u8; N]>,
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, N * count, |room| {
        for (place, value) in room.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&value);
        }
        Ok(())
    })
}

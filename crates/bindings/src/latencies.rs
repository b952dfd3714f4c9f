//! Python class `Latencies`: latency histogram in microseconds.

use hdrhistogram::Histogram;
use pyo3::prelude::*;

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

    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
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

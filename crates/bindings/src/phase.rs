//! Python class `Phase`: measurements that all phased jobs share.

use std::time::Duration;

use hdrhistogram::Histogram;
use pyo3::prelude::*;

use crate::latencies::Latencies;

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

#[pymethods]
impl Phase {
    #[getter]
    fn operation(&self) -> &'static str {
        self.operation
    }

    #[getter]
    fn wall_seconds(&self) -> f64 {
        self.wall.as_secs_f64()
    }

    #[getter]
    fn latencies(&self) -> Latencies {
        Latencies::from(&self.latencies)
    }
}

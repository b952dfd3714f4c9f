//! Python class `RecordsResult`: measurements of all record jobs.

use std::time::Duration;

use iostudy_records::CallStats;
use pyo3::prelude::*;

use crate::job_result::IoStats;

/// Base class of each job's result.
#[pyclass(frozen, subclass, module = "iostudy._native")]
pub struct RecordsResult {
    wall: Duration,
    call_stats: CallStats,
}

impl RecordsResult {
    pub fn new(wall: Duration, call_stats: &CallStats) -> Self {
        Self {
            wall,
            call_stats: call_stats.clone(),
        }
    }
}

#[pymethods]
impl RecordsResult {
    #[getter]
    fn wall_seconds(&self) -> f64 {
        self.wall.as_secs_f64()
    }

    #[getter]
    fn read(&self) -> IoStats {
        IoStats::new(self.call_stats.read_bytes, &self.call_stats.reads)
    }

    #[getter]
    fn write(&self) -> IoStats {
        IoStats::new(self.call_stats.written_bytes, &self.call_stats.writes)
    }
}

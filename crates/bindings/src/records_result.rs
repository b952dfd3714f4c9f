//! `RecordsResult`: what every job on records measures, in seconds.

use std::time::Duration;

use iostudy_records::CallStats;
use pyo3::prelude::*;

use crate::job_result::IoStats;

/// Each job's own result is a subclass.
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

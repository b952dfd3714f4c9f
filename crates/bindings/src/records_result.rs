//! `RecordsResult`: what every job on records measures, in seconds.

use std::time::Duration;

use iostudy_records::Calls;
use pyo3::prelude::*;

use crate::job_result::IoStats;

/// Each job's own result is a subclass.
#[pyclass(frozen, subclass, module = "iostudy._native")]
pub struct RecordsResult {
    wall: Duration,
    calls: Calls,
}

impl RecordsResult {
    pub fn new(wall: Duration, calls: &Calls) -> Self {
        Self {
            wall,
            calls: calls.clone(),
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
        IoStats::new(self.calls.read_bytes, &self.calls.reads)
    }

    #[getter]
    fn write(&self) -> IoStats {
        IoStats::new(self.calls.written_bytes, &self.calls.writes)
    }
}

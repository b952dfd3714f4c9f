//! Python class `WindowLog`.

use iostudy_windows::{MonotonicClock, Window, WindowCounts, WindowLog as Log};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::job_result::IoStats;

#[pyclass(frozen, module = "iostudy._native")]
pub struct WindowLog {
    log: Log,
    clock: MonotonicClock,
}

#[pymethods]
impl WindowLog {
    #[new]
    fn new() -> Self {
        Self {
            log: Log::new(),
            clock: MonotonicClock::new(),
        }
    }

    fn open(&self, py: Python<'_>, start: f64, end: f64) -> PyResult<()> {
        let instant = |seconds| self.clock.instant(seconds);
        let Some((start_at, end_at)) = instant(start).zip(instant(end)) else {
            return Err(value_error(format!("no window from {start} to {end}")));
        };
        let window = Window {
            start: start_at,
            end: end_at,
        };
        py.detach(|| self.log.open(window))
            .map_err(|reason| value_error(format!("the window from {start} to {end}: {reason}")))
    }

    fn completed(&self, py: Python<'_>) -> Vec<Vec<IoStats>> {
        let completed = py.detach(|| self.log.completed());
        completed.iter().map(to_python).collect()
    }
}

/// Window log of a job with this number of workers. A log serves one job.
pub fn claim(windows: &WindowLog, workers: usize) -> PyResult<&Log> {
    if windows.log.claim(workers) {
        Ok(&windows.log)
    } else {
        Err(value_error(
            "another job uses these windows; create a new WindowLog",
        ))
    }
}

/// Refuse to repeat operations that leave other files than they find.
pub fn require_cycle(is_cycle: bool) -> PyResult<()> {
    if is_cycle {
        Ok(())
    } else {
        Err(value_error(
            "the operations leave other files than they find; they cannot be repeated",
        ))
    }
}

fn to_python(window: &WindowCounts) -> Vec<IoStats> {
    window.counts.iter().map(IoStats::from).collect()
}

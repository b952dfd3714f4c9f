//! Python class `MrBenchModel`.

use std::time::Duration;

use iostudy_simulated_jobs::mrbench::{JobTimes, MrBench};
use pyo3::prelude::*;

use crate::path::NativePath;

/// Wall time, starts of processes, storage operations, and busy time of a job, in seconds.
pub type PyJobTimes = (f64, Vec<f64>, Vec<(&'static str, f64)>, f64);

#[pyclass(frozen, module = "iostudy._native")]
pub struct MrBenchModel(MrBench);

#[pymethods]
impl MrBenchModel {
    #[new]
    #[pyo3(signature = (directory, *, jobs, maps, reduces, fsync, input_bytes))]
    fn new(
        directory: NativePath,
        jobs: u64,
        maps: u64,
        reduces: u64,
        fsync: bool,
        input_bytes: u64,
    ) -> Self {
        Self(MrBench {
            directory: directory.0,
            jobs,
            maps,
            reduces,
            fsync,
            input_bytes,
        })
    }
}

impl MrBenchModel {
    pub const fn jobs(&self) -> &MrBench {
        &self.0
    }
}

pub fn to_python(times: JobTimes) -> PyJobTimes {
    let operations = times.operations.into_iter();
    (
        times.wall.as_secs_f64(),
        times.starts.iter().map(Duration::as_secs_f64).collect(),
        operations
            .map(|(name, time)| (name, time.as_secs_f64()))
            .collect(),
        times.busy.as_secs_f64(),
    )
}

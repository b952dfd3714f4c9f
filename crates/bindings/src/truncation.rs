//! Python class `Truncation`.

use iostudy_engine::{Truncation as Job, truncate};
use pyo3::prelude::*;

use crate::errors::from_engine;
use crate::interruptible::run_interruptibly;
use crate::job::parse_sync;
use crate::job_result::JobResult;
use crate::path::NativePath;
use crate::value_error::value_error;

#[pyclass(frozen, module = "iostudy._native")]
pub struct Truncation(Job);

#[pymethods]
impl Truncation {
    #[new]
    #[pyo3(signature = (paths, *, size, sync = None))]
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn new(paths: Vec<NativePath>, size: u64, sync: Option<String>) -> PyResult<Self> {
        let job = Job {
            paths: paths.into_iter().map(|path| path.0).collect(),
            bytes: size,
            sync: sync.as_deref().map(parse_sync).transpose()?,
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
    }

    #[pyo3(signature = (tick = None))]
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<JobResult> {
        run_interruptibly(py, tick.as_ref(), |tick| truncate(&self.0, || tick(0)))?
            .map(JobResult::from)
            .map_err(|error| from_engine(py, &error))
    }
}

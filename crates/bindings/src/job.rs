//! `FileJob`: what each file's thread does, and carrying it out.

use iostudy_engine::{Job, Operation, run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::from_engine;
use crate::job_result::JobResult;
use crate::path::NativePath;
use crate::ticking::ticking;

#[pyclass(frozen, module = "iostudy._native")]
pub struct FileJob(Job);

#[pymethods]
impl FileJob {
    #[new]
    #[pyo3(signature = (
        paths, *, operation, file_bytes, record_bytes, direct, fsync, seed, engine = "psync"
    ))]
    #[allow(clippy::too_many_arguments)] // keyword arguments, named by whoever calls
    fn new(
        paths: Vec<NativePath>,
        operation: &str,
        file_bytes: u64,
        record_bytes: usize,
        direct: bool,
        fsync: bool,
        seed: u64,
        engine: &str,
    ) -> PyResult<Self> {
        if engine != "psync" {
            return Err(refuse(format!("engine is {engine:?}; allowed: psync")));
        }
        let paths = paths.into_iter().map(|path| path.0).collect();
        let operation = parse_operation(operation, fsync)?;
        let job = Job {
            paths,
            operation,
            file_bytes,
            record_bytes,
            direct,
            seed,
        };
        job.validate()
            .map_err(|invalid| refuse(invalid.to_string()))?;
        Ok(Self(job))
    }

    #[pyo3(signature = (tick = None))]
    #[allow(clippy::needless_pass_by_value)] // taken over from Python
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<JobResult> {
        ticking(py, tick.as_ref(), |tick| run(&self.0, tick))?
            .map(JobResult::from)
            .map_err(|error| from_engine(py, &error))
    }
}

fn parse_operation(operation: &str, fsync: bool) -> PyResult<Operation> {
    match (operation, fsync) {
        ("write", fsync) => Ok(Operation::Write { fsync }),
        ("read", false) => Ok(Operation::Read),
        ("read", true) => Err(refuse("fsync is for operation 'write' only".into())),
        _ => Err(refuse(format!(
            "operation is {operation:?}; allowed: write, read"
        ))),
    }
}

fn refuse(message: String) -> PyErr {
    PyValueError::new_err(message)
}

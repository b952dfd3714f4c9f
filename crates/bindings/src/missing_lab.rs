//! The answer to names of the lab in a build without it.

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

const NAMES: [&str; 7] = [
    "DriveModel",
    "MrBenchModel",
    "RunningDrive",
    "SimulatedDisk",
    "TraceReplay",
    "TraceReplayResult",
    "serve_drive",
];

/// Called by Python for each name that the module does not have.
#[pyfunction]
pub fn __getattr__(py: Python<'_>, name: &str) -> PyResult<()> {
    if !NAMES.contains(&name) {
        return Err(PyAttributeError::new_err(name.to_owned()));
    }
    let details = [
        ("found", "a build without drive models and the simulator"),
        ("where", "the native module of iostudy"),
        (
            "remedy",
            "run `make extras` in the clone that iostudy was built from",
        ),
    ];
    let error = py.import("iostudy.errors")?.getattr("UsageError")?;
    let error = error.call(
        (format!("{name} of the lab"),),
        Some(&details.into_py_dict(py)?),
    )?;
    Err(PyErr::from_value(error))
}

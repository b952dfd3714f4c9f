//! Python function `serve_drive`.

use std::path::PathBuf;

use iostudy_drive::{Drive, Parameters};
use iostudy_drive_device::{Place, serve};
use pyo3::prelude::*;

use crate::value_error::value_error;

/// Serve a drive until its mount point is unmounted; `serving` is called once it is there.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
pub fn serve_drive(
    py: Python<'_>,
    parameters: &str,
    mount_point: PathBuf,
    socket: Option<PathBuf>,
    memory_limit: u64,
    serving: Py<PyAny>,
) -> PyResult<()> {
    let parameters: Parameters = serde_json::from_str(parameters)
        .map_err(|reason| value_error(format!("parameters of a drive: {reason}")))?;
    let place = Place {
        mount_point,
        socket,
        memory_limit,
    };
    let mut called = Ok(());
    let ended = py.detach(|| {
        let drive = Drive::new(parameters);
        serve(drive, &place, || {
            called = Python::attach(|py| serving.call0(py).map(|_| ()));
        })
    });
    called?;
    Ok(ended?)
}

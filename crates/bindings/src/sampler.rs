//! `Sampler` and `Samples`.

use std::time::Duration;

use iostudy_sampler::{COUNTERS, CPU_STATES, PRESSURES};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

/// Far below what the clock can count up to.
const LONGEST_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

#[pyclass(module = "iostudy._native")]
pub struct Sampler {
    devices: Vec<String>,
    interval: Duration,
    running: Option<iostudy_sampler::Sampler>,
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(devices: Vec<String>, interval_seconds: f64) -> PyResult<Self> {
        let interval = Duration::try_from_secs_f64(interval_seconds)
            .ok()
            .filter(|interval| !interval.is_zero() && *interval <= LONGEST_INTERVAL)
            .ok_or_else(|| {
                let wanted = "interval_seconds must be more than 0 and at most a day";
                PyValueError::new_err(wanted)
            })?;
        Ok(Self {
            devices,
            interval,
            running: None,
        })
    }

    fn start(&mut self) -> PyResult<()> {
        if self.running.is_some() {
            return Err(PyRuntimeError::new_err(
                "the sampler has been started already",
            ));
        }
        self.running = Some(iostudy_sampler::Sampler::start(
            &self.devices,
            self.interval,
        )?);
        Ok(())
    }

    fn stop(&mut self, py: Python<'_>) -> PyResult<Samples> {
        let running = self.running.take();
        let running =
            running.ok_or_else(|| PyRuntimeError::new_err("the sampler has not been started"))?;
        Ok(Samples(py.detach(|| running.stop())?))
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct Samples(iostudy_sampler::Samples);

#[pymethods]
impl Samples {
    #[getter]
    fn seconds(&self) -> Vec<f64> {
        self.0.seconds.clone()
    }

    fn disk<'py>(&self, py: Python<'py>, device: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = self.0.disks.iter().find(|(name, _)| name == device);
        let (_, rows) = found.ok_or_else(|| PyKeyError::new_err(device.to_owned()))?;
        columns(py, &COUNTERS, rows, |row, index| {
            row.map(|counters| counters[index])
        })
    }

    fn cpu<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &CPU_STATES, &self.0.cpu, |ticks, index| ticks[index])
    }

    fn pressure<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns(py, &PRESSURES, &self.0.pressures, |stalled, index| {
            stalled[index]
        })
    }
}

/// Rows as columns by name, in the order of the names.
fn columns<'py, R: Copy, T: IntoPyObject<'py>>(
    py: Python<'py>,
    names: &[&str],
    rows: &[R],
    field: impl Fn(R, usize) -> T,
) -> PyResult<Bound<'py, PyDict>> {
    let column = |index| {
        rows.iter()
            .map(|row| field(*row, index))
            .collect::<Vec<T>>()
    };
    names
        .iter()
        .enumerate()
        .map(|(index, name)| (*name, column(index)))
        .into_py_dict(py)
}

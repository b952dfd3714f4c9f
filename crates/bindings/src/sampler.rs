//! `Sampler` and `Samples`.

use std::collections::HashMap;
use std::time::Duration;

use iostudy_sampler::{COUNTERS, CPU_STATES, PRESSURES};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

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
            .filter(|interval| !interval.is_zero())
            .ok_or_else(|| PyValueError::new_err("interval_seconds must be more than 0"))?;
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

type Columns<T> = HashMap<&'static str, Vec<T>>;

#[pymethods]
impl Samples {
    #[getter]
    fn seconds(&self) -> Vec<f64> {
        self.0.seconds.clone()
    }

    fn disk(&self, device: &str) -> PyResult<Columns<Option<u64>>> {
        let found = self.0.disks.iter().find(|(name, _)| name == device);
        let (_, rows) = found.ok_or_else(|| PyKeyError::new_err(device.to_owned()))?;
        Ok(columns(&COUNTERS, rows, |row, index| {
            row.map(|counters| counters[index])
        }))
    }

    fn cpu(&self) -> Columns<u64> {
        columns(&CPU_STATES, &self.0.cpu, |ticks, index| ticks[index])
    }

    fn pressure(&self) -> Columns<Option<u64>> {
        columns(&PRESSURES, &self.0.pressures, |stalled, index| {
            stalled[index]
        })
    }
}

/// Rows as columns by name.
fn columns<R: Copy, T>(
    names: &[&'static str],
    rows: &[R],
    field: impl Fn(R, usize) -> T,
) -> Columns<T> {
    let column = |index| rows.iter().map(|row| field(*row, index)).collect();
    names
        .iter()
        .enumerate()
        .map(|(index, name)| (*name, column(index)))
        .collect()
}

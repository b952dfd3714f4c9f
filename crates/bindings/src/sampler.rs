//! Python classes `Sampler`, `Reader` and `Samples`.

use std::time::Duration;

use iostudy_sampler::{Depth, SamplingScope};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::latencies::packed;

/// Maximum interval, far below the clock's range.
const LONGEST_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

#[pyclass(module = "iostudy._native")]
pub struct Sampler {
    scope: SamplingScope,
    interval: Duration,
    running: Option<iostudy_sampler::Sampler>,
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(
        devices: Option<Vec<String>>,
        workload: Vec<u32>,
        interval_seconds: f64,
    ) -> PyResult<Self> {
        let interval = Duration::try_from_secs_f64(interval_seconds)
            .ok()
            .filter(|interval| !interval.is_zero() && *interval <= LONGEST_INTERVAL)
            .ok_or_else(|| {
                let wanted = "interval_seconds must be more than 0 and at most a day";
                PyValueError::new_err(wanted)
            })?;
        Ok(Self {
            scope: SamplingScope { devices, workload },
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
        self.running = Some(iostudy_sampler::Sampler::start(&self.scope, self.interval)?);
        Ok(())
    }

    fn stop(&mut self, py: Python<'_>) -> PyResult<Samples> {
        let running = self.running.take();
        let running =
            running.ok_or_else(|| PyRuntimeError::new_err("the sampler has not been started"))?;
        Ok(Samples(py.detach(|| running.stop())))
    }
}

#[pyclass(module = "iostudy._native")]
pub struct Reader(iostudy_sampler::Reader);

#[pymethods]
impl Reader {
    #[new]
    fn new(devices: Option<Vec<String>>, workload: Vec<u32>) -> Self {
        Self(iostudy_sampler::Reader::open(&SamplingScope {
            devices,
            workload,
        }))
    }

    fn sample(&mut self, py: Python<'_>) {
        py.detach(|| self.0.sample(Depth::Files));
    }

    fn take(&mut self) -> Samples {
        Samples(self.0.take())
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct Samples(iostudy_sampler::Samples);

#[pymethods]
impl Samples {
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.0
            .columns
            .iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    fn timestamps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        packed(
            py,
            self.0.at.len(),
            self.0.at.iter().map(|at| at.to_ne_bytes()),
        )
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let count = self.0.columns.len() * self.0.at.len();
        let values = self.0.columns.iter().flat_map(|(_, column)| column);
        packed(
            py,
            count,
            values.map(|value| as_float(*value).to_ne_bytes()),
        )
    }

    fn processes(&self) -> Vec<Process<'_>> {
        self.0.processes.iter().map(process).collect()
    }
}

/// Pid, name, workload flag, CPU time in microseconds, bytes read, bytes written.
type Process<'a> = (u32, &'a str, bool, u64, u64, u64);

fn process(process: &iostudy_sampler::Process) -> Process<'_> {
    (
        process.pid,
        &process.name,
        process.is_workload,
        process.cpu_us,
        process.read_bytes,
        process.written_bytes,
    )
}

/// NaN for a missing value.
#[allow(clippy::cast_precision_loss)] // counters stay below 2^53
fn as_float(value: Option<u64>) -> f64 {
    value.map_or(f64::NAN, |value| value as f64)
}

//! Python classes `BlockEvents` and `BlockRequests`.

use std::path::PathBuf;

use iostudy_block_events::event::Operation;
use iostudy_block_events::{Recording, RecordingResult};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::latencies::Latencies;

#[pyclass(module = "iostudy._native")]
pub struct BlockEvents {
    instance: PathBuf,
    running: Option<Recording>,
}

#[pymethods]
impl BlockEvents {
    #[new]
    fn new(instance: PathBuf) -> Self {
        Self {
            instance,
            running: None,
        }
    }

    fn start(&mut self) -> PyResult<()> {
        if self.running.is_some() {
            return Err(PyRuntimeError::new_err("it has been started already"));
        }
        self.running = Some(Recording::start(&self.instance)?);
        Ok(())
    }

    fn stop(&mut self, py: Python<'_>) -> PyResult<BlockRequests> {
        let running = self.running.take();
        let running = running.ok_or_else(|| PyRuntimeError::new_err("it has not been started"))?;
        Ok(BlockRequests(py.detach(|| running.stop())?))
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct BlockRequests(RecordingResult);

/// Device, operation, latencies, and sizes as (bytes, count).
type Requests = (String, &'static str, Latencies, Vec<(u64, u64)>);

#[pymethods]
impl BlockRequests {
    fn operations(&self) -> Vec<Requests> {
        let requests = self.0.matched.requests.iter();
        requests
            .map(|((device, operation), own)| {
                let sizes = own.sizes.iter().map(|(bytes, count)| (*bytes, *count));
                let latencies = Latencies::from(&own.latencies);
                (
                    number(*device),
                    name(*operation),
                    latencies,
                    sizes.collect(),
                )
            })
            .collect()
    }

    /// Device, thread and bytes of its bios.
    fn submitted_bytes(&self) -> Vec<(String, u32, u64)> {
        let submitted = self.0.matched.submitted_bytes.iter();
        submitted
            .map(|((device, thread), bytes)| (number(*device), *thread, *bytes))
            .collect()
    }

    #[getter]
    fn events(&self) -> u64 {
        self.0.events
    }

    #[getter]
    fn lost_events(&self) -> u64 {
        self.0.lost_events
    }

    #[getter]
    fn unmatched_completions(&self) -> u64 {
        self.0.matched.unmatched_completions
    }

    #[getter]
    fn unmatched_issues(&self) -> u64 {
        self.0.matched.unmatched_issues
    }

    #[getter]
    fn reader_cpu_seconds(&self) -> f64 {
        self.0.reader_cpu.as_secs_f64()
    }
}

/// Major and minor number as the kernel prints them.
fn number(device: u32) -> String {
    format!("{}:{}", device >> 20, device & ((1 << 20) - 1))
}

fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Discard => "discard",
        Operation::Flush => "flush",
    }
}

//! Python classes `BlockTrace` and `BlockEventBatch`.

use std::borrow::Cow;
use std::path::PathBuf;

use iostudy_block_events::decoder::TraceEntry;
use iostudy_block_events::traced_event::TracedEvent;
use iostudy_block_events::{Batch, Trace};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::latencies::packed;

type Entry = TraceEntry<TracedEvent>;

/// Value of a column for an entry without it.
const MISSING: i64 = -1;

#[pyclass(module = "iostudy._native")]
pub struct BlockTrace {
    instance: PathBuf,
    events: Vec<String>,
    running: Option<Trace>,
}

#[pymethods]
impl BlockTrace {
    #[new]
    fn new(instance: PathBuf, events: Vec<String>) -> Self {
        Self {
            instance,
            events,
            running: None,
        }
    }

    fn start(&mut self) -> PyResult<()> {
        if self.running.is_some() {
            return Err(PyRuntimeError::new_err("it has been started already"));
        }
        self.running = Some(Trace::start(&self.instance, &self.events)?);
        Ok(())
    }

    fn read(&mut self, py: Python<'_>) -> PyResult<BlockEventBatch> {
        let running = self.running.as_mut().ok_or_else(not_started)?;
        Ok(BlockEventBatch(py.detach(|| running.read())?))
    }

    fn stop(&mut self, py: Python<'_>) -> PyResult<BlockEventBatch> {
        let running = self.running.take().ok_or_else(not_started)?;
        Ok(BlockEventBatch(py.detach(|| running.stop())?))
    }
}

fn not_started() -> PyErr {
    PyRuntimeError::new_err("it has not been started")
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct BlockEventBatch(Batch);

#[pymethods]
impl BlockEventBatch {
    #[getter]
    fn lost_events(&self) -> u64 {
        self.0.lost_events
    }

    fn __len__(&self) -> usize {
        self.0.entries.len()
    }

    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&'static str, Bound<'py, PyBytes>)>> {
        let column = |(name, value): &Column| {
            let values = self
                .0
                .entries
                .iter()
                .map(|entry| value(entry).to_ne_bytes());
            Ok((*name, packed(py, self.0.entries.len(), values)?))
        };
        NUMBERS.iter().map(column).collect()
    }

    fn operations(&self) -> Vec<Cow<'_, str>> {
        self.texts(|event| event.rwbs.as_str())
    }

    fn commands(&self) -> Vec<Cow<'_, str>> {
        self.texts(|event| event.command.as_str())
    }
}

impl BlockEventBatch {
    fn texts(&self, text: fn(&TracedEvent) -> Cow<'_, str>) -> Vec<Cow<'_, str>> {
        let entries = self.0.entries.iter();
        let own = |entry| event(entry).map_or(Cow::Borrowed(""), text);
        entries.map(own).collect()
    }
}

/// Name of a column of numbers, and its value of an entry.
type Column = (&'static str, fn(&Entry) -> i64);

const NUMBERS: [Column; 7] = [
    ("time_ns", |entry| signed(entry.at())),
    ("kind", |entry| {
        number(entry, |event| Some(event.kind.into()))
    }),
    ("device", |entry| {
        number(entry, |event| Some(event.extent?.device.into()))
    }),
    ("sector", |entry| {
        number(entry, |event| Some(signed(event.extent?.sector)))
    }),
    ("sectors", |entry| {
        number(entry, |event| Some(signed(event.extent?.sectors)))
    }),
    ("pid", |entry| number(entry, |event| Some(event.pid.into()))),
    ("cpu", |entry| number(entry, |event| Some(event.cpu.into()))),
];

fn number(entry: &Entry, value: fn(&TracedEvent) -> Option<i64>) -> i64 {
    event(entry).and_then(value).unwrap_or(MISSING)
}

fn event(entry: &Entry) -> Option<&TracedEvent> {
    match entry {
        TraceEntry::Event(event) => Some(event),
        TraceEntry::Lost(_) => None,
    }
}

/// The kernel marks a position that does not exist by the largest number, which becomes -1.
const fn signed(value: u64) -> i64 {
    i64::from_ne_bytes(value.to_ne_bytes())
}

//! Python classes `TraceReplay` and `TraceReplayResult`.

use std::time::Duration;

use iostudy_latency::merge;
use iostudy_schedulers::{Bio, ProcessId};
use iostudy_simulator::{Action, ReplayFigures, TracedBio};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::getters::getters;
use crate::job_result::IoStats;
use crate::latencies::Latencies;

/// Attributes of a `TracedBio`, which documents them.
#[derive(FromPyObject)]
struct Traced {
    start: u64,
    sectors: u32,
    is_read: bool,
    is_sync: bool,
    flushes: bool,
    after: u64,
    delay_ns: u64,
}

impl Traced {
    fn traced(&self, process: ProcessId) -> TracedBio {
        let read = Bio::read(process, self.start, self.sectors);
        let write = Bio {
            sync: self.is_sync,
            ..Bio::write(process, self.start, self.sectors)
        };
        TracedBio {
            bio: if self.is_read { read } else { write },
            action: match (self.flushes, self.sectors) {
                (true, 0) => Action::Flush,
                (true, _) => Action::FlushAndData,
                (false, _) => Action::Data,
            },
            after: self.after,
            delay: self.delay_ns,
        }
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct TraceReplay(Vec<Vec<TracedBio>>);

#[pymethods]
impl TraceReplay {
    #[new]
    fn new(threads: Vec<Vec<Traced>>) -> Self {
        let traced = |(process, own): (u32, &Vec<Traced>)| {
            let bios = own.iter().map(|bio| bio.traced(ProcessId(process)));
            bios.collect()
        };
        Self((0..).zip(&threads).map(traced).collect())
    }

    #[pyo3(signature = (tick = None))]
    #[allow(clippy::unused_self)] // the signature of all jobs
    fn run(&self, tick: Option<Py<PyAny>>) -> PyResult<TraceReplayResult> {
        drop(tick);
        let message = "a trace is replayed on a simulated disk only";
        Err(PyRuntimeError::new_err(message))
    }
}

impl TraceReplay {
    /// The bios of each thread. `start` delays the first one.
    pub fn threads(&self, start: impl Fn(usize) -> u64) -> Vec<Vec<TracedBio>> {
        let mut threads = self.0.clone();
        for (index, own) in threads.iter_mut().enumerate() {
            if let Some(first) = own.first_mut() {
                first.delay += start(index);
            }
        }
        threads
    }
}

/// Figures of a replay.
#[pyclass(frozen, module = "iostudy._native")]
pub struct TraceReplayResult(ReplayFigures);

impl From<ReplayFigures> for TraceReplayResult {
    fn from(figures: ReplayFigures) -> Self {
        Self(figures)
    }
}

getters!(TraceReplayResult, this {
    seconds: f64 = Duration::from_nanos(this.0.duration).as_secs_f64();
    latencies: Latencies = { let mut all = this.0.read.latencies.clone(); merge(&mut all, &this.0.write.latencies); Latencies::from(&all) };
    read: IoStats = IoStats::new(this.0.read.bytes, &this.0.read.latencies);
    write: IoStats = IoStats::new(this.0.write.bytes, &this.0.write.latencies);
});

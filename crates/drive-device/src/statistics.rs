//! Statistics of a served drive.

use iostudy_drive::{Nanos, Operation};
use iostudy_latency::{Latencies, empty_latencies};
use serde::Serialize;

/// Counts and times since the start of the server.
#[derive(Debug)]
pub struct Statistics {
    reads: u64,
    writes: u64,
    flushes: u64,
    service: u128,
    lateness: Latencies,
}

impl Default for Statistics {
    fn default() -> Self {
        Self {
            reads: 0,
            writes: 0,
            flushes: 0,
            service: 0,
            lateness: empty_latencies(),
        }
    }
}

/// Circumstances that are not counted per command.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Circumstances {
    /// Most commands that the model had at once.
    pub most_in_flight: usize,
    /// Commands that arrived while the model's queue was full.
    pub over_depth: u64,
    /// Memory that the data take.
    pub memory_bytes: u64,
    /// Limit of that memory.
    pub memory_limit_bytes: u64,
    /// Whether the serving threads have a real-time priority.
    pub realtime: bool,
}

#[derive(Serialize)]
struct Report {
    reads: u64,
    writes: u64,
    flushes: u64,
    /// Sum of the service times of the model.
    service_ns: u128,
    /// Pairs of lateness and count, ascending.
    lateness_ns: Vec<(u64, u64)>,
    #[serde(flatten)]
    circumstances: Circumstances,
}

impl Statistics {
    /// Count a completed command.
    pub fn record(&mut self, operation: Operation, service: Nanos, lateness: Nanos) {
        match operation {
            Operation::Read => self.reads += 1,
            Operation::Write => self.writes += 1,
            Operation::Flush => self.flushes += 1,
        }
        self.service += u128::from(service);
        let recorded = self.lateness.record(lateness);
        recorded.expect("an auto-resizing histogram accepts every value");
    }

    /// The statistics as JSON.
    pub fn to_json(&self, circumstances: Circumstances) -> String {
        let report = Report {
            reads: self.reads,
            writes: self.writes,
            flushes: self.flushes,
            service_ns: self.service,
            lateness_ns: self
                .lateness
                .iter_recorded()
                .map(|each| (each.value_iterated_to(), each.count_at_value()))
                .collect(),
            circumstances,
        };
        serde_json::to_string(&report).expect("numbers and names are JSON")
    }
}

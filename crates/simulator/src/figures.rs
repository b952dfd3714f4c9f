//! Figures of a simulation.

use iostudy_schedulers::Nanos;

/// Figures of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessFigures {
    /// Sectors of its completed requests.
    pub sectors: u64,
    /// Times from submission to completion, sorted.
    latencies: Vec<Nanos>,
}

impl ProcessFigures {
    /// Completed requests.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.latencies.len()
    }

    /// Latency that `percent` of the requests do not exceed; none without requests.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Option<Nanos> {
        let rank = (self.latencies.len() * percent.min(100))
            .div_ceil(100)
            .max(1);
        self.latencies.get(rank - 1).copied()
    }

    pub(crate) fn add(&mut self, sectors: u32, latency: Nanos) {
        self.sectors += u64::from(sectors);
        self.latencies.push(latency);
    }

    pub(crate) fn sort(&mut self) {
        self.latencies.sort_unstable();
    }
}

/// Figures of a simulation after its warm-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Figures of each process.
    pub processes: Vec<ProcessFigures>,
    /// Measured time.
    pub duration: Nanos,
    /// Requests that the device received.
    pub dispatched: u64,
    /// Of these, requests that do not begin at the end of the previous one.
    pub seeks: u64,
    /// Submitted requests that joined another one.
    pub merges: u64,
    /// Time in which requests were queued and the device had none.
    pub idle: Nanos,
}

impl Figures {
    /// Sectors that all processes moved.
    #[must_use]
    pub fn sectors(&self) -> u64 {
        self.processes.iter().map(|process| process.sectors).sum()
    }

    /// Throughput of all processes in bytes per second.
    #[must_use]
    pub fn bytes_per_second(&self) -> u64 {
        let bytes = u128::from(self.sectors()) * 512 * 1_000_000_000;
        u64::try_from(bytes / u128::from(self.duration.max(1))).unwrap_or(u64::MAX)
    }
}

//! Results of I/O jobs.

use std::time::{Duration, Instant};

use iostudy_latency::{IoStats, Latencies, empty_latencies, merge};
use rustix::io::Errno;
use thiserror::Error;

use crate::meter::ThreadStats;

/// Durations of a thread's phases, including the ramp time.
#[derive(Debug, Clone, Copy)]
pub struct Phases {
    /// open(2), preallocation and advice of all files.
    pub open: Duration,
    /// First record to last record.
    pub records: Duration,
    /// Sync calls at the end.
    pub sync: Duration,
    /// close(2) of all files.
    pub close: Duration,
}

/// Measurements of one thread.
pub(crate) struct ThreadResult {
    /// Start of the measurement.
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) phases: Phases,
    pub(crate) cpu_seconds: f64,
    pub(crate) unissued: u64,
    pub(crate) stats: ThreadStats,
    pub(crate) fallback: Option<Fallback>,
}

/// Measurements of a job after its ramp time.
#[derive(Debug, Clone)]
pub struct JobResult {
    /// First start to last end.
    pub wall: Duration,
    /// Duration of each thread, in job order.
    pub threads: Vec<Duration>,
    /// Phases of each thread, in job order.
    pub phases: Vec<Phases>,
    /// Bytes read and written, including the ramp time.
    pub moved_bytes: u64,
    /// Read statistics.
    pub read: IoStats,
    /// Write statistics.
    pub write: IoStats,
    /// Latencies of single sync calls, in nanoseconds.
    pub sync: Latencies,
    /// Estimated number of open-loop arrivals that were not issued before the deadline.
    pub unissued: u64,
    /// CPU time of all threads in user and kernel mode, including the ramp time.
    pub cpu_seconds: f64,
    /// Deviations from the requested method, each once.
    pub fallbacks: Vec<Fallback>,
}

impl JobResult {
    /// Merge the measurements of the threads.
    pub(crate) fn merge(threads: Vec<ThreadResult>) -> Self {
        let mut all = Self {
            wall: wall(&threads).unwrap_or_default(),
            threads: threads.iter().map(duration).collect(),
            phases: threads.iter().map(|thread| thread.phases).collect(),
            moved_bytes: threads.iter().map(|t| t.stats.moved_bytes).sum(),
            read: IoStats::new(),
            write: IoStats::new(),
            sync: empty_latencies(),
            unissued: threads.iter().map(|thread| thread.unissued).sum(),
            cpu_seconds: threads.iter().map(|thread| thread.cpu_seconds).sum(),
            fallbacks: Vec::new(),
        };
        for thread in threads {
            all.read.merge(&thread.stats.read);
            all.write.merge(&thread.stats.write);
            merge(&mut all.sync, &thread.stats.sync);
            if let Some(fallback) = thread
                .fallback
                .filter(|fallback| !all.fallbacks.contains(fallback))
            {
                all.fallbacks.push(fallback);
            }
        }
        all
    }
}

/// Zero for a thread that ended before the measurement started.
fn duration(thread: &ThreadResult) -> Duration {
    thread.ended.saturating_duration_since(thread.started)
}

fn wall(threads: &[ThreadResult]) -> Option<Duration> {
    let start: Instant = threads.iter().map(|thread| thread.started).min()?;
    let end: Instant = threads.iter().map(|thread| thread.ended).max()?;
    Some(end.saturating_duration_since(start))
}

/// Deviation from the requested method because of a kernel restriction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Fallback {
    /// `io_uring` is not available; the job used pread(2) and pwrite(2) with depth 1.
    #[error("io_uring cannot be used here ({errno}): psync instead, with depth 1")]
    NoIoUring {
        /// Error number from the kernel.
        errno: Errno,
    },
    /// The kernel had to map the buffer of every record.
    #[error("the buffers of io_uring are not registered ({errno}){}", reason(*errno))]
    BuffersUnregistered {
        /// Error number from the kernel.
        errno: Errno,
    },
}

/// Explanation of an errno of buffer registration. Source: `io_uring_register(2)`;
/// `io_uring/rsrc.c` of the kernel.
fn reason(errno: Errno) -> &'static str {
    match errno {
        Errno::NOMEM => "; ulimit -l limits their memory",
        Errno::INVAL => "; before Linux 5.13 there may be 1024 of them, one for each of the depth",
        Errno::FAULT => "; none may be larger than 1 GiB, and each holds a record",
        _ => "",
    }
}

#[cfg(test)]
mod fallback_tests {
    use super::*;

    #[test]
    fn unregistered_buffers_have_an_explanation_of_the_errno() {
        let message = |errno| Fallback::BuffersUnregistered { errno }.to_string();
        assert!(message(Errno::NOMEM).contains("ulimit -l"));
        assert!(message(Errno::INVAL).contains("1024"));
        assert!(message(Errno::FAULT).contains("1 GiB"));
        assert!(message(Errno::OPNOTSUPP).ends_with(')'));
    }
}

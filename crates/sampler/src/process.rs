//! What a single process has done.

/// What a process has done between two scans, with those of its children that were too short to be
/// seen themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// As of `getpid(2)`.
    pub pid: u32,
    /// As of `comm` in proc(5), at most 15 bytes, printable.
    pub name: String,
    /// Whether it belongs to the workload.
    pub of_workload: bool,
    /// User and system time of all its threads, in microseconds.
    pub cpu_us: u64,
    /// Bytes that it caused to be read from storage.
    pub read_bytes: u64,
    /// Bytes that it caused to be written to storage, now or later.
    pub written_bytes: u64,
}

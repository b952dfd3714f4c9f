//! Activity of a single process.

/// Activity of a process between two scans, with that of its children that ended unobserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// `comm` of proc(5): at most 15 bytes, printable.
    pub name: String,
    /// Whether the process belongs to the workload.
    pub is_workload: bool,
    /// User and system time of all threads, in microseconds.
    pub cpu_us: u64,
    /// Bytes read from storage.
    pub read_bytes: u64,
    /// Bytes written to storage, now or later.
    pub written_bytes: u64,
}

//! Counters of a mount.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

/// Counters since the start of the mount; each is exact, and they are read one after the other.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Read requests of the kernel.
    pub requests: AtomicU64,
    /// Bytes of the replies to them.
    pub bytes: AtomicU64,
    /// Requests of the size of the read buffer or more.
    pub bypassed: AtomicU64,
    /// Ranges of files that were requested from HDFS.
    pub streams: AtomicU64,
    /// Files that were opened again after a failed read.
    pub reopened: AtomicU64,
}

impl Statistics {
    /// The counters as a JSON object.
    pub fn to_json(&self) -> String {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        json!({
            "requests": read(&self.requests),
            "bytes": read(&self.bytes),
            "bypassed": read(&self.bypassed),
            "streams": read(&self.streams),
            "reopened": read(&self.reopened),
        })
        .to_string()
    }
}

/// Add to a counter.
pub fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}

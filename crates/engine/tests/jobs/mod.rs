//! A job with few words.

use std::path::{Path, PathBuf};
use std::time::Duration;

use iostudy_engine::{Job, Length, Method, Operation, Order, Pace};

pub const WRITE: Operation = Operation::Write;

/// A thread for each path; a write creates its files.
pub fn job(paths: &[PathBuf], operation: Operation, file_bytes: u64, record_bytes: usize) -> Job {
    Job {
        threads: paths.iter().map(|path| vec![path.clone()]).collect(),
        operation,
        create: operation == WRITE,
        begin_bytes: 0,
        file_bytes,
        record_bytes,
        order: Order::Sequential,
        length: Length::Pass,
        ramp: Duration::ZERO,
        method: Method::Positioned,
        direct: false,
        dsync: false,
        sync: None,
        allocate: false,
        advice: None,
        pace: Pace::ClosedLoop,
        compressible: 0.0,
        verify: true,
        seed: 11,
    }
}

pub fn in_folder(folder: &Path, count: usize) -> Vec<PathBuf> {
    (0..count)
        .map(|index| folder.join(format!("file-{index}")))
        .collect()
}

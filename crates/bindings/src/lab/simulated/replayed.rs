//! Recorded requests for a replay.

use iostudy_schedulers::{Bio, ProcessId};
use iostudy_simulator::{Dispatch, RecordedRequest};
use pyo3::FromPyObject;

/// Attributes of a `_RecordedRequest` in `_native.pyi`, which documents them.
#[derive(FromPyObject)]
pub struct Request {
    inserted: f64,
    completed: f64,
    process: u32,
    cpu: u16,
    start: u64,
    sectors: u32,
    is_read: bool,
    is_sync: bool,
}

/// The requests, at times from the first insertion.
pub fn recorded(requests: &[Request]) -> Vec<RecordedRequest> {
    let start = requests.first().map_or(0.0, |first| first.inserted);
    let recorded = requests.iter().map(|request| RecordedRequest {
        inserted: nanos(request.inserted - start),
        completed: nanos(request.completed - start),
        bio: bio(request),
    });
    recorded.collect()
}

fn bio(request: &Request) -> Bio {
    let process = ProcessId(request.process);
    let read = Bio::read(process, request.start, request.sectors);
    let write = Bio {
        sync: request.is_sync,
        ..Bio::write(process, request.start, request.sectors)
    };
    Bio {
        cpu: request.cpu,
        ..if request.is_read { read } else { write }
    }
}

/// Index and time in seconds of a dispatch.
#[expect(clippy::cast_precision_loss, reason = "below 2^53")]
pub fn dispatch(own: Dispatch) -> (usize, f64) {
    (own.request, own.time as f64 / 1e9)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a recording are positive and short"
)]
fn nanos(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round() as u64
}

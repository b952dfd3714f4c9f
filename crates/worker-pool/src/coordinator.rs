//! Coordination of running workers by the calling thread.

use std::sync::RwLockWriteGuard;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use crate::TICK_INTERVAL;
use crate::worker::{Event, Shared};

/// Open the gate when every worker is ready, and call `tick` until every worker has ended. Return
/// the worker that failed first.
pub(crate) fn wait_for_workers(
    shared: &Shared,
    closed_gate: RwLockWriteGuard<'_, ()>,
    events: &Receiver<Event>,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Option<usize> {
    let mut closed_gate = Some(closed_gate);
    let (mut ready_workers, mut first_failed) = (0, None);
    let mut tick_at = Instant::now() + TICK_INTERVAL;
    loop {
        if ready_workers == shared.workers() || shared.is_stopping() {
            drop(closed_gate.take());
        }
        match events.recv_timeout(tick_at.saturating_duration_since(Instant::now())) {
            Ok(Event::Ready) => ready_workers += 1,
            Ok(Event::Failed(worker)) => {
                first_failed.get_or_insert(worker);
            }
            Err(RecvTimeoutError::Disconnected) => return first_failed,
            Err(RecvTimeoutError::Timeout) => {
                if !shared.is_stopping() && !tick(shared.progress()) {
                    shared.stop();
                }
                tick_at = Instant::now() + TICK_INTERVAL;
            }
        }
    }
}

//! The threads that complete commands, each on a processor of its own.
//!
//! A processor does not answer at times: the kernel runs code on it that nothing preempts, or the
//! hypervisor finds memory for a page fault. The thread on the other processor then completes what
//! is due.

use std::process;
use std::thread::Scope;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::priority::{Priority, request_realtime};
use crate::timed_drive::{TimedDrive, Turn};

/// Start them; they end with the drive. With a single processor it is one thread.
pub fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, drive: &'scope TimedDrive) {
    let processors = choose_processors();
    let first = processors.first().copied();
    scope.spawn(move || run(drive, Turn::First, first));
    if let Some(second) = processors.get(1).copied() {
        scope.spawn(move || run(drive, Turn::Second, Some(second)));
    }
}

fn run(drive: &TimedDrive, turn: Turn, processor: Option<usize>) {
    if let Some(processor) = processor {
        let mut set = CpuSet::new();
        set.set(processor);
        // Without it the scheduler places the thread.
        let _ = sched_setaffinity(None, &set);
    }
    // `Circumstances::realtime` reports a kernel that refuses.
    request_realtime(Priority::Completions);
    drive.run(turn);
}

/// Two processors that this process may use, or one. None on a machine with more than a set holds.
///
/// Several drives have different ones.
fn choose_processors() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_default();
    let mut processors: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|&processor| allowed.is_set(processor))
        .collect();
    if !processors.is_empty() {
        let start = process::id() as usize % processors.len();
        processors.rotate_left(start);
    }
    processors.truncate(2);
    processors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_another_processor() {
        let chosen = choose_processors();
        let allowed = sched_getaffinity(None).unwrap();
        assert_eq!(chosen.len(), 2.min(allowed.count() as usize));
        assert!(chosen.iter().all(|&each| allowed.is_set(each)));
        assert_ne!(chosen.first(), chosen.get(1));
    }
}

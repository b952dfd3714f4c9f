//! Threads: one per file, started together, all ended before anything is handed back.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{PoisonError, RwLock};
use std::thread::{Builder, Scope};

use rustix::io::Errno;

use crate::attendant::{Attendant, Event};
use crate::error::{Error, Fault, Halt};
use crate::file::{FileTimes, move_file};
use crate::job::Job;
use crate::meter::Meter;
use crate::psync::Psync;
use crate::result::JobResult;
use crate::shared::Shared;

/// Carry out a job. `keep_going` is asked every 50 ms on the calling thread; once it says no,
/// every thread stops at the end of its record.
///
/// # Errors
///
/// The first error of any file, which stops the others; [`Error::Stopped`] if the caller stopped
/// it; [`Error::Thread`] if the system does not allow as many threads.
///
/// # Panics
///
/// If the job is not valid; see [`Job::validate`].
pub fn run(job: &Job, keep_going: impl FnMut() -> bool) -> Result<JobResult, Error> {
    job.validate().expect("a job is validated before it is run");
    let shared = Shared {
        job,
        stop: AtomicBool::new(false),
        gate: RwLock::new(()),
    };
    let (sender, events) = channel();
    std::thread::scope(|scope| {
        let closed_gate = shared.gate.write().unwrap_or_else(PoisonError::into_inner);
        let started = start_threads(scope, &shared, sender);
        if started.is_err() {
            shared.stop.store(true, Ordering::Relaxed);
        }
        let attendant = Attendant::new(&shared, closed_gate);
        let outcome = attendant.attend(&events, keep_going);
        started?;
        outcome
    })
}

fn start_threads<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared<'env>,
    sender: Sender<Event>,
) -> io::Result<()> {
    for file in 0..shared.job.paths.len() {
        let sender = sender.clone();
        Builder::new()
            .name(format!("io-{file}"))
            .spawn_scoped(scope, move || tend_file(shared, file, &sender))?;
    }
    drop(sender); // the attendant listens until the last one is gone
    Ok(())
}

/// The life of a thread. Sending cannot fail: the attendant listens until the last sender is gone.
fn tend_file(shared: &Shared, file: usize, sender: &Sender<Event>) {
    let outcome = prepare_and_move(shared, file, sender);
    if outcome.is_err() {
        shared.stop.store(true, Ordering::Relaxed);
    }
    let _ = sender.send(Event::Ended(file, outcome));
}

fn prepare_and_move(
    shared: &Shared,
    file: usize,
    sender: &Sender<Event>,
) -> Result<FileTimes, Halt> {
    let job = shared.job;
    let mut backend = Psync::new(job, file as u64).map_err(|error| no_memory(&error))?;
    let meter = Meter::new(&shared.stop);
    let _ = sender.send(Event::Ready);
    drop(shared.gate.read());
    move_file(job, &job.paths[file], &mut backend, meter)
}

fn no_memory(error: &io::Error) -> Fault {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::NOMEM);
    Fault::Io {
        call: "mmap",
        offset: 0,
        errno,
    }
}

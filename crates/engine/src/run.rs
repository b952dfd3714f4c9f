//! Threads: started together, all ended before anything is handed back.

use std::path::PathBuf;
use std::time::Instant;

use io_uring::IoUring;
use iostudy_crew as crew;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::backend::Backend;
use crate::calls::{Calls, Positioned, Seek};
use crate::error::{Error, Fault, FileFault, Halt};
use crate::feed::Feed;
use crate::files::{Files, no_memory};
use crate::job::{Job, Method, Ring};
use crate::meter::Meter;
use crate::note::Note;
use crate::psync::{Psync, sleep_towards};
use crate::result::{JobResult, Phases, ThreadResult};
use crate::ring::{self, Queue};
use crate::stdio::Stdio;
use crate::uring::Uring;

/// A thread of a job.
pub(crate) type Member<'a> = crew::Member<'a, ThreadResult, FileFault>;

/// Carry out a job. `tick` is called about every 50 ms on the calling thread with the bytes moved
/// so far; once it says no, every thread stops at the end of its record.
///
/// # Errors
///
/// The first error of any file, which stops the others; [`Error::Stopped`] if the caller stopped
/// it; [`Error::Thread`] if the system does not allow as many threads.
///
/// # Panics
///
/// If the job is not valid; see [`Job::validate`].
pub fn run(job: &Job, tick: impl FnMut(u64) -> bool) -> Result<JobResult, Error> {
    job.validate().expect("a job is validated before it is run");
    crew::run(job.threads.len(), |member| tend(job, member), tick)
        .map(JobResult::gather)
        .map_err(|error| told(error, |member, file| &job.threads[member][file]))
}

/// The error of a crew, with the path of the member's file that failed.
pub(crate) fn told<'a>(
    error: crew::Error<FileFault>,
    path: impl FnOnce(usize, usize) -> &'a PathBuf,
) -> Error {
    match error {
        crew::Error::Fault { member, fault } => Error::File {
            path: path(member, fault.file).clone(),
            fault: fault.fault,
        },
        crew::Error::Thread(error) => Error::Thread(error),
        crew::Error::Stopped => Error::Stopped,
    }
}

/// The life of a thread: make the buffers, wait for the others, move the records.
fn tend(job: &Job, member: &Member) -> Result<ThreadResult, Halt> {
    let files = job.threads[member.index()].len();
    match job.method {
        Method::Positioned => by_psync(job, member, Positioned),
        Method::Seek => by_psync(job, member, Seek::new(files)),
        Method::Stdio => by_psync(job, member, Stdio::new(files)),
        Method::IoUring(wanted) => match ring::open(wanted) {
            Ok(ring) => by_uring(job, member, wanted, ring),
            // Forbidden by sysctl, seccomp or the limit of locked memory, or not there.
            Err(errno @ (Errno::PERM | Errno::ACCESS | Errno::NOMEM | Errno::NOSYS)) => {
                let moved = by_psync(job, member, Positioned)?;
                Ok(noting(moved, Some(Note::NoIoUring { errno })))
            }
            Err(errno) => Err(FileFault::of(0)(Fault::of("io_uring_setup", 0)(errno)).into()),
        },
    }
}

fn by_uring(job: &Job, member: &Member, wanted: Ring, ring: IoUring) -> Result<ThreadResult, Halt> {
    let queue = Queue::new(ring, wanted, job.record_bytes).map_err(|error| no_memory(&error))?;
    let note = queue
        .unregistered()
        .map(|errno| Note::BuffersUnregistered { errno });
    let uring = Uring::new(job, member.index(), wanted, queue);
    let mut uring = uring.map_err(|error| no_memory(&error))?;
    Ok(noting(move_records(job, member, &mut uring)?, note))
}

fn noting(moved: ThreadResult, note: Option<Note>) -> ThreadResult {
    ThreadResult { note, ..moved }
}

fn by_psync(job: &Job, member: &Member, calls: impl Calls) -> Result<ThreadResult, Halt> {
    let psync = Psync::new(job, member.index(), calls);
    move_records(job, member, &mut psync.map_err(|error| no_memory(&error))?)
}

/// From open to close: what `TestDFSIO` times for each file.
fn move_records(
    job: &Job,
    member: &Member,
    backend: &mut impl Backend,
) -> Result<ThreadResult, Halt> {
    member.ready();
    member.go_on()?;
    let cpu_before = cpu_seconds();
    let started = Instant::now();
    let counts_from = started + job.ramp;
    let mut meter = Meter::new(member, counts_from);
    let files = Files::open(job, &job.threads[member.index()])?;
    let opened = Instant::now();
    let mut feed = Feed::new(job, member.index(), started, opened);
    backend.carry_out(&files, &mut feed, &mut meter)?;
    let moved = Instant::now();
    files.sync(job, &mut meter)?;
    let synced = Instant::now();
    files.close()?;
    let closed = rest(&mut feed, member)?;
    Ok(ThreadResult {
        started: counts_from,
        ended: closed,
        phases: Phases {
            open: opened - started,
            records: moved - opened,
            sync: synced - moved,
            close: closed - synced,
        },
        cpu_seconds: cpu_seconds() - cpu_before,
        overdue: feed.overdue(),
        tallies: meter.into_tallies(),
        note: None,
    })
}

/// Wait until a thread that is slowed down has waited for all its work; the time then.
fn rest(feed: &mut Feed, member: &Member) -> Result<Instant, Halt> {
    let mut now = Instant::now();
    if let Some(until) = feed.rests(now) {
        while now < until {
            member.go_on()?;
            now = sleep_towards(until);
        }
    }
    Ok(now)
}

/// What this thread has used of its processor.
#[allow(clippy::cast_precision_loss)] // exact up to 104 days
pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

//! Execution of a job by a pool of threads.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use io_uring::IoUring;
use iostudy_windows::WindowCursor;
use iostudy_worker_pool as worker_pool;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::control::Control;
use crate::error::{Error, Fault, FileFault, Halt};
use crate::files::{Files, out_of_memory};
use crate::job::{Job, Length, Method, UringOptions};
use crate::meter::Backend;
use crate::meter::Meter;
use crate::meter::Worker;
use crate::psync::{Psync, bounded_sleep_until};
use crate::queue::{self, Queue};
use crate::request_source::RequestSource;
use crate::result::Fallback;
use crate::result::{JobResult, Phases, ThreadResult};
use crate::stdio::Stdio;
use crate::sync_io::{Positioned, Seek, SyncIo};
use crate::uring::Uring;

/// Run a job. `tick` is called about every 50 ms on the calling thread with the bytes transferred
/// so far. When it returns false, every thread stops after its current record.
///
/// # Errors
///
/// The first error of any file, which stops the other threads; [`Error::Stopped`] if the caller
/// stopped the job; [`Error::Thread`] if the system refuses a thread.
///
/// # Panics
///
/// If the job is not valid; see [`Job::validate`].
pub fn run(job: &Job, tick: &mut dyn FnMut(u64) -> bool) -> Result<JobResult, Error> {
    execute(job, None, tick)
}

/// Repeat the passes of a job, without its ramp and its end, until `tick` returns false.
///
/// # Errors
///
/// As [`run`], except that a stop is the normal end.
///
/// # Panics
///
/// If the job is not valid; see [`Job::validate`].
pub fn repeat(job: &Job, control: Control, tick: &mut dyn FnMut(u64) -> bool) -> Result<(), Error> {
    let adjustable = job.slowed_down(control.slow_down.get());
    let endless = Job {
        length: Length::Endless,
        ramp: Duration::ZERO,
        ..adjustable.unwrap_or_else(|_| job.clone())
    };
    match execute(&endless, Some(control), tick) {
        Ok(_) | Err(Error::Stopped) => Ok(()),
        Err(error) => Err(error),
    }
}

fn execute(
    job: &Job,
    control: Option<Control>,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<JobResult, Error> {
    job.validate().expect("the job must be valid");
    worker_pool::run(
        job.threads.len(),
        |worker| run_worker(job, control, worker),
        tick,
    )
    .map(JobResult::merge)
    .map_err(|error| into_error(error, |worker, file| &job.threads[worker][file]))
}

/// Convert a pool error; `path` maps worker and file index to the failed path.
pub(crate) fn into_error<'a>(
    error: worker_pool::Error<FileFault>,
    path: impl FnOnce(usize, usize) -> &'a PathBuf,
) -> Error {
    match error {
        worker_pool::Error::Fault { worker, fault } => Error::File {
            path: path(worker, fault.file).clone(),
            fault: fault.fault,
        },
        worker_pool::Error::Thread(error) => Error::Thread(error),
        worker_pool::Error::Stopped => Error::Stopped,
    }
}

/// Run one worker: allocate the buffers, wait for the start, transfer the records.
fn run_worker(job: &Job, control: Option<Control>, worker: &Worker) -> Result<ThreadResult, Halt> {
    let files = job.threads[worker.index()].len();
    match job.method {
        Method::Positioned => run_sync(job, control, worker, Positioned),
        Method::Seek => run_sync(job, control, worker, Seek::new(files)),
        Method::Stdio => run_sync(job, control, worker, Stdio::new(files)),
        Method::IoUring(options) => match queue::open(options) {
            Ok(ring) => run_uring(job, control, worker, (options, ring)),
            // Forbidden by sysctl, seccomp or the memory lock limit, or not implemented.
            Err(errno @ (Errno::PERM | Errno::ACCESS | Errno::NOMEM | Errno::NOSYS)) => {
                let result = run_sync(job, control, worker, Positioned)?;
                Ok(with_fallback(result, Some(Fallback::NoIoUring { errno })))
            }
            Err(errno) => {
                Err(FileFault::in_file(0)(Fault::in_call("io_uring_setup", 0)(errno)).into())
            }
        },
    }
}

fn run_uring(
    job: &Job,
    control: Option<Control>,
    worker: &Worker,
    (options, ring): (UringOptions, IoUring),
) -> Result<ThreadResult, Halt> {
    let queue =
        Queue::new(ring, options, job.record_bytes).map_err(|error| out_of_memory(&error))?;
    let fallback = queue
        .unregistered()
        .map(|errno| Fallback::BuffersUnregistered { errno });
    let uring = Uring::new(job, worker.index(), options, queue);
    let mut uring = uring.map_err(|error| out_of_memory(&error))?;
    Ok(with_fallback(
        run_phases(job, control, worker, &mut uring)?,
        fallback,
    ))
}

fn with_fallback(result: ThreadResult, fallback: Option<Fallback>) -> ThreadResult {
    ThreadResult { fallback, ..result }
}

fn run_sync(
    job: &Job,
    control: Option<Control>,
    worker: &Worker,
    sync_io: impl SyncIo,
) -> Result<ThreadResult, Halt> {
    let psync = Psync::new(job, worker.index(), sync_io);
    run_phases(
        job,
        control,
        worker,
        &mut psync.map_err(|error| out_of_memory(&error))?,
    )
}

/// Run the phases from open to close, which `TestDFSIO` times for each file.
fn run_phases(
    job: &Job,
    control: Option<Control>,
    worker: &Worker,
    backend: &mut impl Backend,
) -> Result<ThreadResult, Halt> {
    worker.wait_for_start();
    worker.check_stop()?;
    let cpu_before = cpu_seconds();
    let started = Instant::now();
    let measured_from = started + job.ramp;
    let cursor = control.map_or_else(WindowCursor::without_log, |control| {
        control.windows.cursor()
    });
    let mut meter = Meter::new(worker, measured_from, cursor);
    let files = Files::open(job, &job.threads[worker.index()])?;
    let opened = Instant::now();
    let mut requests = RequestSource::new(
        job,
        worker.index(),
        (started, opened),
        control.map(|control| control.slow_down),
    );
    backend.run(&files, &mut requests, &mut meter)?;
    let transferred = Instant::now();
    files.sync(job, &mut meter)?;
    let synced = Instant::now();
    files.close()?;
    let closed = wait_for_slowdown(&mut requests, worker)?;
    Ok(ThreadResult {
        started: measured_from,
        ended: closed,
        phases: Phases {
            open: opened - started,
            records: transferred - opened,
            sync: synced - transferred,
            close: closed - synced,
        },
        cpu_seconds: cpu_seconds() - cpu_before,
        unissued: requests.unissued(),
        stats: meter.into_stats(),
        fallback: None,
    })
}

/// Complete the slow-down wait of the thread. Return the time after it.
fn wait_for_slowdown(requests: &mut RequestSource, worker: &Worker) -> Result<Instant, Halt> {
    let mut now = Instant::now();
    if let Some(until) = requests.final_wait(now) {
        while now < until {
            worker.check_stop()?;
            now = bounded_sleep_until(until);
        }
    }
    Ok(now)
}

/// CPU time of this thread in seconds.
#[allow(clippy::cast_precision_loss)] // exact up to 104 days
pub(crate) fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

//! Threads: one per file, started together, all ended before anything is handed back.

use std::io;

use iostudy_crew as crew;
use rustix::io::Errno;

use crate::error::{Error, Fault, Halt};
use crate::file::{FileTimes, move_file};
use crate::job::Job;
use crate::meter::Meter;
use crate::psync::Psync;
use crate::result::JobResult;

/// A thread of a job.
pub(crate) type Member<'a> = crew::Member<'a, FileTimes, Fault>;

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
    let tend = |member: &Member| tend_file(job, member);
    match crew::run(job.paths.len(), tend, tick) {
        Ok(times) => Ok(JobResult::gather(job.file_bytes, &times)),
        Err(crew::Error::Fault { member, fault }) => Err(Error::File {
            path: job.paths[member].clone(),
            fault,
        }),
        Err(crew::Error::Thread(error)) => Err(Error::Thread(error)),
        Err(crew::Error::Stopped) => Err(Error::Stopped),
    }
}

fn tend_file(job: &Job, member: &Member) -> Result<FileTimes, Halt> {
    let file = member.index();
    let mut backend = Psync::new(job, file as u64).map_err(|error| no_memory(&error))?;
    member.ready();
    move_file(job, &job.paths[file], &mut backend, Meter::new(member))
}

fn no_memory(error: &io::Error) -> Fault {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::NOMEM);
    Fault::Io {
        call: "mmap",
        offset: 0,
        errno,
    }
}

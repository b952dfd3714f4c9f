//! Threads: one per job, started together, all ended before anything is handed back.

use iostudy_crew as crew;
use iostudy_engine::{Error, Fault};
use iostudy_pattern::Content;

use crate::job::work;
use crate::result::EventResult;
use crate::workload::Workload;

/// Carry it out. `tick` is called about every 50 ms on the calling thread with the bytes read so
/// far; once it says no, every job stops at the end of its read.
///
/// # Errors
///
/// The first error of any job, which stops the others; [`Error::Stopped`] if the caller stopped
/// it; [`Error::Thread`] if the system does not allow as many threads.
///
/// # Panics
///
/// If the workload is not valid; see [`Workload::validate`].
pub fn run(workload: &Workload, tick: impl FnMut(u64) -> bool) -> Result<EventResult, Error> {
    workload
        .validate()
        .expect("a workload is validated before it is run");
    let content = Content::new(workload.seed, 0.0, 0)
        .map_err(|error| of_job(workload, 0, Fault::no_memory(&error)))?;
    match crew::run(workload.jobs, |job| work(workload, &content, job), tick) {
        Ok(jobs) => Ok(EventResult::gather(&jobs)),
        Err(crew::Error::Fault { member, fault }) => Err(of_job(workload, member, fault)),
        Err(crew::Error::Thread(error)) => Err(Error::Thread(error)),
        Err(crew::Error::Stopped) => Err(Error::Stopped),
    }
}

fn of_job(workload: &Workload, job: usize, fault: Fault) -> Error {
    Error::File {
        path: workload.path_of(job).to_owned(),
        fault,
    }
}

//! Files cut off at a size, each by a thread of its own.

use std::path::PathBuf;
use std::time::Instant;

use iostudy_crew as crew;
use iostudy_files::open_own;
use rustix::fs::{OFlags, ftruncate};
use rustix::io::retry_on_intr;

use crate::error::{Error, Fault, FileFault, Halt};
use crate::files::Files;
use crate::invalid::Invalid;
use crate::job::SyncCall;
use crate::meter::{Direction, Meter};
use crate::result::{JobResult, Phases, ThreadResult};
use crate::run::{Member, cpu_seconds, told};

/// Files that are to be cut off.
#[derive(Debug, Clone)]
pub struct Truncation {
    /// Which; each has a thread of its own.
    pub paths: Vec<PathBuf>,
    /// The size they have afterwards.
    pub bytes: u64,
    /// How the new size is brought to the disk, inside the measured time.
    pub sync: Option<SyncCall>,
}

impl Truncation {
    /// Check that there is something to do; nothing is touched.
    ///
    /// # Errors
    ///
    /// The reason why there is not.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.paths.is_empty() {
            return Err(Invalid::NoPaths);
        }
        Ok(())
    }
}

/// Cut all files off. In the result a file is a write of no bytes, from opening it to closing it.
/// `tick` is called about every 50 ms; once it says no, files that are not begun stay as they are.
///
/// # Errors
///
/// As [`crate::run`].
///
/// # Panics
///
/// If the job is not valid; see [`Truncation::validate`].
pub fn truncate(job: &Truncation, mut tick: impl FnMut() -> bool) -> Result<JobResult, Error> {
    job.validate().expect("a job is validated before it is run");
    crew::run(job.paths.len(), |member| tend(job, member), |_| tick())
        .map(JobResult::gather)
        .map_err(|error| told(error, |member, _| &job.paths[member]))
}

fn tend(job: &Truncation, member: &Member) -> Result<ThreadResult, Halt> {
    member.ready();
    member.go_on()?;
    let cpu_before = cpu_seconds();
    let started = Instant::now();
    let mut meter = Meter::new(member, started);
    let file = open_own(&job.paths[member.index()], OFlags::WRONLY)
        .map_err(Fault::of("open", 0))
        .map_err(FileFault::of(0))?;
    let opened = Instant::now();
    retry_on_intr(|| ftruncate(&file, job.bytes))
        .map_err(Fault::of("ftruncate", job.bytes))
        .map_err(FileFault::of(0))?;
    let cut = Instant::now();
    let files = Files::from(vec![file]);
    let synced = match job.sync {
        Some(call) => files.sync_one(0, call, cut, &mut meter)?,
        None => cut,
    };
    files.close()?;
    let closed = Instant::now();
    meter.moved(Direction::Write, started, 0, closed);
    Ok(ThreadResult {
        started,
        ended: closed,
        phases: Phases {
            open: opened - started,
            records: cut - opened,
            sync: synced - cut,
            close: closed - synced,
        },
        cpu_seconds: cpu_seconds() - cpu_before,
        overdue: 0,
        tallies: meter.into_tallies(),
        note: None,
    })
}

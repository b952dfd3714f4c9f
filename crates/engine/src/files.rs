//! Files of a thread, from open to close.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Instant;

use iostudy_files::{close, create_own, open_data, open_own};
use rustix::fs::{FallocateFlags, OFlags, fadvise, fallocate, fdatasync, fsync};
use rustix::io::retry_on_intr;

use crate::error::{Fault, FileFault, Halt};
use crate::job::{Advice, Job, Operation, SyncCall};
use crate::meter::Meter;

/// Open files in path order.
pub(crate) struct Files(Vec<OwnedFd>);

impl From<Vec<OwnedFd>> for Files {
    fn from(files: Vec<OwnedFd>) -> Self {
        Self(files)
    }
}

impl Files {
    /// Open each file with the job's flags, preallocation and advice.
    pub(crate) fn open(job: &Job, paths: &[PathBuf]) -> Result<Self, FileFault> {
        let opened = paths.iter().enumerate().map(|(index, path)| {
            let file = open_one(job, path).map_err(FileFault::in_file(index))?;
            prepare(job, &file).map_err(FileFault::in_file(index))?;
            Ok(file)
        });
        opened.collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn descriptors(&self) -> Vec<RawFd> {
        self.0.iter().map(AsRawFd::as_raw_fd).collect()
    }

    pub(crate) fn get(&self, index: usize) -> BorrowedFd<'_> {
        self.0[index].as_fd()
    }

    /// Sync all files if the job requests it.
    pub(crate) fn sync(&self, job: &Job, meter: &mut Meter) -> Result<(), Halt> {
        if let Some(sync) = job.sync {
            for index in 0..self.0.len() {
                meter.check_stop()?;
                self.sync_one(index, sync.call, Instant::now(), meter)?;
            }
        }
        Ok(())
    }

    /// Sync one file. Return the time at the end.
    pub(crate) fn sync_one(
        &self,
        index: usize,
        call: SyncCall,
        now: Instant,
        meter: &mut Meter,
    ) -> Result<Instant, FileFault> {
        let file = &self.0[index];
        match call {
            SyncCall::Fsync => retry_on_intr(|| fsync(file)).map_err(Fault::in_call("fsync", 0)),
            SyncCall::Fdatasync => {
                retry_on_intr(|| fdatasync(file)).map_err(Fault::in_call("fdatasync", 0))
            }
        }
        .map_err(FileFault::in_file(index))?;
        Ok(meter.record_sync(now))
    }

    /// Close all files and report the first error.
    pub(crate) fn close(self) -> Result<(), FileFault> {
        for (index, file) in self.0.into_iter().enumerate() {
            close(file)
                .map_err(Fault::in_call("close", 0))
                .map_err(FileFault::in_file(index))?;
        }
        Ok(())
    }
}

fn open_one(job: &Job, path: &Path) -> Result<OwnedFd, Fault> {
    let access = match job.operation {
        Operation::Write => OFlags::WRONLY,
        Operation::Read => OFlags::RDONLY,
        Operation::Mix { .. } => OFlags::RDWR,
    };
    let requested = [(job.direct, OFlags::DIRECT), (job.dsync, OFlags::DSYNC)];
    let flags = requested
        .into_iter()
        .filter(|(is_requested, _)| *is_requested)
        .fold(access, |flags, (_, flag)| flags | flag);
    match job.operation {
        Operation::Read if !job.create => open_data(path, flags),
        _ if job.create => create_own(path, flags),
        _ => open_own(path, flags),
    }
    .map_err(Fault::in_call("open", 0))
}

fn prepare(job: &Job, file: &OwnedFd) -> Result<(), Fault> {
    let (begin, bytes) = (job.begin_bytes, job.file_bytes);
    if job.allocate {
        retry_on_intr(|| fallocate(file, FallocateFlags::empty(), begin, bytes))
            .map_err(Fault::in_call("fallocate", begin))?;
    }
    if let Some(advice) = job.advice {
        fadvise(file, 0, None, advice.into()).map_err(Fault::in_call("posix_fadvise", 0))?;
    }
    Ok(())
}

impl From<Advice> for rustix::fs::Advice {
    fn from(advice: Advice) -> Self {
        match advice {
            Advice::Sequential => Self::Sequential,
            Advice::Random => Self::Random,
            Advice::NoReuse => Self::NoReuse,
            Advice::WillNeed => Self::WillNeed,
            Advice::DontNeed => Self::DontNeed,
        }
    }
}

/// Fault for a failed memory allocation.
pub(crate) fn out_of_memory(error: &std::io::Error) -> FileFault {
    FileFault::in_file(0)(Fault::out_of_memory(error))
}

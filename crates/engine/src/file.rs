//! One file from open to close.

use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::path::Path;
use std::time::Instant;

use iostudy_pattern::sequential;
use rustix::fs::{Mode, OFlags, fsync, open};
use rustix::io::{Errno, retry_on_intr, try_close};

use crate::backend::Backend;
use crate::error::{Fault, Halt};
use crate::job::{Job, Operation};
use crate::meter::{Latencies, Meter};

/// What was measured on one file.
pub(crate) struct FileTimes {
    pub(crate) started: Instant,
    pub(crate) ended: Instant,
    pub(crate) latencies: Latencies,
}

/// Open, move every record, sync if asked for, close: what `TestDFSIO` times for each file.
pub(crate) fn move_file(
    job: &Job,
    path: &Path,
    backend: &mut impl Backend,
    mut meter: Meter,
) -> Result<FileTimes, Halt> {
    meter.go_on()?;
    let started = Instant::now();
    let file = open_for(job, path).map_err(fault("open", 0))?;
    move_records(job, &file, backend, &mut meter)?;
    close(file).map_err(fault("close", job.file_bytes))?;
    Ok(FileTimes {
        started,
        ended: Instant::now(),
        latencies: meter.into_latencies(),
    })
}

fn open_for(job: &Job, path: &Path) -> Result<OwnedFd, Errno> {
    let access = match job.operation {
        Operation::Write { .. } => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
        Operation::Read => OFlags::RDONLY,
    };
    let cache = if job.direct {
        OFlags::DIRECT
    } else {
        OFlags::empty()
    };
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    retry_on_intr(|| open(path, access | cache | OFlags::CLOEXEC, mode))
}

fn move_records(
    job: &Job,
    file: &OwnedFd,
    backend: &mut impl Backend,
    meter: &mut Meter,
) -> Result<(), Halt> {
    let records = sequential(job.file_bytes, job.record_bytes);
    meter.start();
    match job.operation {
        Operation::Read => backend.read(file.as_fd(), records, meter),
        Operation::Write { fsync: sync } => {
            backend.write(file.as_fd(), records, meter)?;
            meter.go_on()?;
            if sync {
                retry_on_intr(|| fsync(file)).map_err(fault("fsync", job.file_bytes))?;
            }
            Ok(())
        }
    }
}

/// Close and tell the error: network file systems write at close, and may only then find the
/// quota exceeded.
fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor was owned, is given up here and is not used again.
    unsafe { try_close(file.into_raw_fd()) }
}

fn fault(call: &'static str, offset: u64) -> impl Fn(Errno) -> Fault {
    move |errno| Fault::Io {
        call,
        offset,
        errno,
    }
}

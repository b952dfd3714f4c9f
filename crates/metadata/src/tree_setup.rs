//! Creation of the directory trees before the first phase.

use std::ffi::OsStr;
use std::fs::create_dir;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iostudy_worker_pool::Worker;
use rustix::io::Errno;

use crate::error::{Error, Fault, Halt, OperationError};
use crate::job::Job;
use crate::layout::Layout;

/// Create all trees; `tick` is called several times a second.
pub(crate) fn create_trees(
    job: &Job,
    layout: &Layout,
    tick: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Error> {
    create(&job.directory)?;
    let work = |worker: &Worker<OperationError>| create_tree(job, layout, worker);
    iostudy_worker_pool::run(job.threads, work, &mut |_| tick(0))?;
    Ok(())
}

/// Create one thread's part. In a shared tree other threads may have created the ancestors.
fn create_tree(job: &Job, layout: &Layout, worker: &Worker<OperationError>) -> Result<(), Halt> {
    let top = job.directory.join(layout.tree_name(worker.index()));
    create(&top)?;
    worker.wait_for_start();
    let mut previous = None;
    for leaf in layout.thread_leaves(worker.index()) {
        worker.check_stop()?;
        let is_new = |level: &u32| {
            previous
                .is_none_or(|other| layout.ancestor(other, *level) != layout.ancestor(leaf, *level))
        };
        for level in (1..=layout.depth()).filter(is_new) {
            create(&directory(layout, &top, leaf, level))?;
        }
        previous = Some(leaf);
    }
    Ok(())
}

fn directory(layout: &Layout, top: &Path, leaf: u64, level: u32) -> PathBuf {
    let mut relative = Vec::new();
    layout.append_directory(leaf, level, &mut relative);
    top.join(OsStr::from_bytes(&relative))
}

fn create(path: &Path) -> Result<(), OperationError> {
    match create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(OperationError {
            path: path.to_owned(),
            fault: Fault::in_call("mkdir")(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }),
        _ => Ok(()),
    }
}

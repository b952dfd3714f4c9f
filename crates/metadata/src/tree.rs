//! The directories that files lie in, made before the first phase.

use std::ffi::OsStr;
use std::fs::create_dir;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iostudy_worker_pool::Worker;
use rustix::io::Errno;

use crate::error::{Error, Fault, Halt, Met};
use crate::job::Job;
use crate::layout::Layout;

/// Make every tree; `check_stop` is asked several times a second.
pub(crate) fn make_trees(
    job: &Job,
    layout: &Layout,
    mut check_stop: impl FnMut() -> bool,
) -> Result<(), Error> {
    make(&job.directory)?;
    let work = |worker: &Worker<(), Met>| make_tree(job, layout, worker);
    iostudy_worker_pool::run(job.threads, work, |_| check_stop())?;
    Ok(())
}

/// Make the part of one thread. In a shared tree others may have made what leads to it.
fn make_tree(job: &Job, layout: &Layout, worker: &Worker<(), Met>) -> Result<(), Halt> {
    let top = job.directory.join(layout.tree_name(worker.index()));
    make(&top)?;
    worker.wait_for_start();
    let mut before = None;
    for leaf in layout.leaves_of(worker.index()) {
        worker.check_stop()?;
        let is_new = |level: &u32| {
            before
                .is_none_or(|other| layout.ancestor(other, *level) != layout.ancestor(leaf, *level))
        };
        for level in (1..=layout.depth()).filter(is_new) {
            make(&directory(layout, &top, leaf, level))?;
        }
        before = Some(leaf);
    }
    Ok(())
}

fn directory(layout: &Layout, top: &Path, leaf: u64, level: u32) -> PathBuf {
    let mut below = Vec::new();
    layout.append_directory(leaf, level, &mut below);
    top.join(OsStr::from_bytes(&below))
}

fn make(path: &Path) -> Result<(), Met> {
    match create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(Met {
            path: path.to_owned(),
            fault: Fault::of("mkdir")(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }),
        _ => Ok(()),
    }
}

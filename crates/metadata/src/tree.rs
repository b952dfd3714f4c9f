//! The directories that files lie in, made before the first phase.

use std::ffi::OsStr;
use std::fs::create_dir;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iostudy_crew::Member;
use rustix::io::Errno;

use crate::error::{Error, Fault, Halt, Met};
use crate::job::Job;
use crate::layout::Layout;

/// Make every tree; `go_on` is asked several times a second.
pub(crate) fn make_trees(
    job: &Job,
    layout: &Layout,
    mut go_on: impl FnMut() -> bool,
) -> Result<(), Error> {
    make(&job.directory)?;
    let work = |member: &Member<(), Met>| make_tree(job, layout, member);
    iostudy_crew::run(job.threads, work, |_| go_on())?;
    Ok(())
}

/// Make the part of one thread. In a shared tree others may have made what leads to it.
fn make_tree(job: &Job, layout: &Layout, member: &Member<(), Met>) -> Result<(), Halt> {
    let top = job.directory.join(layout.tree_name(member.index()));
    make(&top)?;
    member.ready();
    let mut before = None;
    for leaf in layout.leaves_of(member.index()) {
        member.go_on()?;
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

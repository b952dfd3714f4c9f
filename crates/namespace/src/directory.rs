//! Directories of logs, whose names are to be as durable as what they name.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, fsync, open};
use rustix::io::retry_on_intr;

use crate::error::Fault;

/// Before the name of a file that is damaged, so that it is no part of the log any more.
const SET_ASIDE: &str = "set-aside-";

/// The names in `directory` that are text; others are not ours.
pub(crate) fn names(directory: &Path) -> Result<Vec<String>, Fault> {
    let of = Fault::of_std(directory, "read directory");
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(&of)? {
        names.extend(entry.map_err(&of)?.file_name().into_string());
    }
    Ok(names)
}

/// Make the names in a directory durable.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| open(directory, flags, Mode::empty()));
    let opened = opened.map_err(Fault::of(directory, "open"))?;
    retry_on_intr(|| fsync(&opened)).map_err(Fault::of(directory, "fsync"))
}

/// Make a directory, and those that it is to lie in, durably.
pub(crate) fn make_directory(directory: &Path) -> Result<(), Fault> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {
            return Ok(());
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_directory(parent(directory))?;
            fs::create_dir(directory)
        }
        other => other,
    }
    .map_err(Fault::of_std(directory, "create directory"))?;
    sync_directory(parent(directory))
}

/// Where it lies; a single name lies in the working directory.
fn parent(directory: &Path) -> &Path {
    match directory.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    }
}

/// Give a file of a log another name, under which nothing will read or remove it.
pub(crate) fn set_aside(path: &Path) -> Result<(), Fault> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let aside = |number: u64| path.with_file_name(format!("{SET_ASIDE}{number}-{name}"));
    let mut free = (1..).map(aside).filter(|place| !place.exists());
    let free = free.next().expect("numbers do not end");
    fs::rename(path, free).map_err(Fault::of_std(path, "rename"))
}

#[cfg(test)]
mod tests {
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use std::mem::MaybeUninit;

    use super::*;

    #[test]
    fn the_name_of_every_directory_that_is_made_is_synced() {
        let folder = tempfile::tempdir().unwrap();
        let watched = inotify::init(CreateFlags::NONBLOCK).unwrap();
        inotify::add_watch(&watched, folder.path(), WatchFlags::OPEN).unwrap();
        let opened = || {
            let mut buffer = [MaybeUninit::uninit(); 1024];
            let mut reader = Reader::new(&watched, &mut buffer);
            let event = reader.next().ok()?;
            Some(event.events().contains(ReadFlags::ISDIR))
        };
        make_directory(&folder.path().join("a/b/c")).unwrap();
        assert!(folder.path().join("a/b/c").is_dir());
        assert_eq!(opened(), Some(true), "it was not opened to be synced");
        make_directory(&folder.path().join("a/b/c")).unwrap();
        assert_eq!(opened(), None, "nothing was made");
    }

    #[test]
    fn a_file_in_place_of_a_directory_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(make_directory(&file).unwrap_err().path, file);
        assert_eq!(
            make_directory(&file.join("below")).unwrap_err().call,
            "create directory"
        );
    }

    #[test]
    fn what_is_set_aside_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("edits-inprogress-1");
        for content in ["one", "two"] {
            fs::write(&file, content).unwrap();
            set_aside(&file).unwrap();
        }
        for (number, content) in [(1, "one"), (2, "two")] {
            let aside = format!("set-aside-{number}-edits-inprogress-1");
            let aside = fs::read_to_string(folder.path().join(aside)).unwrap();
            assert_eq!(aside, content);
        }
        assert!(!file.exists());
    }
}

//! Durable operations on log directories.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, fsync, open};
use rustix::io::retry_on_intr;

use crate::error::Fault;

/// Name prefix of damaged files, which are no longer part of the log.
const SET_ASIDE: &str = "set-aside-";

/// UTF-8 names in `directory`; others are not part of the log.
pub(crate) fn list_names(directory: &Path) -> Result<Vec<String>, Fault> {
    let io_error = Fault::from_io_error(directory, "read directory");
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(&io_error)? {
        names.extend(entry.map_err(&io_error)?.file_name().into_string());
    }
    Ok(names)
}

/// Make the names in a directory durable.
pub(crate) fn sync_directory(directory: &Path) -> Result<(), Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| open(directory, flags, Mode::empty()));
    let opened = opened.map_err(Fault::in_call(directory, "open"))?;
    retry_on_intr(|| fsync(&opened)).map_err(Fault::in_call(directory, "fsync"))
}

/// Create a directory and its ancestors durably.
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
    .map_err(Fault::from_io_error(directory, "create directory"))?;
    sync_directory(parent(directory))
}

/// Parent directory; that of a single name is the working directory.
fn parent(directory: &Path) -> &Path {
    match directory.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    }
}

/// Rename a damaged log file so that it is neither read nor removed.
pub(crate) fn set_aside(path: &Path) -> Result<(), Fault> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let set_aside_path = |number: u64| path.with_file_name(format!("{SET_ASIDE}{number}-{name}"));
    let mut free = (1..).map(set_aside_path).filter(|place| !place.exists());
    let free = free.next().expect("numbers are unlimited");
    fs::rename(path, free).map_err(Fault::from_io_error(path, "rename"))
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
            let set_aside_path = format!("set-aside-{number}-edits-inprogress-1");
            let set_aside_path = fs::read_to_string(folder.path().join(set_aside_path)).unwrap();
            assert_eq!(set_aside_path, content);
        }
        assert!(!file.exists());
    }
}

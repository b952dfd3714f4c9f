//! Tests of the shared file helpers.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::os::fd::AsRawFd;

use iostudy_files::{CallError, close, create_own, open, open_at, open_own, read_all, write_all};
use rustix::fs::{OFlags, fstat};
use rustix::io::{Errno, FdFlags, fcntl_getfd};

type CallResult = Result<usize, Errno>;

/// Scripted results of a system call, and the offsets of its calls.
struct Script {
    results: RefCell<VecDeque<CallResult>>,
    offsets: RefCell<Vec<u64>>,
}

impl Script {
    fn new(results: impl Into<VecDeque<CallResult>>) -> Self {
        Self {
            results: RefCell::new(results.into()),
            offsets: RefCell::default(),
        }
    }

    fn next_result(&self, offset: u64) -> CallResult {
        self.offsets.borrow_mut().push(offset);
        let next_result = self.results.borrow_mut().pop_front();
        next_result.expect("the script has a result for every call")
    }

    fn write(&self, len: usize) -> Result<(), CallError> {
        write_all(&vec![7; len], 100, |_, offset| self.next_result(offset))
    }

    fn read(&self, len: usize) -> Result<usize, CallError> {
        read_all(&mut vec![0; len], 100, |_, offset| self.next_result(offset))
    }
}

#[test]
fn partial_transfers_continue_with_the_rest() {
    let script = || Script::new([Ok(3), Err(Errno::INTR), Ok(6), Ok(1)]);
    let (writing, reading) = (script(), script());
    assert_eq!(writing.write(10), Ok(()));
    assert_eq!(reading.read(10), Ok(10));
    for script in [writing, reading] {
        assert_eq!(script.offsets.into_inner(), [100, 103, 103, 109]);
    }
}

#[test]
fn an_error_has_its_offset() {
    let script = || Script::new([Ok(3), Err(Errno::NOSPC)]);
    let error = CallError {
        offset: 103,
        errno: Errno::NOSPC,
    };
    assert_eq!(script().write(10), Err(error));
    assert_eq!(script().read(10), Err(error));
}

#[test]
fn reading_nothing_is_the_end_and_writing_nothing_is_an_error() {
    let script = || Script::new([Ok(3), Ok(0)]);
    assert_eq!(script().read(10), Ok(3));
    let error = CallError {
        offset: 103,
        errno: Errno::IO,
    };
    assert_eq!(script().write(10), Err(error));
}

#[test]
fn empty_buffers_make_no_call() {
    assert_eq!(Script::new([]).write(0), Ok(()));
    assert_eq!(Script::new([]).read(0), Ok(0));
}

#[test]
fn a_new_file_is_writable_by_its_owner_and_closed_on_exec() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let file = open(&path, OFlags::WRONLY | OFlags::CREATE).unwrap();
    let mode = fstat(&file).unwrap().st_mode & 0o777;
    assert_eq!((mode & 0o600, mode & 0o133), (0o600, 0));
    assert_eq!(fcntl_getfd(&file), Ok(FdFlags::CLOEXEC));
    let number = file.as_raw_fd();
    close(file).unwrap();
    // Another test may have opened a file with the same number.
    let now = std::fs::read_link(format!("/proc/self/fd/{number}"));
    assert_ne!(now.ok(), Some(path));
}

#[test]
fn a_path_is_relative_to_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let top = open(folder.path(), OFlags::RDONLY | OFlags::DIRECTORY).unwrap();
    assert!(open_at(&top, c"file", OFlags::RDONLY).is_ok());
    let missing = open_at(&top, c"none", OFlags::RDONLY);
    assert_eq!(missing.unwrap_err(), Errno::NOENT);
}

#[test]
fn no_link_is_followed_and_no_file_with_a_second_name_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let (victim, other) = (folder.path().join("victim"), folder.path().join("other"));
    std::fs::write(&victim, "precious").unwrap();
    std::os::unix::fs::symlink(&victim, &other).unwrap();
    assert_eq!(create_own(&other, OFlags::WRONLY).unwrap_err(), Errno::LOOP);
    assert_eq!(open_own(&other, OFlags::RDWR).unwrap_err(), Errno::LOOP);
    std::fs::remove_file(&other).unwrap();
    std::fs::hard_link(&victim, &other).unwrap();
    assert_eq!(
        create_own(&other, OFlags::WRONLY).unwrap_err(),
        Errno::MLINK
    );
    assert_eq!(open_own(&other, OFlags::RDWR).unwrap_err(), Errno::MLINK);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    std::fs::remove_file(&other).unwrap();
    create_own(&victim, OFlags::WRONLY).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "");
}

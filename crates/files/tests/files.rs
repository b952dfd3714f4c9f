//! Files by way of the calls that all crates share.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::os::fd::AsRawFd;

use iostudy_files::{Refused, close, create_own, open, open_below, open_own, read_all, write_all};
use rustix::fs::{OFlags, fstat};
use rustix::io::{Errno, FdFlags, fcntl_getfd};

type Answer = Result<usize, Errno>;

/// What a call is to answer, one after the other, and the offsets it is asked for.
struct Script {
    answers: RefCell<VecDeque<Answer>>,
    offsets: RefCell<Vec<u64>>,
}

impl Script {
    fn new(answers: impl Into<VecDeque<Answer>>) -> Self {
        Self {
            answers: RefCell::new(answers.into()),
            offsets: RefCell::default(),
        }
    }

    fn answer(&self, offset: u64) -> Answer {
        self.offsets.borrow_mut().push(offset);
        let answer = self.answers.borrow_mut().pop_front();
        answer.expect("it is asked no more often")
    }

    fn write(&self, len: usize) -> Result<(), Refused> {
        write_all(&vec![7; len], 100, |_, offset| self.answer(offset))
    }

    fn read(&self, len: usize) -> Result<usize, Refused> {
        read_all(&mut vec![0; len], 100, |_, offset| self.answer(offset))
    }
}

#[test]
fn what_is_left_is_asked_for_again() {
    let script = || Script::new([Ok(3), Err(Errno::INTR), Ok(6), Ok(1)]);
    let (writing, reading) = (script(), script());
    assert_eq!(writing.write(10), Ok(()));
    assert_eq!(reading.read(10), Ok(10));
    for script in [writing, reading] {
        assert_eq!(script.offsets.into_inner(), [100, 103, 103, 109]);
    }
}

#[test]
fn a_fault_is_told_with_its_place() {
    let script = || Script::new([Ok(3), Err(Errno::NOSPC)]);
    let refused = Refused {
        offset: 103,
        errno: Errno::NOSPC,
    };
    assert_eq!(script().write(10), Err(refused));
    assert_eq!(script().read(10), Err(refused));
}

#[test]
fn nothing_read_is_the_end_and_nothing_written_a_fault() {
    let script = || Script::new([Ok(3), Ok(0)]);
    assert_eq!(script().read(10), Ok(3));
    let refused = Refused {
        offset: 103,
        errno: Errno::IO,
    };
    assert_eq!(script().write(10), Err(refused));
}

#[test]
fn no_bytes_are_no_call() {
    assert_eq!(Script::new([]).write(0), Ok(()));
    assert_eq!(Script::new([]).read(0), Ok(0));
}

#[test]
fn a_file_is_made_for_its_owner_to_write_and_for_no_other_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let file = open(&path, OFlags::WRONLY | OFlags::CREATE).unwrap();
    let mode = fstat(&file).unwrap().st_mode & 0o777;
    assert_eq!((mode & 0o600, mode & 0o133), (0o600, 0));
    assert_eq!(fcntl_getfd(&file), Ok(FdFlags::CLOEXEC));
    let number = file.as_raw_fd();
    close(file).unwrap();
    // Another test may have been given the number.
    let now = std::fs::read_link(format!("/proc/self/fd/{number}"));
    assert_ne!(now.ok(), Some(path));
}

#[test]
fn a_path_goes_from_its_directory() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let top = open(folder.path(), OFlags::RDONLY | OFlags::DIRECTORY).unwrap();
    assert!(open_below(&top, c"file", OFlags::RDONLY).is_ok());
    let missing = open_below(&top, c"none", OFlags::RDONLY);
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

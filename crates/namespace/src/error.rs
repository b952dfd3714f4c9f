//! How it can fail.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use thiserror::Error;

use crate::tree::Refused;

/// A system call that the kernel refused, and the file it was about.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}: {call}: {errno}", path.display())]
pub struct Fault {
    /// The file or directory.
    pub path: PathBuf,
    /// The system call.
    pub call: &'static str,
    /// What the kernel said.
    pub errno: Errno,
}

impl Fault {
    /// Of a call on `path`, to be used with `map_err`.
    pub(crate) fn of<'a>(path: &'a Path, call: &'static str) -> impl Fn(Errno) -> Self + 'a {
        move |errno| Self {
            path: path.to_owned(),
            call,
            errno,
        }
    }

    /// Of what the standard library does on `path`.
    pub(crate) fn of_std<'a>(
        path: &'a Path,
        call: &'static str,
    ) -> impl Fn(io::Error) -> Self + 'a {
        let of = Self::of(path, call);
        move |error| of(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

/// A log directory that was given up in mid-run, while others were left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The directory.
    pub directory: PathBuf,
    /// The first transaction that it may lack.
    pub transaction: u64,
    /// Why.
    pub fault: Fault,
}

impl fmt::Display for Dropped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} (from transaction {} on)",
            self.fault, self.transaction
        )
    }
}

/// Where a log or image is not what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// The first byte of the record that is damaged.
    pub offset: u64,
    /// The transaction that should be there.
    pub transaction: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            offset,
            transaction,
        } = self;
        let path = path.display();
        write!(
            formatter,
            "{path}: transaction {transaction}, at byte {offset}, is missing or damaged"
        )
    }
}

/// Why an operation, a run or a recovery ended before its end.
#[derive(Debug, Error)]
pub enum Error {
    /// A file could not be worked with.
    #[error(transparent)]
    File(#[from] Fault),
    /// The last log directory failed; what was not acknowledged until then is not durable.
    #[error("no log directory is left: {}", told(.0))]
    NoLogLeft(Vec<Dropped>),
    /// The tree refused an operation.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// No copy of a transaction is whole.
    #[error("{0}")]
    Damaged(Damage),
    /// What is in a log is not the next transaction, or cannot be done to the tree.
    #[error("{}: transaction {transaction} does not follow from those before: {why}", path.display())]
    OutOfOrder {
        /// The file.
        path: PathBuf,
        /// The transaction that it says it is.
        transaction: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The log tells another tree than the one that was served.
    #[error("the log of {} transactions does not tell the tree that was served", .transactions)]
    Differs {
        /// How many it holds.
        transactions: u64,
    },
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The caller asked to stop.
    #[error("stopped before its end")]
    Stopped,
}

fn told(dropped: &[Dropped]) -> String {
    let each: Vec<String> = dropped.iter().map(ToString::to_string).collect();
    each.join("; ")
}

impl From<iostudy_crew::Error<Error>> for Error {
    fn from(error: iostudy_crew::Error<Error>) -> Self {
        match error {
            iostudy_crew::Error::Fault { fault, .. } => fault,
            iostudy_crew::Error::Thread(source) => Self::Thread(source),
            iostudy_crew::Error::Stopped => Self::Stopped,
        }
    }
}

//! How it can fail.

use std::collections::BTreeSet;
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

/// Why a file or directory of a log was not used, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Defect {
    /// It could not be read.
    Unreadable(Fault),
    /// An image is not what was written.
    Image(PathBuf),
    /// A segment lacks transactions, from this one on.
    Segment(Damage),
}

impl Defect {
    /// The file or directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Unreadable(fault) => &fault.path,
            Self::Image(path) => path,
            Self::Segment(damage) => &damage.path,
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(fault) => fault.fmt(formatter),
            Self::Image(path) => write!(formatter, "{}: the image is damaged", path.display()),
            Self::Segment(damage) => damage.fmt(formatter),
        }
    }
}

/// What is not as it was written, in a log that was recovered all the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// Where copies end within their last batch, as a crash leaves them: from this transaction on it
    /// was not acknowledged by then, unless these sectors were lost since.
    pub torn: Vec<Damage>,
    /// What nothing was lost by: other copies, or an older image and the log behind it, had it.
    pub defects: Vec<Defect>,
}

impl Findings {
    /// Whether everything was as it was written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.torn.is_empty() && self.defects.is_empty()
    }

    /// Why one of these directories could not be listed, the first if several could not.
    pub(crate) fn unlisted(&self, directories: &[PathBuf]) -> Option<&Fault> {
        self.defects.iter().find_map(|defect| match defect {
            Defect::Unreadable(fault) if directories.contains(&fault.path) => Some(fault),
            _ => None,
        })
    }

    /// The files and directories that are concerned, each once.
    #[must_use]
    pub fn paths(&self) -> BTreeSet<&Path> {
        let torn = self.torn.iter().map(|damage| &*damage.path);
        torn.chain(self.defects.iter().map(Defect::path)).collect()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let torn = self.torn.iter().map(ToString::to_string);
        let defects = self.defects.iter().map(ToString::to_string);
        let each: Vec<_> = torn.chain(defects).collect();
        formatter.write_str(&each.join("; "))
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
    /// No copy of a transaction is whole, and it was acknowledged, or no crash leaves it so.
    #[error("{damage}, and no copy has it whole{}{RESTORE}", beside(.defects))]
    Damaged {
        /// Where it should be.
        damage: Damage,
        /// What else could not be used.
        defects: Vec<Defect>,
    },
    /// No copy has a transaction that was durable once.
    #[error("transaction {transaction} is missing, which was durable before {} was made{}{RESTORE}",
        shown_by.display(), beside(.defects))]
    Missing {
        /// The first.
        transaction: u64,
        /// The file that was made later.
        shown_by: PathBuf,
        /// What could not be used.
        defects: Vec<Defect>,
    },
    /// What no other copy has may lie in a file or directory that cannot be read.
    #[error("{fault}: transaction {transaction} may lie there, and in no other copy{RESTORE}")]
    Unreadable {
        /// What cannot be read.
        fault: Fault,
        /// The first that no other copy has.
        transaction: u64,
    },
    /// A log that was closed is not as it was written.
    #[error("the log is not as it was written: {0}")]
    NotWhole(Findings),
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

/// What can be done where no copy that is named is of use.
const RESTORE: &str =
    "; give the directory of a copy that is whole, or put such a copy in its place";

fn beside(defects: &[Defect]) -> String {
    let each = defects.iter().map(|defect| format!("; {defect}"));
    each.collect()
}

fn told(dropped: &[Dropped]) -> String {
    let each: Vec<String> = dropped.iter().map(ToString::to_string).collect();
    each.join("; ")
}

impl From<iostudy_worker_pool::Error<Error>> for Error {
    fn from(error: iostudy_worker_pool::Error<Error>) -> Self {
        match error {
            iostudy_worker_pool::Error::Fault { fault, .. } => fault,
            iostudy_worker_pool::Error::Thread(source) => Self::Thread(source),
            iostudy_worker_pool::Error::Stopped => Self::Stopped,
        }
    }
}

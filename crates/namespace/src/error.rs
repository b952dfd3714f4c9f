//! Errors of namespaces, jobs and recoveries.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use thiserror::Error;

use crate::tree::TreeError;

/// Failed system call and its path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}: {call}: {errno}", path.display())]
pub struct Fault {
    /// Path of the file or directory.
    pub path: PathBuf,
    /// Name of the system call.
    pub call: &'static str,
    /// Error number from the kernel.
    pub errno: Errno,
}

impl Fault {
    /// Map an errno to a fault of `call` on `path`.
    pub(crate) fn in_call<'a>(path: &'a Path, call: &'static str) -> impl Fn(Errno) -> Self + 'a {
        move |errno| Self {
            path: path.to_owned(),
            call,
            errno,
        }
    }

    /// Map an I/O error to a fault of `call` on `path`.
    pub(crate) fn from_io_error<'a>(
        path: &'a Path,
        call: &'static str,
    ) -> impl Fn(io::Error) -> Self + 'a {
        let of = Self::in_call(path, call);
        move |error| of(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

/// Log directory that failed during a run, while others remained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedLog {
    /// Path of the directory.
    pub directory: PathBuf,
    /// First transaction that it may lack.
    pub transaction: u64,
    /// Cause of the failure.
    pub fault: Fault,
}

impl fmt::Display for FailedLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} (from transaction {} on)",
            self.fault, self.transaction
        )
    }
}

/// Damaged part of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Path of the file.
    pub path: PathBuf,
    /// Offset of the damaged record.
    pub offset: u64,
    /// Expected transaction.
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

/// Reason why a file or directory was not fully used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Defect {
    /// Reading failed.
    Unreadable(Fault),
    /// The image is damaged.
    Image(PathBuf),
    /// The segment lacks transactions from here on.
    Segment(Damage),
}

impl Defect {
    /// Path of the file or directory.
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

/// Anomalies of a log whose recovery succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// Copies that end within their last batch, as after a crash. The transaction was
    /// unacknowledged, unless these sectors were lost later.
    pub torn: Vec<Damage>,
    /// Defects without data loss: another copy, or an older image and its log, had the data.
    pub defects: Vec<Defect>,
}

impl Findings {
    /// Whether there are no anomalies.
    pub fn is_empty(&self) -> bool {
        self.torn.is_empty() && self.defects.is_empty()
    }

    /// First fault in listing one of these directories.
    pub(crate) fn unlisted(&self, directories: &[PathBuf]) -> Option<&Fault> {
        self.defects.iter().find_map(|defect| match defect {
            Defect::Unreadable(fault) if directories.contains(&fault.path) => Some(fault),
            _ => None,
        })
    }

    /// Affected files and directories, each once.
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

/// Error of an operation, a run or a recovery.
#[derive(Debug, Error)]
pub enum Error {
    /// A system call on a file failed.
    #[error(transparent)]
    File(#[from] Fault),
    /// The last log directory failed; unacknowledged transactions are not durable.
    #[error("no log directory remains: {}", format_failures(.0))]
    AllLogsFailed(Vec<FailedLog>),
    /// The tree rejected an operation.
    #[error(transparent)]
    TreeError(#[from] TreeError),
    /// No copy of a transaction is intact, although it was acknowledged or no crash leaves it so.
    #[error("{damage}, and no copy is intact{}{RESTORE}", format_defects(.defects))]
    Damaged {
        /// Expected place of the transaction.
        damage: Damage,
        /// Other unusable files.
        defects: Vec<Defect>,
    },
    /// A transaction that was durable is missing in all copies.
    #[error("transaction {transaction} is missing, which was durable before {} was created{}{RESTORE}",
        evidence.display(), format_defects(.defects))]
    Missing {
        /// First missing transaction.
        transaction: u64,
        /// File that proves its durability.
        evidence: PathBuf,
        /// Unusable files.
        defects: Vec<Defect>,
    },
    /// A file or directory is unreadable and no other copy has its transactions.
    #[error("{fault}: transaction {transaction} may lie there, and in no other copy{RESTORE}")]
    Unreadable {
        /// Failed read.
        fault: Fault,
        /// First transaction without another copy.
        transaction: u64,
    },
    /// A closed log is damaged.
    #[error("the log is damaged: {0}")]
    IncompleteLog(Findings),
    /// A transaction does not follow from the previous ones.
    #[error("{}: transaction {transaction} does not follow from its predecessors: {why}", path.display())]
    OutOfOrder {
        /// Path of the file.
        path: PathBuf,
        /// Transaction id of the record.
        transaction: u64,
        /// The reason.
        why: String,
    },
    /// The log recovers to another tree than the served one.
    #[error("the log of {} transactions does not match the served tree", .transactions)]
    TreeMismatch {
        /// Number of transactions in the log.
        transactions: u64,
    },
    /// The system refused to start a thread.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The caller stopped the job.
    #[error("stopped before its end")]
    Stopped,
}

/// Remedy for a log without an intact copy.
const RESTORE: &str = "; give the directory of an intact copy, or replace the damaged files by it";

fn format_defects(defects: &[Defect]) -> String {
    let each = defects.iter().map(|defect| format!("; {defect}"));
    each.collect()
}

fn format_failures(failed_logs: &[FailedLog]) -> String {
    let each: Vec<String> = failed_logs.iter().map(ToString::to_string).collect();
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

//! What the tree says no to.

use thiserror::Error;

/// Why an operation is refused; the tree is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refused {
    /// There is nothing of that name.
    #[error("there is no {0}")]
    Missing(String),
    /// There is something of that name already.
    #[error("{0} is there already")]
    There(String),
    /// A file where a directory is needed.
    #[error("{0} is no directory")]
    NoDirectory(String),
    /// A directory that still holds something.
    #[error("{0} is not empty")]
    NotEmpty(String),
    /// No absolute path of names that are not empty, or the root where it cannot be.
    #[error("{0:?} cannot be the path of this operation")]
    Path(String),
    /// More than 4 billion files and directories.
    #[error("the tree is full")]
    Full,
}

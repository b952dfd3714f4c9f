//! Errors of tree operations.

use thiserror::Error;

/// Reason why an operation is rejected; the tree is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TreeError {
    /// The path does not exist.
    #[error("{0} does not exist")]
    NotFound(String),
    /// The path already exists.
    #[error("{0} already exists")]
    AlreadyExists(String),
    /// A path component is a file.
    #[error("{0} is not a directory")]
    NotADirectory(String),
    /// The directory is not empty.
    #[error("{0} is not empty")]
    DirectoryNotEmpty(String),
    /// The path is not absolute, has empty names, or is the root.
    #[error("{0:?} is not a valid path for this operation")]
    InvalidPath(String),
    /// The tree has more than 4 billion nodes.
    #[error("the tree is full")]
    Full,
}

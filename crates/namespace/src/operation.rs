//! Operations and the files that they apply to.

use std::fmt::Write;

use crate::mutation::Mutation;

/// Operation with its name in `NNThroughputBenchmark`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Create an empty file and leave it open.
    Create,
    /// Get the block locations of a file.
    Open,
    /// Rename a file within its directory.
    Rename,
    /// Delete a file.
    Delete,
    /// Create a directory.
    Mkdirs,
    /// Get the status of a file.
    FileStatus,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 6] = [
        Self::Create,
        Self::Open,
        Self::Rename,
        Self::Delete,
        Self::Mkdirs,
        Self::FileStatus,
    ];

    /// Name of the operation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Open => "open",
            Self::Rename => "rename",
            Self::Delete => "delete",
            Self::Mkdirs => "mkdirs",
            Self::FileStatus => "file-status",
        }
    }

    /// Whether the operation is logged.
    pub fn changes(self) -> bool {
        !matches!(self, Self::Open | Self::FileStatus)
    }
}

/// State of the job's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileState {
    None,
    Created,
    Renamed,
}

impl FileState {
    /// State after `operation`; `None` if it is impossible.
    pub(crate) fn after(self, operation: Operation) -> Option<Self> {
        match (operation, self) {
            (Operation::Create, Self::None) | (Operation::Mkdirs, _) => Some(match operation {
                Operation::Create => Self::Created,
                _ => self,
            }),
            (Operation::Open | Operation::FileStatus, Self::Created | Self::Renamed) => Some(self),
            (Operation::Rename, Self::Created) => Some(Self::Renamed),
            (Operation::Delete, Self::Created | Self::Renamed) => Some(Self::None),
            _ => None,
        }
    }
}

/// Reusable buffer for the paths of a job.
#[derive(Debug, Default)]
pub(crate) struct PathBuilder {
    path: String,
    name: String,
}

impl PathBuilder {
    /// Path of a directory.
    pub(crate) fn directory(&mut self, number: u64) -> &str {
        self.path.clear();
        write!(self.path, "/d{number}").expect("there is memory");
        &self.path
    }

    /// Mutation of `operation` on a file.
    pub(crate) fn mutation(
        &mut self,
        operation: Operation,
        (file, directory): (u64, u64),
        files: FileState,
        at_ms: u64,
    ) -> Mutation<'_> {
        let files = if operation == Operation::Create {
            FileState::Created
        } else {
            files
        };
        if operation == Operation::Mkdirs {
            self.directory(directory);
            write!(self.path, "/m{file}").expect("there is memory");
            return Mutation::Mkdir {
                path: &self.path,
                at_ms,
            };
        }
        self.file((file, directory), files);
        match operation {
            Operation::Create => Mutation::Create {
                path: &self.path,
                at_ms,
            },
            Operation::Delete => Mutation::Delete { path: &self.path },
            _ => {
                self.name.clear();
                write!(self.name, "r{file}").expect("there is memory");
                Mutation::Rename {
                    path: &self.path,
                    name: &self.name,
                    at_ms,
                }
            }
        }
    }

    /// Path of a file in its current state.
    pub(crate) fn file(&mut self, (file, directory): (u64, u64), files: FileState) -> &str {
        self.directory(directory);
        let letter = if files == FileState::Renamed {
            'r'
        } else {
            'f'
        };
        write!(self.path, "/{letter}{file}").expect("there is memory");
        &self.path
    }
}

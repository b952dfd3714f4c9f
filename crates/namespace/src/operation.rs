//! What can be measured, on which files.

use std::fmt::Write;

use crate::mutation::Mutation;

/// An operation, as `NNThroughputBenchmark` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Make an empty file and leave it open.
    Create,
    /// Ask where the blocks of a file lie.
    Open,
    /// Give a file another name in its directory.
    Rename,
    /// Remove a file.
    Delete,
    /// Make a directory.
    Mkdirs,
    /// Ask what is known of a file.
    FileStatus,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Create,
        Self::Open,
        Self::Rename,
        Self::Delete,
        Self::Mkdirs,
        Self::FileStatus,
    ];

    /// Its name.
    #[must_use]
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

    /// Whether it goes through the log.
    #[must_use]
    pub fn changes(self) -> bool {
        !matches!(self, Self::Open | Self::FileStatus)
    }
}

/// How the files of a job are called now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    None,
    Created,
    Renamed,
}

impl Files {
    /// What there is after `operation`; None if it cannot be done now.
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

/// The paths of a job, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    path: String,
    name: String,
}

impl Paths {
    /// The directory of that number.
    pub(crate) fn directory(&mut self, number: u64) -> &str {
        self.path.clear();
        write!(self.path, "/d{number}").expect("there is memory");
        &self.path
    }

    /// What `operation` does to the file of that number.
    pub(crate) fn mutation(
        &mut self,
        operation: Operation,
        (file, directory): (u64, u64),
        files: Files,
        at_ms: u64,
    ) -> Mutation<'_> {
        let files = if operation == Operation::Create {
            Files::Created
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

    /// The file of that number, as it is called now.
    pub(crate) fn file(&mut self, (file, directory): (u64, u64), files: Files) -> &str {
        self.directory(directory);
        let letter = if files == Files::Renamed { 'r' } else { 'f' };
        write!(self.path, "/{letter}{file}").expect("there is memory");
        &self.path
    }
}

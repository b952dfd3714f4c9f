//! What the tree holds between two phases.

use crate::operation::Operation;

/// The first letter of a name; a number follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Created = b'f',
    Renamed = b'r',
    Directory = b'd',
}

impl Kind {
    pub(crate) fn letter(self) -> u8 {
        self as u8
    }
}

/// Either no files, or all of them under names of one kind; and the same with directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stock {
    pub(crate) files: Option<Kind>,
    pub(crate) directories: bool,
}

impl Stock {
    /// The least that must be there for the operations to be possible in their order.
    pub(crate) fn before(operations: &[Operation]) -> Self {
        let first = |of: &[Operation]| operations.iter().copied().find(|one| of.contains(one));
        let of_files = first(&[
            Operation::CreateWrite,
            Operation::OpenRead,
            Operation::Stat,
            Operation::Rename,
            Operation::Delete,
        ]);
        let of_directories = first(&[Operation::Mkdir, Operation::Rmdir]);
        let files = match (of_files, of_directories) {
            (Some(Operation::CreateWrite), _) | (None, Some(_)) => None,
            (Some(_), _) | (None, None) => Some(Kind::Created),
        };
        Self {
            files,
            directories: of_directories == Some(Operation::Rmdir),
        }
    }

    /// What is there after an operation; what is wrong if it cannot be done.
    pub(crate) fn after(self, operation: Operation) -> Result<Self, &'static str> {
        let files = |kind| {
            Ok(Self {
                files: kind,
                ..self
            })
        };
        let directories = |directories| {
            Ok(Self {
                directories,
                ..self
            })
        };
        match (operation, self.files, self.directories) {
            (Operation::CreateWrite, None, _) => files(Some(Kind::Created)),
            (Operation::CreateWrite, Some(_), _) => Err("the files are there already"),
            (Operation::List, ..) | (Operation::OpenRead | Operation::Stat, Some(_), _) => Ok(self),
            (Operation::Rename, Some(_), _) => files(Some(Kind::Renamed)),
            (Operation::Delete, Some(_), _) => files(None),
            (Operation::OpenRead | Operation::Stat | Operation::Rename | Operation::Delete, ..) => {
                Err("the files are gone by then")
            }
            (Operation::Mkdir, _, false) => directories(true),
            (Operation::Mkdir, _, true) => Err("the directories are there already"),
            (Operation::Rmdir, _, true) => directories(false),
            (Operation::Rmdir, _, false) => Err("the directories are gone by then"),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The kinds of names that there are for every number.
    pub(crate) fn kinds(self) -> impl Iterator<Item = Kind> + Clone {
        let directories = self.directories.then_some(Kind::Directory);
        self.files.into_iter().chain(directories)
    }
}

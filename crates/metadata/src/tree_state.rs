//! Contents of the tree between two phases.

use crate::job::Operation;

/// Kind of a name: its first letter, which a number follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum NameKind {
    Created = b'f',
    Renamed = b'r',
    Directory = b'd',
}

impl NameKind {
    pub(crate) fn letter(self) -> u8 {
        self as u8
    }
}

/// Either no files or all files under names of one kind; likewise for directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TreeState {
    pub(crate) files: Option<NameKind>,
    pub(crate) directories: bool,
}

impl TreeState {
    /// Minimum state that the operations require in their order.
    pub(crate) fn required_before(operations: &[Operation]) -> Self {
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
            (Some(_), _) | (None, None) => Some(NameKind::Created),
        };
        Self {
            files,
            directories: of_directories == Some(Operation::Rmdir),
        }
    }

    /// State after an operation, or the reason why the operation is impossible.
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
            (Operation::CreateWrite, None, _) => files(Some(NameKind::Created)),
            (Operation::CreateWrite, Some(_), _) => Err("the files already exist"),
            (Operation::List, ..) | (Operation::OpenRead | Operation::Stat, Some(_), _) => Ok(self),
            (Operation::Rename, Some(_), _) => files(Some(NameKind::Renamed)),
            (Operation::Delete, Some(_), _) => files(None),
            (Operation::OpenRead | Operation::Stat | Operation::Rename | Operation::Delete, ..) => {
                Err("the files no longer exist")
            }
            (Operation::Mkdir, _, false) => directories(true),
            (Operation::Mkdir, _, true) => Err("the directories already exist"),
            (Operation::Rmdir, _, true) => directories(false),
            (Operation::Rmdir, _, false) => Err("the directories no longer exist"),
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Kinds of names that exist for every number.
    pub(crate) fn kinds(self) -> impl Iterator<Item = NameKind> + Clone {
        let directories = self.directories.then_some(NameKind::Directory);
        self.files.into_iter().chain(directories)
    }
}

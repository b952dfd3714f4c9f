//! Metadata operations.

/// Operation of `NNBench` or mdtest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Create a file, write it and close it: `NNBench`'s `create_write`, mdtest's "File creation".
    CreateWrite,
    /// Open a file, read it to its end and close it: `open_read`, "File read".
    OpenRead,
    /// Read a file's attributes: "File stat".
    Stat,
    /// List one directory.
    List,
    /// Rename a file within its directory: `rename`.
    Rename,
    /// Unlink a file: `delete`, "File removal".
    Delete,
    /// Create an empty directory: "Directory creation".
    Mkdir,
    /// Remove an empty directory: "Directory removal".
    Rmdir,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 8] = [
        Self::CreateWrite,
        Self::OpenRead,
        Self::Stat,
        Self::List,
        Self::Rename,
        Self::Delete,
        Self::Mkdir,
        Self::Rmdir,
    ];

    /// Name in options and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CreateWrite => "create_write",
            Self::OpenRead => "open_read",
            Self::Stat => "stat",
            Self::List => "list",
            Self::Rename => "rename",
            Self::Delete => "delete",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
        }
    }

    /// Whether the operation changes a directory.
    #[must_use]
    pub fn changes(self) -> bool {
        match self {
            Self::CreateWrite | Self::Rename | Self::Delete | Self::Mkdir | Self::Rmdir => true,
            Self::OpenRead | Self::Stat | Self::List => false,
        }
    }
}

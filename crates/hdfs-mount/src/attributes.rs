//! Attributes and error numbers of Linux for those of HDFS.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{Errno, FileAttr, FileType, INodeNo};
use hdfs_native::HdfsError;
use hdfs_native::client::FileStatus;
use log::warn;
use rustix::process::{getgid, getuid};

/// The permission bits that a read-only mount can grant.
const READABLE: u16 = 0o555;
/// Unit of `st_blocks`.
const SECTOR_BYTES: u64 = 512;
/// What programs read at once if they follow `st_blksize`; the kernel reads ahead of them.
const PREFERRED_BYTES: u32 = 4096;

/// Attributes of a file or directory, which belongs to the user of this process.
///
/// `HDFS` checks its permissions for that user, by names that this host may not know. Unless the
/// mount is `writable`, nobody has the permission to write.
pub fn attributes(inode: u64, status: &FileStatus, writable: bool) -> FileAttr {
    let size = status.length as u64;
    let modified = time(status.modification_time);
    FileAttr {
        ino: INodeNo(inode),
        size,
        blocks: size.div_ceil(SECTOR_BYTES),
        atime: time(status.access_time),
        mtime: modified,
        ctime: modified,
        crtime: UNIX_EPOCH,
        kind: if status.isdir {
            FileType::Directory
        } else {
            FileType::RegularFile
        },
        perm: if writable {
            status.permission
        } else {
            status.permission & READABLE
        },
        nlink: 1,
        uid: getuid().as_raw(),
        gid: getgid().as_raw(),
        rdev: 0,
        blksize: PREFERRED_BYTES,
        flags: 0,
    }
}

/// Times of HDFS are milliseconds.
fn time(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(milliseconds)
}

/// Warn of an error on a path; return its number.
pub fn report(path: &str, error: &HdfsError) -> Errno {
    let text = error.to_string(); // of the NameNode, with a trace of its stack
    warn!("{path}: {}", text.lines().next().unwrap_or_default());
    error_number(error)
}

/// The error number for an error of the client.
pub fn error_number(error: &HdfsError) -> Errno {
    match error {
        HdfsError::FileNotFound(_) | HdfsError::InvalidPath(_) => Errno::ENOENT,
        HdfsError::IsADirectoryError(_) => Errno::EISDIR,
        HdfsError::AlreadyExists(_) => Errno::EEXIST, // the client makes it of two exceptions
        HdfsError::UnsupportedFeature(_) => Errno::EOPNOTSUPP,
        HdfsError::RPCError(class, _) | HdfsError::FatalRPCError(class, _) => remote(class),
        _ => Errno::EIO,
    }
}

/// The error number for an exception of the `NameNode`.
fn remote(class: &str) -> Errno {
    match class.rsplit('.').next() {
        Some("AccessControlException") => Errno::EACCES,
        Some("FileNotFoundException" | "InvalidPathException") => Errno::ENOENT,
        Some("ParentNotDirectoryException") => Errno::ENOTDIR,
        Some("PathIsNotEmptyDirectoryException") => Errno::ENOTEMPTY,
        Some("RecoveryInProgressException") => Errno::EBUSY,
        Some("SafeModeException") => Errno::EROFS,
        Some("DSQuotaExceededException" | "NSQuotaExceededException") => Errno::EDQUOT,
        _ => Errno::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(isdir: bool) -> FileStatus {
        FileStatus {
            path: "/a".into(),
            length: 1025,
            isdir,
            permission: 0o1750,
            owner: "hdfs".into(),
            group: "hdfs".into(),
            modification_time: 1_500,
            access_time: 0,
            replication: None,
            blocksize: None,
        }
    }

    #[test]
    fn a_file_has_its_size_and_no_permission_to_write() {
        let found = attributes(7, &status(false), false);
        assert_eq!((found.ino, found.size, found.blocks), (INodeNo(7), 1025, 3));
        assert_eq!((found.kind, found.perm), (FileType::RegularFile, 0o550));
        assert_eq!(found.mtime, UNIX_EPOCH + Duration::from_millis(1_500));
        let writable = attributes(7, &status(true), true);
        assert_eq!(
            (writable.kind, writable.perm),
            (FileType::Directory, 0o1750)
        );
    }

    #[test]
    fn exceptions_have_their_error_numbers() {
        let remote = |class: &str| error_number(&HdfsError::RPCError(class.into(), String::new()));
        let denied = remote("org.apache.hadoop.security.AccessControlException");
        assert_eq!(denied.code(), Errno::EACCES.code());
        assert_eq!(remote("java.io.IOException").code(), Errno::EIO.code());
        let missing = error_number(&HdfsError::FileNotFound("/a".into()));
        assert_eq!(missing.code(), Errno::ENOENT.code());
    }
}

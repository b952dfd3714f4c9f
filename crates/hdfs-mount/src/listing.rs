//! Replies with the entries of an open directory.

use fuser::{Errno, FileHandle, Generation, INodeNo, ReplyDirectory, ReplyDirectoryPlus};
use hdfs_native::client::FileStatus;

use crate::operations::Operations;

/// What FUSE says for an inode number that a directory does not know.
const UNKNOWN_INODE: u64 = 0xffff_ffff;

impl Operations {
    pub fn list(&self, handle: FileHandle, offset: u64, mut reply: ReplyDirectoryPlus) {
        let Some(entries) = self.listed(handle) else {
            return reply.error(Errno::EBADF);
        };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let timeout = self.shortest_timeout();
        let mut inodes = self.inodes();
        for (next, status) in (1..).zip(entries.iter()).skip(offset) {
            let inode = inodes.look_up(&status.path);
            let found = self.attributes(inode, status);
            if reply.add(
                found.ino,
                next,
                name(status),
                &timeout,
                &found,
                Generation(0),
            ) {
                // There is no room for it: the kernel does not see it.
                inodes.forget(inode, 1);
                break;
            }
        }
        drop(inodes);
        reply.ok();
    }

    /// List names and kinds only: a writable mount may have changed attributes since the listing.
    pub fn list_names(&self, handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let Some(entries) = self.listed(handle) else {
            return reply.error(Errno::EBADF);
        };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        for (next, status) in (1..).zip(entries.iter()).skip(offset) {
            let kind = self.attributes(UNKNOWN_INODE, status).kind;
            if reply.add(INodeNo(UNKNOWN_INODE), next, kind, name(status)) {
                break;
            }
        }
        reply.ok();
    }
}

fn name(status: &FileStatus) -> &str {
    status.path.rsplit('/').next().unwrap_or_default()
}

//! Blocks of the simulated file of metadata: inodes, names, directories and bitmaps.

use std::ops::Range;

use iostudy_metadata as engine;
use iostudy_metadata::{Layout, Operation as Change};
use iostudy_simulator::PAGE_BYTES;

/// Inodes of a block.
const INODES_PER_BLOCK: u64 = PAGE_BYTES / 256;
/// Blocks of the inode table that are read at once (`inode_readahead_blks`).
const INODE_READ_AHEAD: u64 = 32;
/// Names of a block: Linux 6.18 put 40,000 short names into 260 blocks.
const NAMES_PER_BLOCK: u64 = 154;
/// Blocks of a group that each new or removed file changes: inode bitmap and group descriptor.
const GROUP_BLOCKS: u64 = 2;

/// Places of the blocks in the file of metadata.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Files of all threads.
    pub items: u64,
    /// Directories that operations make.
    pub made: u64,
    directories: u64,
    /// Blocks with the names of a directory.
    blocks_per_directory: u64,
}

impl Shape {
    pub fn of(job: &engine::Job) -> Self {
        let layout = Layout::of(job);
        let trees = if job.shared { 1 } else { job.threads as u64 };
        let largest = layout.items(0);
        let names = largest.end - largest.start;
        let items = job.files * job.threads as u64;
        let makes = |operation: &Change| matches!(operation, Change::Mkdir | Change::Rmdir);
        Self {
            items,
            made: if job.operations.iter().any(makes) {
                items
            } else {
                0
            },
            directories: trees * layout.leaves(),
            blocks_per_directory: names.div_ceil(NAMES_PER_BLOCK),
        }
    }

    pub const fn inode_blocks(self) -> u64 {
        (self.items + self.made).div_ceil(INODES_PER_BLOCK)
    }

    pub const fn name_blocks(self) -> u64 {
        self.directories * self.blocks_per_directory
    }

    /// All blocks: inodes, names, the inode of each directory in a block of its own, a block of
    /// each directory that an operation makes, the block bitmap, and the other blocks of a group.
    pub const fn blocks(self) -> u64 {
        self.block_bitmap() + 1 + GROUP_BLOCKS
    }

    /// Block with the inode of a directory: the file system places directories far apart.
    pub const fn directory(self, number: u64) -> u64 {
        self.inode_blocks() + self.name_blocks() + number
    }

    pub const fn block_bitmap(self) -> u64 {
        self.body(self.made)
    }

    /// Blocks of the group that each new or removed file changes.
    pub fn group(self) -> Range<u64> {
        let first = self.block_bitmap() + 1;
        first..first + GROUP_BLOCKS
    }

    /// Block of an inode.
    pub const fn inode(number: u64) -> u64 {
        number / INODES_PER_BLOCK
    }

    /// The block, or the part of the inode table that is read with it.
    pub fn read_with(self, block: u64) -> Range<u64> {
        if block >= self.inode_blocks() {
            return block..block + 1;
        }
        let first = block / INODE_READ_AHEAD * INODE_READ_AHEAD;
        first..self.inode_blocks().min(first + INODE_READ_AHEAD)
    }

    /// Block of a name in a directory: names are placed by a hash.
    pub const fn name(self, directory: u64, hash: u64) -> u64 {
        let block = hash % self.blocks_per_directory;
        self.inode_blocks() + directory * self.blocks_per_directory + block
    }

    pub const fn names(self, directory: u64) -> Range<u64> {
        let first = self.name(directory, 0);
        first..first + self.blocks_per_directory
    }

    pub const fn body(self, number: u64) -> u64 {
        self.directory(self.directories) + number
    }
}

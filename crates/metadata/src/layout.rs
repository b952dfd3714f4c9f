//! Layout of files in directory trees.

use std::ffi::CStr;
use std::iter::StepBy;
use std::ops::Range;

use crate::job::Job;
use crate::tree_state::NameKind;

/// A letter and the longest number.
const LONGEST_NAME_BYTES: usize = 1 + 20;

/// Layout of every tree. Files are numbered; each directory holds a range of numbers.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    shared: bool,
    /// Distance between two file numbers of a thread.
    stride: u64,
    items_per_tree: u64,
    items_per_directory: u64,
    depth: u32,
    /// Subdirectories per directory, large enough for all leaves.
    branching: u64,
}

impl Layout {
    /// Layout of the trees of a job.
    pub fn of(job: &Job) -> Self {
        let stride = if job.shared { job.threads as u64 } else { 1 };
        let items_per_tree = job.files * stride;
        let leaves = items_per_tree.div_ceil(job.files_per_directory);
        Self {
            shared: job.shared,
            stride,
            items_per_tree,
            items_per_directory: job.files_per_directory,
            depth: job.depth,
            branching: branching(leaves, job.depth),
        }
    }

    /// Number of leaf directories, which hold the files.
    pub fn leaves(&self) -> u64 {
        self.items_per_tree.div_ceil(self.items_per_directory)
    }

    /// Name of the tree in which a thread works.
    pub(crate) fn tree_name(&self, thread: usize) -> String {
        if self.shared {
            "shared".to_owned()
        } else {
            format!("thread-{thread}")
        }
    }

    /// Numbers of all files in a directory.
    pub fn items(&self, leaf: u64) -> Range<u64> {
        let start = leaf * self.items_per_directory;
        let end = start.saturating_add(self.items_per_directory);
        start..end.min(self.items_per_tree)
    }

    /// Numbers of one thread's files: in a shared tree every directory has files of each thread.
    pub fn thread_items(&self, thread: usize, leaf: u64) -> StepBy<Range<u64>> {
        let Range { start, end } = self.items(leaf);
        let first =
            start + (self.position(thread) + self.stride - start % self.stride) % self.stride;
        (first.min(end)..end).step_by(self.step())
    }

    /// Leaf directories that one thread creates.
    pub(crate) fn thread_leaves(&self, thread: usize) -> StepBy<Range<u64>> {
        let end = self.leaves();
        (self.position(thread).min(end)..end).step_by(self.step())
    }

    /// Offset that makes file numbers unique over all trees.
    pub fn first_file(&self, thread: usize) -> u64 {
        if self.shared {
            0
        } else {
            thread as u64 * self.items_per_tree
        }
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Index of a leaf's ancestor directory within its level.
    pub(crate) fn ancestor(&self, leaf: u64, level: u32) -> u64 {
        let room = self.branching.checked_pow(self.depth - level);
        room.map_or(0, |room| leaf / room)
    }

    /// Append the path of a directory, with a slash after each name.
    pub(crate) fn append_directory(&self, leaf: u64, level: u32, path: &mut Vec<u8>) {
        let mut numbers = itoa::Buffer::new();
        for above in 1..=level {
            path.push(b't');
            let number = self.ancestor(leaf, above) % self.branching;
            path.extend_from_slice(numbers.format(number).as_bytes());
            path.push(b'/');
        }
    }

    /// Maximum path length below the job's directory, in bytes.
    pub(crate) fn longest_path_bytes(&self) -> usize {
        let tree = "/thread-/".len() + LONGEST_NAME_BYTES;
        let level = "t/".len() + itoa::Buffer::new().format(self.branching).len();
        tree + self.depth as usize * level + LONGEST_NAME_BYTES
    }

    fn position(&self, thread: usize) -> u64 {
        if self.shared { thread as u64 } else { 0 }
    }

    fn step(&self) -> usize {
        usize::try_from(self.stride).expect("a stride is a number of threads")
    }
}

/// Smallest number whose power of `depth` is at least `leaves`.
fn branching(leaves: u64, depth: u32) -> u64 {
    let enough = |width: u64| width.checked_pow(depth).is_none_or(|room| room >= leaves);
    let (mut low, mut high) = (1, leaves.max(1));
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Path relative to the root of a tree. It reuses one buffer, because an allocation would be
/// measured with the system call.
pub(crate) struct ItemPath {
    bytes: Vec<u8>,
    directory_bytes: usize,
    numbers: itoa::Buffer,
}

impl ItemPath {
    pub(crate) fn new(layout: &Layout) -> Self {
        Self {
            bytes: Vec::with_capacity(layout.longest_path_bytes()),
            directory_bytes: 0,
            numbers: itoa::Buffer::new(),
        }
    }

    /// Set the current directory.
    pub(crate) fn enter(&mut self, layout: &Layout, leaf: u64, level: u32) {
        self.bytes.clear();
        layout.append_directory(leaf, level, &mut self.bytes);
        self.directory_bytes = self.bytes.len();
    }

    /// Path of the current directory.
    pub(crate) fn directory(&mut self) -> &CStr {
        self.bytes.truncate(self.directory_bytes);
        self.bytes.push(0);
        self.as_c_str()
    }

    /// Path of an item in the current directory.
    pub(crate) fn name(&mut self, kind: NameKind, item: u64) -> &CStr {
        self.bytes.truncate(self.directory_bytes);
        self.bytes.push(kind.letter());
        self.bytes
            .extend_from_slice(self.numbers.format(item).as_bytes());
        self.bytes.push(0);
        self.as_c_str()
    }

    /// Most recent path.
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_as_wide_as_its_depth_needs() {
        let widths = [
            (1, 1),
            (1, 5),
            (1000, 1),
            (1000, 3),
            (1001, 3),
            (u64::MAX, 1),
        ];
        let found = widths.map(|(leaves, depth)| branching(leaves, depth));
        assert_eq!(found, [1, 1, 1000, 10, 11, u64::MAX]);
    }
}

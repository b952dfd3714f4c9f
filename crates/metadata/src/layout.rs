//! Where each file lies: trees, their directories, and the numbers in each of them.

use std::iter::StepBy;
use std::ops::Range;

use crate::job::Job;

/// A letter and the longest number there is.
const LONGEST_NAME_BYTES: usize = 1 + 20;

/// The form of every tree. Files have numbers; as many as go into a directory follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    shared: bool,
    /// How far the numbers of a thread lie apart.
    stride: u64,
    items_per_tree: u64,
    items_per_directory: u64,
    depth: u32,
    /// How many directories there are in each, so that the lowest level has room for all.
    branching: u64,
}

impl Layout {
    pub(crate) fn of(job: &Job) -> Self {
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

    /// The directories that hold files are numbered up to this.
    pub(crate) fn leaves(&self) -> u64 {
        self.items_per_tree.div_ceil(self.items_per_directory)
    }

    /// The name of the tree in which a thread works.
    pub(crate) fn tree_name(&self, thread: usize) -> String {
        if self.shared {
            "shared".to_owned()
        } else {
            format!("thread-{thread}")
        }
    }

    /// The numbers of all files of a directory, whoever made them.
    pub(crate) fn items(&self, leaf: u64) -> Range<u64> {
        let start = leaf * self.items_per_directory;
        let end = start.saturating_add(self.items_per_directory);
        start..end.min(self.items_per_tree)
    }

    /// Those of one thread: in a shared tree every directory has some of each thread.
    pub(crate) fn items_of(&self, thread: usize, leaf: u64) -> StepBy<Range<u64>> {
        let Range { start, end } = self.items(leaf);
        let first =
            start + (self.position(thread) + self.stride - start % self.stride) % self.stride;
        (first.min(end)..end).step_by(self.step())
    }

    /// The directories that one thread makes.
    pub(crate) fn leaves_of(&self, thread: usize) -> StepBy<Range<u64>> {
        let end = self.leaves();
        (self.position(thread).min(end)..end).step_by(self.step())
    }

    /// What is added to the numbers of a tree to make those of no two trees the same.
    pub(crate) fn first_file(&self, thread: usize) -> u64 {
        if self.shared {
            0
        } else {
            thread as u64 * self.items_per_tree
        }
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// The number, among those of its level, of the directory in which a leaf lies.
    pub(crate) fn ancestor(&self, leaf: u64, level: u32) -> u64 {
        let room = self.branching.checked_pow(self.depth - level);
        room.map_or(0, |room| leaf / room)
    }

    /// Append the path of that directory, each of its names followed by a slash.
    pub(crate) fn append_directory(&self, leaf: u64, level: u32, path: &mut Vec<u8>) {
        let mut numbers = itoa::Buffer::new();
        for above in 1..=level {
            path.push(b't');
            let number = self.ancestor(leaf, above) % self.branching;
            path.extend_from_slice(numbers.format(number).as_bytes());
            path.push(b'/');
        }
    }

    /// The most bytes that a path has below the job's directory.
    pub(crate) fn longest_path_bytes(&self) -> usize {
        let tree = "/thread-/".len() + LONGEST_NAME_BYTES;
        let level = "t/".len() + itoa::Buffer::new().format(self.branching).len();
        tree + self.depth as usize * level + LONGEST_NAME_BYTES
    }

    fn position(&self, thread: usize) -> u64 {
        if self.shared { thread as u64 } else { 0 }
    }

    fn step(&self) -> usize {
        usize::try_from(self.stride).expect("it is a number of threads")
    }
}

/// The smallest number whose power of `depth` is at least `leaves`.
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

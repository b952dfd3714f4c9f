//! Jobs of `MRBench`, and places of their files and folders on a simulated disk.

use std::ops::Range;
use std::path::PathBuf;

use iostudy_simulator::PAGE_BYTES;

/// Jobs one after another.
#[derive(Clone, Debug)]
pub struct MrBench {
    /// Folder of all files.
    pub directory: PathBuf,
    /// Number of jobs.
    pub jobs: u64,
    /// Map tasks of a job.
    pub maps: u64,
    /// Reduce tasks of a job.
    pub reduces: u64,
    /// Whether files and renames are durable before the next step.
    pub fsync: bool,
    /// Bytes of the input.
    pub input_bytes: u64,
}

/// Pages of the files of one job, in the order of their creation.
#[derive(Clone, Copy)]
pub struct Pages {
    /// Pages of an output of a map.
    map: u64,
    /// Pages of an output of a reduce.
    reduce: u64,
    maps: u64,
    reduces: u64,
}

/// The split and the properties of a job.
const STAGED_PAGES: u64 = 2;

impl Pages {
    pub const fn of(bench: &MrBench) -> Self {
        Self {
            map: page_count(bench.input_bytes / bench.maps),
            reduce: page_count(bench.input_bytes / bench.reduces),
            maps: bench.maps,
            reduces: bench.reduces,
        }
    }

    /// Pages of all files of a job.
    pub const fn all(self) -> u64 {
        self.part(self.reduces).start
    }

    /// Pages of a map's output; those of its index follow.
    pub const fn output(self, map: u64) -> Range<u64> {
        let first = STAGED_PAGES + map * (self.map + 1);
        first..first + self.map
    }

    pub const fn index(self, map: u64) -> Range<u64> {
        let end = self.output(map).end;
        end..end + 1
    }

    /// Pages of a map's output that a reduce reads.
    pub const fn stretch(self, map: u64, reduce: u64) -> Range<u64> {
        let first = self.output(map).start;
        let begin = first + self.map * reduce / self.reduces;
        begin..first + (self.map * (reduce + 1)).div_ceil(self.reduces)
    }

    pub const fn part(self, reduce: u64) -> Range<u64> {
        let first = STAGED_PAGES + self.maps * (self.map + 1) + reduce * self.reduce;
        first..first + self.reduce
    }
}

const fn page_count(bytes: u64) -> u64 {
    if bytes == 0 {
        1
    } else {
        bytes.div_ceil(PAGE_BYTES)
    }
}

/// Blocks of the metadata that all jobs share: names of the three top folders, and of a group the
/// bitmaps and the descriptor.
pub const SHARED_BLOCKS: u64 = 6;
/// Block with the names of all staging folders.
pub const STAGINGS: u64 = 0;
/// Block with those of all intermediate folders.
pub const INTERMEDIATES: u64 = 1;
/// Block with those of all outputs.
pub const OUTPUTS: u64 = 2;
/// Blocks of the group.
pub const GROUP: Range<u64> = 3..SHARED_BLOCKS;

/// Folders of a job but those of its tasks.
#[derive(Clone, Copy)]
pub enum Folder {
    Staging,
    Intermediate,
    IntermediateTemporary,
    Output,
    OutputTemporary,
    OutputTasks,
    OutputAttempts,
}

/// Number of these folders.
pub const FOLDERS: u64 = 7;

/// Blocks of the metadata of one job: its inodes, names of its folders, and for each task its
/// inodes and the names of its folder.
#[derive(Clone, Copy)]
pub struct Blocks {
    pub first: u64,
    maps: u64,
}

impl Blocks {
    pub const fn size(bench: &MrBench) -> u64 {
        1 + FOLDERS + 2 * (bench.maps + bench.reduces)
    }

    pub const fn of(bench: &MrBench, job: u64) -> Self {
        Self {
            first: SHARED_BLOCKS + job * Self::size(bench),
            maps: bench.maps,
        }
    }

    pub const fn inodes(self) -> u64 {
        self.first
    }

    pub const fn folder(self, folder: Folder) -> u64 {
        self.first + 1 + folder as u64
    }

    pub const fn map(self, map: u64) -> [u64; 2] {
        let inodes = self.first + 1 + FOLDERS + 2 * map;
        [inodes, inodes + 1]
    }

    pub const fn reduce(self, reduce: u64) -> [u64; 2] {
        self.map(self.maps + reduce)
    }
}

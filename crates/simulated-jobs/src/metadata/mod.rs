//! Metadata operations as threads of a simulation, on a file system with a journal.
//!
//! The file system is a model of ext4 with its defaults: inodes of 256 bytes in a table in the
//! order of their creation, directories as hashed trees, and a journal of whole blocks.
//!
//! - An operation touches the block of its inode, the block of its name and the inode of the
//!   directory. One that makes or removes a file or directory also changes bitmaps and the
//!   descriptor of one group. A changed block is dirty in the page cache; one that is not cached is
//!   read before.
//! - fsync writes the data of a file and waits until the journal has its inode, or the inode of a
//!   directory. The simulated journal commits changes of all threads together.
//! - A sync at the end of a phase writes the data, commits, and writes the changed blocks to their
//!   places.
//! - Operations that change a directory take its lock: in a directory that all threads share, one
//!   begins when the one before has ended.
//! - No commit happens because of the age of changes.

mod shape;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use iostudy_latency::{empty_latencies, merge};
use iostudy_metadata as engine;
use iostudy_metadata::{Layout, Operation as Change, SyncPolicy};
use iostudy_pattern::{Record, nth};
use iostudy_schedulers::Nanos;
use iostudy_simulator::{
    Division, Item, Job, Kind, Operation, Operations, PAGE_BYTES, Phase, Round, workers,
};

use self::shape::Shape;
use crate::costs::{CREATE, DELETE, LIST_ENTRY, MKDIR, OPEN_READ, RENAME, RMDIR, STAT};
use crate::file_table::{FileTable, start};
use crate::terasort::{index, repeated};

/// Fewest blocks of the journal: those of ext4 on 2 to 16 GiB, by mke2fs(8).
const JOURNAL_BLOCKS: u64 = 16_384;
/// Share of the drive before the journal: it is in the middle of the file system.
const JOURNAL_AT: u64 = 2;
/// The trees on the simulated disk, as one file of metadata and one of data.
struct Trees {
    job: engine::Job,
    layout: Layout,
    metadata: usize,
    data: usize,
    /// Times from which the locks of shared directories are free.
    free: Mutex<HashMap<u64, Nanos>>,
}

/// Make a file of metadata with a journal. Returns both.
///
/// # Errors
///
/// The disk has no room.
pub(crate) fn create_metadata(
    folder: &Path,
    blocks: u64,
    files: &mut FileTable,
) -> Result<[usize; 2], String> {
    let metadata = files.create(&folder.join("metadata"), blocks * PAGE_BYTES)?;
    // A transaction has each block once, and some descriptors.
    let journal_bytes = JOURNAL_BLOCKS.max(blocks * 2) * PAGE_BYTES;
    let journal = files.create_at(&folder.join("journal"), JOURNAL_AT, journal_bytes)?;
    files.set_journal(metadata, journal);
    Ok([metadata, journal])
}

/// Files of the trees: metadata, journal, data.
///
/// # Errors
///
/// The disk has no room.
pub fn lay_out(job: &engine::Job, files: &mut FileTable) -> Result<[usize; 3], String> {
    let shape = Shape::of(job);
    let [metadata, journal] = create_metadata(&job.directory, shape.blocks(), files)?;
    let data_blocks = shape.items * data_blocks(job);
    let data = files.create(&job.directory.join("data"), data_blocks.max(1) * PAGE_BYTES)?;
    Ok([metadata, journal, data])
}

fn data_blocks(job: &engine::Job) -> u64 {
    (job.bytes_to_write as u64).div_ceil(PAGE_BYTES)
}

/// The operations of a job as threads.
///
/// # Errors
///
/// The disk has no room.
pub fn simulate(job: &engine::Job, files: &mut FileTable, seed: u64) -> Result<Job, String> {
    let [metadata, journal, data] = lay_out(job, files)?;
    let job = job.clone();
    let threads = move || {
        let trees = Arc::new(Trees {
            layout: Layout::of(&job),
            job: job.clone(),
            metadata,
            data,
            free: Mutex::default(),
        });
        workers(job.threads, phases(&trees), |thread| start(seed, thread))
    };
    Ok(repeated(threads, vec![metadata, journal, data]))
}

/// For each operation its phase and one that syncs; the latter is empty without changes.
fn phases(trees: &Arc<Trees>) -> Vec<Phase> {
    let each = |change: &Change| {
        let (change, performing, syncing) = (*change, Arc::clone(trees), Arc::clone(trees));
        let items = match change {
            Change::List => trees.layout.leaves(),
            _ => trees.job.files,
        };
        let perform = move |item| performing.perform(change, item);
        [
            Phase::new(Division::Own(items), trees.job.threads, perform),
            Phase::alone(move || Box::new(syncing.sync(change).into_iter())),
        ]
    };
    trees.job.operations.iter().flat_map(each).collect()
}

/// One file or directory of a thread.
struct Entry {
    /// Number over all trees.
    number: u64,
    /// Directory over all trees.
    directory: u64,
}

impl Trees {
    /// The operations of a change on a thread's item.
    fn perform(&self, change: Change, item: Item) -> Operations {
        if change == Change::List {
            return Box::new([self.list(item.worker, item.number)].into_iter());
        }
        let entry = self.entry(item.worker, item.number);
        let (reads, writes) = self.blocks(change, &entry);
        let time = Operation {
            costs_calls: false,
            then: self.time(change, &entry, item.elapsed),
            ..Operation::new(Kind::Read, self.metadata)
        };
        let read = (!reads.is_empty()).then(|| self.touch(Kind::Read, &reads));
        let write = (!writes.is_empty()).then(|| self.touch(Kind::Write, &writes));
        let data = self.data(change, entry.number);
        let operations = [Some(time), read, write, data].into_iter().flatten();
        Box::new(operations.chain(self.fsync(change, &entry)))
    }

    /// fsync of a new file, and of the directory after a change.
    fn fsync(&self, change: Change, entry: &Entry) -> Vec<Operation> {
        let shape = Shape::of(&self.job);
        let mut operations = Vec::new();
        if matches!(self.job.sync, SyncPolicy::File | SyncPolicy::Directory)
            && change == Change::CreateWrite
        {
            operations.extend(self.data(change, entry.number).map(|written| Operation {
                kind: Kind::Sync,
                costs_calls: false,
                ..written
            }));
            operations.push(self.commit(Shape::inode(entry.number)));
        }
        if self.job.sync == SyncPolicy::Directory && change.changes() {
            operations.push(self.commit(shape.directory(entry.directory)));
        }
        operations
    }

    fn commit(&self, block: u64) -> Operation {
        Operation::call(Kind::Commit, self.metadata, pages(block..block + 1))
    }

    fn entry(&self, thread: usize, item: u64) -> Entry {
        let (own, tree) = if self.job.shared {
            (item * self.job.threads as u64 + thread as u64, 0)
        } else {
            (item, thread as u64)
        };
        let leaf = own / self.job.files_per_directory;
        Entry {
            number: self.layout.first_file(thread) + own,
            directory: tree * self.layout.leaves() + leaf,
        }
    }

    /// Blocks that a change reads and those that it changes.
    fn blocks(&self, change: Change, entry: &Entry) -> (Vec<u64>, Vec<u64>) {
        let shape = Shape::of(&self.job);
        let inode = Shape::inode(entry.number);
        let made = Shape::inode(shape.items + entry.number);
        let name = |kind| shape.name(entry.directory, nth(kind, entry.number));
        let (created, renamed, directory) = (name(1), name(2), name(3));
        let body = shape.body(entry.number);
        let parent = shape.directory(entry.directory);
        let with_group =
            |blocks: &[u64]| -> Vec<u64> { blocks.iter().copied().chain(shape.group()).collect() };
        let data = (self.job.bytes_to_write > 0).then(|| shape.block_bitmap());
        let with_data = |blocks: &[u64]| with_group(blocks).into_iter().chain(data).collect();
        match change {
            Change::CreateWrite => (vec![], with_data(&[inode, created, parent])),
            Change::OpenRead | Change::Stat => (vec![created, inode], vec![]),
            Change::Rename => {
                let blocks = vec![created, renamed, inode];
                (blocks.clone(), [blocks, vec![parent]].concat())
            }
            Change::Delete => (vec![created, inode], with_data(&[created, inode, parent])),
            Change::Mkdir => {
                let own = [made, directory, body, parent, shape.block_bitmap()];
                (vec![], with_group(&own))
            }
            Change::Rmdir => {
                let own = [directory, made, parent, shape.block_bitmap()];
                (vec![directory, made, body], with_group(&own))
            }
            Change::List => unreachable!("directories are listed as a whole"),
        }
    }

    fn touch(&self, kind: Kind, blocks: &[u64]) -> Operation {
        let shape = Shape::of(&self.job);
        let range = |&block: &u64| match kind {
            Kind::Read => shape.read_with(block),
            _ => block..block + 1,
        };
        Operation {
            costs_calls: false,
            pieces: blocks.iter().map(range).map(pages).collect(),
            ..Operation::new(kind, self.metadata)
        }
    }

    /// Content of a file that is written or read.
    fn data(&self, change: Change, number: u64) -> Option<Operation> {
        let kind = match change {
            Change::CreateWrite => Kind::Write,
            Change::OpenRead => Kind::Read,
            _ => return None,
        };
        let piece = Record {
            offset: number * data_blocks(&self.job) * PAGE_BYTES,
            len: self.job.bytes_to_write,
        };
        (piece.len > 0).then(|| Operation::call(kind, self.data, piece))
    }

    /// Read the names of a directory.
    fn list(&self, thread: usize, leaf: u64) -> Operation {
        let tree = if self.job.shared { 0 } else { thread as u64 };
        let directory = tree * self.layout.leaves() + leaf;
        let names = self.layout.items(leaf);
        Operation {
            costs_calls: false,
            then: (names.end - names.start) * LIST_ENTRY,
            ..Operation::call(
                Kind::Read,
                self.metadata,
                pages(Shape::of(&self.job).names(directory)),
            )
        }
    }

    /// Processor time of a change at `elapsed`, with the wait for the lock of a shared directory.
    fn time(&self, change: Change, entry: &Entry, elapsed: Nanos) -> Nanos {
        let own = match change {
            Change::CreateWrite => CREATE,
            Change::OpenRead => OPEN_READ,
            Change::Stat => STAT,
            Change::List => LIST_ENTRY,
            Change::Rename => RENAME,
            Change::Delete => DELETE,
            Change::Mkdir => MKDIR,
            Change::Rmdir => RMDIR,
        };
        if !self.job.shared || !change.changes() {
            return own;
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = free.entry(entry.directory).or_default();
        *free = own + elapsed.max(*free);
        *free - elapsed
    }

    /// Carry everything to the medium: data, journal, blocks at their places.
    fn sync(&self, change: Change) -> Vec<Operation> {
        if self.job.sync != SyncPolicy::Phase || !change.changes() {
            return Vec::new();
        }
        let data = (self.job.bytes_to_write > 0).then(|| Operation::new(Kind::Sync, self.data));
        let own = [Kind::Commit, Kind::Sync].map(|kind| Operation::new(kind, self.metadata));
        data.into_iter().chain(own).collect()
    }
}

/// Blocks as a piece of their file.
pub(crate) fn pages(blocks: Range<u64>) -> Record {
    Record {
        offset: blocks.start * PAGE_BYTES,
        len: index((blocks.end - blocks.start) * PAGE_BYTES),
    }
}

/// Measurements of each phase, as the engine gives them: with the sync at its end.
pub fn result(job: &engine::Job, round: &Round) -> Vec<engine::Phase> {
    let phase = |(number, operation): (usize, &Change)| engine::Phase {
        operation: *operation,
        wall: wall(round, 2 * number) + wall(round, 2 * number + 1),
        latencies: latencies(round, 2 * number),
    };
    job.operations.iter().enumerate().map(phase).collect()
}

fn wall(round: &Round, phase: usize) -> Duration {
    let phases = round
        .threads
        .iter()
        .filter_map(|thread| thread.phases.get(phase));
    let began = phases.clone().map(|phase| phase.began).min();
    let ended = phases.map(|phase| phase.ended).max();
    Duration::from_nanos(ended.unwrap_or(0) - began.unwrap_or(0))
}

fn latencies(round: &Round, phase: usize) -> iostudy_latency::Latencies {
    let mut all = empty_latencies();
    for thread in &round.threads {
        if let Some(phase) = thread.phases.get(phase) {
            merge(&mut all, &phase.items);
        }
    }
    all
}

//! Tiny jobs of `MRBench` as threads of a simulation.
//!
//! A job makes staging files, starts a process for every task, and commits the output by renames,
//! as the native workload does. Thread 0 is the job itself; each thread is a map and a reduce.
//! Processes start and end in about equal times, and the work of a task on its lines takes none.
//! All files are in the page cache when they are read, also the input. Each folder has a block
//! with its names, and each task a block with the inodes of its files. The changes of a step reach
//! the journal at its fsync.

mod layout;
mod times;

use std::ops::Range;
use std::sync::Arc;

use iostudy_pattern::{Record, nth};
use iostudy_schedulers::{Nanos, Priority};
use iostudy_simulator::{Job, Kind, Operation, PAGE_BYTES, Script, ScriptStep, Thread};

use crate::costs::{
    CREATE, DELETE, END_TASK, LAUNCH_TASK, MKDIR, READ_SMALL, RENAME, RMDIR, START_TASK,
};
use crate::file_table::{FileTable, start};
use crate::metadata::{create_metadata, pages};
use crate::terasort::repeated;
use layout::{
    Blocks, FOLDERS, Folder, GROUP, INTERMEDIATES, OUTPUTS, Pages, SHARED_BLOCKS, STAGINGS,
};
use times::JobStep;

pub use layout::MrBench;
pub use times::{JobTimes, result};

/// The jobs on their disk.
struct Bench {
    jobs: MrBench,
    pages: Pages,
    metadata: usize,
    data: usize,
    seed: u64,
}

/// Make the files of all jobs: metadata, journal, data.
///
/// # Errors
///
/// The disk has no room.
pub fn lay_out(bench: &MrBench, files: &mut FileTable) -> Result<[usize; 3], String> {
    let blocks = SHARED_BLOCKS + bench.jobs * Blocks::size(bench);
    let [metadata, journal] = create_metadata(&bench.directory, blocks, files)?;
    let data_bytes = bench.jobs * Pages::of(bench).all() * PAGE_BYTES;
    let data = files.create(&bench.directory.join("data"), data_bytes)?;
    Ok([metadata, journal, data])
}

/// The jobs as threads.
///
/// # Errors
///
/// The disk has no room.
pub fn simulate(bench: &MrBench, files: &mut FileTable, seed: u64) -> Result<Job, String> {
    let all = lay_out(bench, files)?;
    let [metadata, _, data] = all;
    let own = Arc::new(Bench {
        jobs: bench.clone(),
        pages: Pages::of(bench),
        metadata,
        data,
        seed,
    });
    let threads = move || {
        let count = own.jobs.maps.max(own.jobs.reduces);
        let thread = |number: u64| Thread {
            source: Box::new(Script::new(script(&own, number))),
            outstanding: 1,
            start: start(seed, 0),
            priority: Priority::default(),
        };
        (0..count).map(thread).collect()
    };
    Ok(repeated(threads, all.to_vec()))
}

/// Steps of a thread.
fn script(bench: &Arc<Bench>, thread: u64) -> impl Iterator<Item = ScriptStep> + Send + use<> {
    let bench = Arc::clone(bench);
    (0..bench.jobs.jobs).flat_map(move |job| bench.job(thread, job))
}

impl Bench {
    fn job(&self, thread: u64, job: u64) -> Vec<ScriptStep> {
        let phases = [
            (thread == 0).then(|| self.stage(job)),
            (thread < self.jobs.maps).then(|| self.map(job, thread)),
            (thread < self.jobs.reduces).then(|| self.reduce(job, thread)),
            (thread == 0).then(|| self.commit_job(job)),
        ];
        let with_label = |(step, operations): (JobStep, Vec<Operation>)| {
            ScriptStep::Timed(step.label(job), operations)
        };
        let steps = phases.into_iter().flat_map(|phase| {
            let timed = phase.into_iter().flatten().map(with_label);
            timed.chain([ScriptStep::AwaitOthers])
        });
        steps.collect()
    }

    fn stage(&self, job: u64) -> Vec<(JobStep, Vec<Operation>)> {
        let blocks = Blocks::of(&self.jobs, job);
        let (inodes, folder) = (blocks.inodes(), blocks.folder(Folder::Staging));
        let create = |page: u64, changed: &[u64], made| {
            self.create(job, page..page + 1, inodes, changed, made)
        };
        vec![
            (JobStep::JobCreate, create(0, &[STAGINGS, folder], 1)),
            (JobStep::JobCreate, create(1, &[folder], 0)),
            (JobStep::JobCommit, self.rename(&[inodes, folder])),
        ]
    }

    fn map(&self, job: u64, map: u64) -> Vec<(JobStep, Vec<Operation>)> {
        let blocks = Blocks::of(&self.jobs, job);
        let [inodes, names] = blocks.map(map);
        let [folder, temporary] =
            [Folder::Intermediate, Folder::IntermediateTemporary].map(|own| blocks.folder(own));
        let above = [INTERMEDIATES, folder, temporary, names, blocks.inodes()];
        let made = if map == 0 { 3 } else { 1 };
        let (output, index) = (self.pages.output(map), self.pages.index(map));
        vec![
            (JobStep::TaskStart, vec![self.start_task(job, map, map)]),
            (JobStep::TaskRead, vec![self.read(job, 0..1)]),
            (JobStep::TaskRead, vec![self.compute(READ_SMALL)]),
            (
                JobStep::TaskCreate,
                self.create(job, output, inodes, &above, made),
            ),
            (
                JobStep::TaskCreate,
                self.create(job, index, inodes, &[names], 0),
            ),
            (
                JobStep::TaskCommit,
                self.rename(&[inodes, names, temporary, folder]),
            ),
            (JobStep::TaskEnd, vec![self.compute(END_TASK)]),
        ]
    }

    fn reduce(&self, job: u64, reduce: u64) -> Vec<(JobStep, Vec<Operation>)> {
        let blocks = Blocks::of(&self.jobs, job);
        let [inodes, names] = blocks.reduce(reduce);
        let [folder, temporary, tasks, attempts] = [
            Folder::Output,
            Folder::OutputTemporary,
            Folder::OutputTasks,
            Folder::OutputAttempts,
        ]
        .map(|own| blocks.folder(own));
        let above = [
            OUTPUTS,
            folder,
            temporary,
            tasks,
            attempts,
            names,
            blocks.inodes(),
        ];
        let made = if reduce == 0 { 5 } else { 1 };
        let part = self.pages.part(reduce);
        let start = (
            JobStep::TaskStart,
            vec![self.start_task(job, self.jobs.maps + reduce, reduce)],
        );
        let reads = (0..self.jobs.maps).flat_map(|map| {
            [self.pages.index(map), self.pages.stretch(map, reduce)]
                .map(|pages| (JobStep::TaskRead, vec![self.read(job, pages)]))
        });
        let end = [
            (
                JobStep::TaskCreate,
                self.create(job, part, inodes, &above, made),
            ),
            (
                JobStep::TaskCommit,
                self.rename(&[inodes, names, attempts, tasks]),
            ),
            (JobStep::TaskEnd, vec![self.compute(END_TASK)]),
        ];
        std::iter::once(start).chain(reads).chain(end).collect()
    }

    /// Rename the parts, write `_SUCCESS`, and remove what is temporary.
    fn commit_job(&self, job: u64) -> Vec<(JobStep, Vec<Operation>)> {
        let blocks = Blocks::of(&self.jobs, job);
        let output = blocks.folder(Folder::Output);
        let commits = (0..self.jobs.reduces).map(|reduce| {
            let [inodes, names] = blocks.reduce(reduce);
            (JobStep::JobCommit, self.rename(&[inodes, names, output]))
        });
        let success = self.create(job, 0..0, blocks.inodes(), &[output], 0);
        let ends = [
            (JobStep::JobCreate, success),
            (JobStep::JobClean, vec![self.remove(job)]),
        ];
        commits.chain(ends).collect()
    }

    /// Create a file in a folder with `made` new folders above it.
    fn create(
        &self,
        job: u64,
        content: Range<u64>,
        inodes: u64,
        changed: &[u64],
        made: u64,
    ) -> Vec<Operation> {
        let blocks = [&[inodes][..], changed].concat();
        let touch = Operation {
            then: CREATE + made * MKDIR,
            ..self.touch(blocks.iter().copied().chain(GROUP))
        };
        let piece = self.piece(job, &content);
        let has_data = !content.is_empty();
        let write = has_data.then(|| Operation::call(Kind::Write, self.data, piece));
        let sync = (has_data && self.jobs.fsync).then(|| Operation {
            costs_calls: false,
            ..Operation::call(Kind::Sync, self.data, piece)
        });
        [Some(touch), write, sync, self.fsync(inodes)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn rename(&self, changed: &[u64]) -> Vec<Operation> {
        let touch = Operation {
            then: RENAME,
            ..self.touch(changed.iter().copied())
        };
        std::iter::once(touch)
            .chain(self.fsync(changed[0]))
            .collect()
    }

    /// Remove all folders but the output.
    fn remove(&self, job: u64) -> Operation {
        let first = Blocks::of(&self.jobs, job).first;
        let changed = first..first + Blocks::size(&self.jobs);
        let files = 2 + 2 * self.jobs.maps;
        // The output itself stays.
        let folders = FOLDERS - 1 + self.jobs.maps + self.jobs.reduces;
        Operation {
            then: files * DELETE + folders * RMDIR,
            ..self.touch(changed.chain(GROUP))
        }
    }

    /// Change blocks of the metadata, without processor time.
    fn touch(&self, blocks: impl Iterator<Item = u64>) -> Operation {
        Operation {
            costs_calls: false,
            pieces: blocks.map(|block| pages(block..block + 1)).collect(),
            ..Operation::new(Kind::Write, self.metadata)
        }
    }

    /// Wait until the journal has a block, if the jobs are durable.
    fn fsync(&self, block: u64) -> Option<Operation> {
        let piece = pages(block..block + 1);
        self.jobs
            .fsync
            .then(|| Operation::call(Kind::Commit, self.metadata, piece))
    }

    fn read(&self, job: u64, content: Range<u64>) -> Operation {
        Operation {
            costs_calls: false,
            then: READ_SMALL,
            ..Operation::call(Kind::Read, self.data, self.piece(job, &content))
        }
    }

    /// Start the process of a task after `others`, within 10 % of the usual time.
    fn start_task(&self, job: u64, task: u64, others: u64) -> Operation {
        let tasks = self.jobs.maps + self.jobs.reduces;
        let permille = 900 + nth(self.seed, job * tasks + task) % 201;
        self.compute(others * LAUNCH_TASK + START_TASK * permille / 1000)
    }

    fn compute(&self, time: Nanos) -> Operation {
        Operation {
            costs_calls: false,
            then: time,
            ..Operation::new(Kind::Read, self.data)
        }
    }

    /// Pages of a job's files as a piece of all data.
    fn piece(&self, job: u64, content: &Range<u64>) -> Record {
        let first = job * self.pages.all();
        pages(first + content.start..first + content.end)
    }
}

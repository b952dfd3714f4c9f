//! `TeraGen`, `TeraSort` and `TeraValidate` as threads of a simulation.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use iostudy_pattern::{Record, nth};
use iostudy_records::terasort::{
    GenerateJob, Outcome, Plan, ROW_BYTES, SortJob, SortOutcome, ValidateJob, sampled_rows,
};
use iostudy_records::{
    CallStats, MAP_PART, MAX_CALL_BYTES, REDUCE_PART, part_name, read_calls, write_calls,
};
use iostudy_simulator::{Division, Item, Job, Kind, Operation, Operations, Phase, Round, workers};

use crate::costs::{GENERATE_ROW, SORT_ROW};
use crate::file_table::{FileTable, start};
use crate::merge::{Merge, Run};

const ROW: u64 = ROW_BYTES as u64;

/// Call statistics of all threads of a round.
pub(crate) fn call_stats(round: &Round) -> CallStats {
    let mut all = CallStats::default();
    for thread in &round.threads {
        all.read_bytes += thread.read.bytes;
        all.written_bytes += thread.write.bytes;
        iostudy_latency::merge(&mut all.reads, &thread.read.latencies);
        iostudy_latency::merge(&mut all.writes, &thread.write.latencies);
    }
    all
}

/// Calls of a file, with the processor time for `items` after each.
pub(crate) fn calls(
    kind: Kind,
    file: usize,
    direct: bool,
    records: impl Iterator<Item = Record> + Send + 'static,
    time: impl Fn(u64) -> u64 + Send + 'static,
) -> impl Iterator<Item = Operation> + Send {
    records.map(move |record| Operation {
        direct,
        then: time(record.len as u64),
        ..Operation::call(kind, file, record)
    })
}

/// Sync of a file, if the job syncs.
pub(crate) fn sync(file: usize, syncs: bool) -> impl Iterator<Item = Operation> + Send {
    syncs.then(|| Operation::sync(file)).into_iter()
}

const fn rows_of(bytes: u64) -> u64 {
    bytes / ROW
}

/// Make the files of generated rows. Returns them with their numbers of rows.
///
/// # Errors
///
/// The disk has no room.
pub fn lay_out_rows(job: &GenerateJob, files: &mut FileTable) -> Result<Vec<(usize, u64)>, String> {
    let part = |part| {
        let rows = job.first_row(part + 1) - job.first_row(part);
        let path = job.output.join(part_name(MAP_PART, part));
        Ok((files.create(&path, rows * ROW)?, rows))
    };
    (0..job.parts).map(part).collect()
}

/// Generation of rows.
///
/// # Errors
///
/// The disk has no room.
pub fn generate(job: &GenerateJob, files: &mut FileTable, seed: u64) -> Result<Job, String> {
    let parts = lay_out_rows(job, files)?;
    let all = parts.iter().map(|(file, _)| *file).collect();
    let (job, parts) = (job.clone(), Arc::new(parts));
    let threads = move || {
        let (parts, direct, fsync) = (Arc::clone(&parts), job.direct, job.fsync);
        let count = job.threads.min(job.parts);
        let write = move |part: Item| -> Operations {
            let (file, rows) = parts[index(part.number)];
            let writes = write_calls(0..rows * ROW, MAX_CALL_BYTES);
            let time = |bytes| rows_of(bytes) * GENERATE_ROW;
            Box::new(calls(Kind::Write, file, direct, writes, time).chain(sync(file, fsync)))
        };
        let phase = Phase::new(Division::Queue(job.parts as u64), count, write);
        workers(count, vec![phase], |thread| start(seed, thread))
    };
    Ok(repeated(threads, all))
}

/// Validation of rows.
///
/// # Errors
///
/// The folder has no files.
pub fn validate(job: &ValidateJob, files: &FileTable, seed: u64) -> Result<Job, String> {
    let parts = files.parts(&job.input)?;
    let sizes = parts.iter().map(|part| (*part, files.bytes(*part)));
    let (sizes, job) = (Arc::new(sizes.collect::<Vec<_>>()), job.clone());
    let threads = move || {
        let (sizes, direct) = (Arc::clone(&sizes), job.direct);
        let (items, count) = (sizes.len(), job.threads.min(sizes.len()));
        let read = move |part: Item| -> Operations {
            let (file, bytes) = sizes[index(part.number)];
            let reads = read_calls(0..bytes, MAX_CALL_BYTES);
            Box::new(calls(Kind::Read, file, direct, reads, |_| 0))
        };
        let phase = Phase::new(Division::Queue(items as u64), count, read);
        workers(count, vec![phase], |thread| start(seed, thread))
    };
    Ok(repeated(threads, parts))
}

/// Rows that a validation reads.
///
/// # Errors
///
/// The folder has no files.
pub fn validated_rows(job: &ValidateJob, files: &FileTable) -> Result<u64, String> {
    let parts = files.parts(&job.input)?;
    Ok(parts
        .into_iter()
        .map(|part| rows_of(files.bytes(part)))
        .sum())
}

/// A job with the same threads in each round.
pub(crate) fn repeated(
    threads: impl Fn() -> Vec<iostudy_simulator::Thread> + Send + 'static,
    files: Vec<usize>,
) -> Job {
    Job {
        threads: Box::new(threads),
        files,
        ramp: 0,
        repeats: false,
    }
}

pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).expect("index of an item")
}

/// Measurements of a generation or a validation of that many rows. There are no rows to sum up.
pub fn outcome(rows: u64, round: &Round) -> Outcome {
    Outcome {
        rows,
        checksum: None,
        wall: round.duration(),
        call_stats: call_stats(round),
    }
}

/// A sort with its files.
struct Sort {
    job: SortJob,
    plan: Plan,
    /// Files of the input with their numbers of rows.
    parts: Vec<(usize, u64)>,
    runs: Vec<usize>,
    outputs: Vec<usize>,
    seed: u64,
}

/// Make the files of sorted rows.
///
/// # Errors
///
/// The disk has no room.
pub fn lay_out_sorted(job: &SortJob, files: &mut FileTable) -> Result<Vec<usize>, String> {
    let output = |part| {
        let rows = share(job.rows, part, job.reducers);
        let path = job.output.join(part_name(REDUCE_PART, part));
        files.create(&path, (rows.end - rows.start) * ROW)
    };
    (0..job.reducers).map(output).collect()
}

/// Part `number` of `all`, divided evenly.
fn share(all: u64, number: usize, parts: usize) -> Range<u64> {
    let at = |number: usize| {
        let at = u128::from(all) * number as u128 / parts as u128;
        u64::try_from(at).expect("at most all")
    };
    at(number)..at(number + 1)
}

/// Sort of rows. The keys are divided evenly: real ones are by a sample.
///
/// # Errors
///
/// The input is missing, the disk has no room, or the job is invalid.
pub fn sort(job: &SortJob, files: &mut FileTable, seed: u64) -> Result<Job, String> {
    let plan = job.plan().map_err(|error| error.to_string())?;
    let parts = files.parts(&job.input)?;
    let parts: Vec<_> = parts
        .into_iter()
        .map(|part| (part, rows_of(files.bytes(part))))
        .collect();
    let run = |number: usize| {
        let folder = &job.spill[number % job.spill.len()];
        let rows = plan.chunk(number, job.rows);
        let path = folder.join(format!(".spill-{number}"));
        files.create(&path, (rows.end - rows.start) * ROW)
    };
    let runs = (0..plan.chunks).map(run).collect::<Result<Vec<_>, _>>()?;
    let outputs = lay_out_sorted(job, files)?;
    let inputs = parts.iter().map(|(file, _)| *file);
    let all = inputs
        .chain(runs.iter().copied())
        .chain(outputs.iter().copied());
    let all = all.collect();
    let sort = Arc::new(Sort {
        job: job.clone(),
        plan,
        parts,
        runs,
        outputs,
        seed,
    });
    let threads = move || {
        let threads = sort.job.threads;
        workers(threads, phases(&sort), |thread| start(seed, thread))
    };
    Ok(repeated(threads, all))
}

/// Sampling, spilling, merging.
fn phases(sort: &Arc<Sort>) -> Vec<Phase> {
    let (threads, ranges) = (sort.job.threads, sort.ranges());
    let [sampling, spilling, merging] = [(); 3].map(|()| Arc::clone(sort));
    vec![
        Phase::alone(move || Box::new(sampling.sample().into_iter())),
        Phase::new(
            Division::Queue(sort.plan.chunks as u64),
            threads,
            move |chunk| Box::new(spilling.spill(index(chunk.number)).into_iter()),
        ),
        Phase::new(Division::Queue(ranges as u64), threads, move |range| {
            Box::new(merging.merge(index(range.number)).into_iter())
        }),
    ]
}

impl Sort {
    fn ranges(&self) -> usize {
        self.plan.slices * self.job.reducers
    }

    /// Read calls of rows, which may be in several files.
    fn read(&self, rows: &Range<u64>, buffer_bytes: usize) -> Vec<Operation> {
        let mut first = 0;
        let mut operations = Vec::new();
        for &(file, count) in &self.parts {
            let clamp = |row: u64| (row.clamp(first, first + count) - first) * ROW;
            let bytes = clamp(rows.start)..clamp(rows.end);
            if !bytes.is_empty() {
                let reads = read_calls(bytes, buffer_bytes);
                operations.extend(calls(Kind::Read, file, self.job.direct, reads, |_| 0));
            }
            first += count;
        }
        operations
    }

    /// Reads of the sample of keys; a single range needs none.
    fn sample(&self) -> Vec<Operation> {
        if self.ranges() == 1 {
            return Vec::new();
        }
        let places = sampled_rows(self.job.rows);
        places
            .flat_map(|rows| self.read(&rows, MAX_CALL_BYTES))
            .collect()
    }

    /// Read, sort and write a chunk.
    fn spill(&self, number: usize) -> Vec<Operation> {
        let rows = self.plan.chunk(number, self.job.rows);
        let count = rows.end - rows.start;
        let buffer_bytes = self.plan.chunk_buffer_bytes;
        let mut operations = self.read(&rows, buffer_bytes);
        if let Some(last) = operations.last_mut() {
            last.then = count * SORT_ROW;
        }
        let writes = write_calls(0..count * ROW, buffer_bytes);
        let file = self.runs[number];
        operations.extend(calls(Kind::Write, file, self.job.direct, writes, |_| 0));
        operations
    }

    /// Merge a range of keys into its part.
    fn merge(&self, item: usize) -> Vec<Operation> {
        let (first, range) = self.plan.ranges_of(item, self.job.reducers);
        let (start, end) = (
            self.rows_before(first, range),
            self.rows_before(first, range + 1),
        );
        let buffer_bytes = self.plan.merge_buffer_bytes;
        let output = self.outputs[item % self.job.reducers];
        let merge = Merge {
            runs: (0..self.runs.len())
                .map(|run| self.run(run, range))
                .collect(),
            output,
            writes: write_calls(start * ROW..end * ROW, buffer_bytes).collect(),
            direct: self.job.direct,
            compute: 0,
            seed: nth(self.seed, item as u64),
        };
        let mut operations = merge.operations();
        operations.extend(sync(output, self.job.fsync));
        operations
    }

    /// Rows of a run in a range of keys.
    fn rows_of_run(&self, run: usize, range: usize) -> Range<u64> {
        let rows = self.plan.chunk(run, self.job.rows);
        share(rows.end - rows.start, range, self.ranges())
    }

    fn run(&self, run: usize, range: usize) -> Run {
        let rows = self.rows_of_run(run, range);
        let bytes = rows.start * ROW..rows.end * ROW;
        Run {
            file: self.runs[run],
            calls: read_calls(bytes, self.plan.merge_buffer_bytes).collect(),
            items: rows.end - rows.start,
        }
    }

    /// Rows of a part before a range. Its ranges begin at `first`.
    fn rows_before(&self, first: usize, range: usize) -> u64 {
        let rows = |run| self.rows_of_run(run, range).start - self.rows_of_run(run, first).start;
        (0..self.runs.len()).map(rows).sum()
    }
}

/// Measurements of a sort.
///
/// # Errors
///
/// The job is invalid.
pub fn sort_outcome(job: &SortJob, round: &Round) -> Result<SortOutcome, String> {
    let plan = job.plan().map_err(|error| error.to_string())?;
    let spilled = round
        .threads
        .iter()
        .filter_map(|thread| thread.phases.get(1));
    let spill = Duration::from_nanos(spilled.map(|phase| phase.ended).max().unwrap_or(0));
    let mut spilled_bytes = vec![0; job.spill.len()];
    for number in 0..plan.chunks {
        let rows = plan.chunk(number, job.rows);
        spilled_bytes[number % job.spill.len()] += (rows.end - rows.start) * ROW;
    }
    Ok(SortOutcome {
        outcome: outcome(job.rows, round),
        spill,
        merge: round.duration().saturating_sub(spill),
        spilled_bytes,
        memory_bytes: plan.memory_bytes,
    })
}

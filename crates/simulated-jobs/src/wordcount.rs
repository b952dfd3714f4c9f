//! Word counting as threads of a simulation.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use iostudy_pattern::{Record, nth};
use iostudy_records::wordcount::{
    CountJob, CountResult, DistinctWords, MIN_BUFFER_BYTES, SPLIT_BYTES, TAIL_BYTES, TextJob,
    TextStatistics, WordSummary, split_ranges,
};
use iostudy_records::{MAP_PART, MAX_CALL_BYTES, REDUCE_PART, part_name, write_calls};
use iostudy_simulator::{Division, Job, Kind, Operation, Phase, Round, workers};

use crate::costs::{COUNT_WORD, MERGE_WORD, SPILL_WORD};
use crate::file_table::{FileTable, start};
use crate::merge::{Merge, Run};
use crate::terasort::{call_stats, calls, index, repeated, sync};

/// Bytes of a word's length and count in a run.
const HEADER_BYTES: u64 = 2;
/// Bytes of the tab and the line feed of a line of the output.
const LINE_BYTES: u64 = 2;

/// Make the files of a text.
///
/// # Errors
///
/// The disk has no room.
pub fn lay_out_text(job: &TextJob, files: &mut FileTable) -> Result<(), String> {
    for file in 0..job.files {
        let path = job.folder.join(part_name(MAP_PART, file as usize));
        files.create(&path, job.file_bytes(file.into()))?;
    }
    files.set_text(job);
    Ok(())
}

/// Expected words of a text.
///
/// # Errors
///
/// The job is invalid.
pub fn expected_words(job: &TextJob) -> Result<u64, String> {
    let statistics = job.statistics().map_err(|error| error.to_string())?;
    Ok(words(&statistics, job.bytes))
}

/// Expected words of that many bytes.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "expected numbers, far below 2^52"
)]
fn words(statistics: &TextStatistics, bytes: u64) -> u64 {
    (bytes as f64 / statistics.word_bytes()) as u64
}

/// What the expected numbers of words say about a job.
pub struct Expected {
    statistics: TextStatistics,
    text_bytes: u64,
    /// Words after which a thread's table is full; none if it never is.
    table_words: Option<u64>,
    /// Different words of the whole text.
    distinct: DistinctWords,
}

impl Expected {
    /// The expected numbers of a job with a text on the disk.
    ///
    /// # Errors
    ///
    /// The text was not made there.
    pub fn new(job: &CountJob, files: &FileTable) -> Result<Self, String> {
        let text = files.text(&job.inputs[0]);
        let text = text.ok_or("only a text that the workload makes can be simulated")?;
        let statistics = text.statistics().map_err(|error| error.to_string())?;
        let full = job.thread_memory().table_words() as u64;
        Ok(Self {
            text_bytes: text.bytes,
            table_words: statistics.words_until(full),
            distinct: statistics.distinct(words(&statistics, text.bytes)),
            statistics,
        })
    }

    /// Runs of all threads, which count as many words each.
    fn runs(&self, threads: u64) -> u64 {
        let share = words(&self.statistics, self.text_bytes) / threads;
        threads * self.table_words.map_or(1, |full| share.div_ceil(full))
    }

    const fn output_bytes(&self) -> u64 {
        let DistinctWords {
            words,
            letters,
            digits,
        } = self.distinct;
        letters + digits + words * LINE_BYTES
    }
}

const fn run_bytes(distinct: DistinctWords) -> u64 {
    distinct.letters + distinct.words * HEADER_BYTES
}

/// A run that a thread has spilled.
struct Spilled {
    file: usize,
    bytes: Range<u64>,
    words: u64,
}

/// State of the counting threads.
struct Spills {
    /// Words in the table of each thread.
    counted: Vec<u64>,
    /// End of what each thread has spilled.
    ends: Vec<u64>,
    runs: Vec<Spilled>,
}

impl Spills {
    fn new(threads: usize) -> Self {
        Self {
            counted: vec![0; threads],
            ends: vec![0; threads],
            runs: Vec::new(),
        }
    }
}

/// Files of a count.
struct Files {
    /// Files of the text, with the ranges of their splits.
    splits: Vec<(usize, Range<u64>)>,
    /// A file of each thread, with its size.
    spill: Vec<(usize, u64)>,
    outputs: Vec<usize>,
}

impl Files {
    fn all(&self) -> Vec<usize> {
        let inputs = self.splits.iter().map(|(file, _)| *file);
        let spill = self.spill.iter().map(|(file, _)| *file);
        let mut all: Vec<usize> = inputs.chain(spill).chain(self.outputs.clone()).collect();
        all.dedup();
        all
    }
}

/// Count of the words of a text that was made on the disk.
///
/// # Errors
///
/// The text is missing, or the disk has no room.
pub fn count(job: &CountJob, files: &mut FileTable, seed: u64) -> Result<Job, String> {
    let expected = Arc::new(Expected::new(job, files)?);
    let own = Arc::new(lay_out(job, &expected, files)?);
    let (all, job) = (own.all(), job.clone());
    let threads = move || {
        let count = Arc::new(Count {
            job: job.clone(),
            expected: Arc::clone(&expected),
            files: Arc::clone(&own),
            spills: Mutex::new(Spills::new(job.threads)),
            seed,
        });
        workers(job.threads, phases(&count), |thread| start(seed, thread))
    };
    Ok(repeated(threads, all))
}

fn lay_out(job: &CountJob, expected: &Expected, files: &mut FileTable) -> Result<Files, String> {
    let mut splits = Vec::new();
    for path in &job.inputs {
        let file = files.find(path, 1)?;
        splits.extend(split_ranges(files.bytes(file), SPLIT_BYTES).map(|range| (file, range)));
    }
    let share = expected.text_bytes / job.threads as u64;
    let spill = |thread: usize| {
        let path = job.spill[0].join(format!(".spill-{thread}"));
        Ok((files.create(&path, share)?, share))
    };
    let spill = (0..job.threads).map(spill).collect::<Result<_, String>>()?;
    let part_bytes = expected.output_bytes().div_ceil(job.reducers as u64);
    let output = |part| {
        let path = job.output.join(part_name(REDUCE_PART, part));
        files.create(&path, part_bytes)
    };
    let outputs = (0..job.reducers).map(output).collect::<Result<_, _>>()?;
    Ok(Files {
        splits,
        spill,
        outputs,
    })
}

/// A count with its files.
struct Count {
    job: CountJob,
    expected: Arc<Expected>,
    files: Arc<Files>,
    spills: Mutex<Spills>,
    seed: u64,
}

/// Counting with spills, the last spill of each thread, and the merge into the parts.
fn phases(count: &Arc<Count>) -> Vec<Phase> {
    let threads = count.job.threads;
    let (splits, parts) = (count.files.splits.len() as u64, count.job.reducers as u64);
    let [counting, ending, merging] = [(); 3].map(|()| Arc::clone(count));
    vec![
        Phase::new(Division::Queue(splits), threads, move |split| {
            let operations = counting.count_split(split.worker, index(split.number));
            Box::new(operations.into_iter())
        }),
        Phase::new(Division::Own(1), threads, move |item| {
            Box::new(ending.spill(item.worker, &mut ending.spills()).into_iter())
        }),
        Phase::new(Division::Queue(parts), threads, move |part| {
            Box::new(merging.merge(index(part.number)).into_iter())
        }),
    ]
}

impl Count {
    fn spills(&self) -> MutexGuard<'_, Spills> {
        self.spills.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Read a split block by block, and spill the table whenever it is full.
    fn count_split(&self, thread: usize, split: usize) -> Vec<Operation> {
        let (file, range) = &self.files.splits[split];
        let block_bytes = self.job.thread_memory().buffer_bytes() as u64;
        let mut spills = self.spills();
        let mut operations = Vec::new();
        for record in split_calls(range, block_bytes) {
            let words = words(&self.expected.statistics, record.len as u64);
            operations.push(Operation {
                then: words * COUNT_WORD,
                ..Operation::call(Kind::Read, *file, record)
            });
            operations.extend(self.add(thread, words, &mut spills));
        }
        operations.extend(self.tail(*file, range));
        operations
    }

    /// Count words of a block, and spill the table as often as it is full.
    fn add(&self, thread: usize, words: u64, spills: &mut Spills) -> Vec<Operation> {
        let full = self.expected.table_words.unwrap_or(u64::MAX);
        let (mut left, mut operations) = (words, Vec::new());
        while spills.counted[thread] + left >= full {
            left -= full - spills.counted[thread];
            spills.counted[thread] = full;
            operations.extend(self.spill(thread, spills));
        }
        spills.counted[thread] += left;
        operations
    }

    /// The read that ends the last word of a split, unless the file ends there.
    fn tail(&self, file: usize, range: &Range<u64>) -> Option<Operation> {
        let mut splits = self.files.splits.iter();
        let goes_further = splits.any(|(other, next)| (*other, next.start) == (file, range.end));
        let record = Record {
            offset: range.end,
            len: usize::try_from(TAIL_BYTES).unwrap_or_default(),
        };
        goes_further.then(|| Operation::call(Kind::Read, file, record))
    }

    /// Sort and write the table of a thread.
    fn spill(&self, thread: usize, spills: &mut Spills) -> Vec<Operation> {
        let words = std::mem::take(&mut spills.counted[thread]);
        let distinct = self.expected.statistics.distinct(words);
        let (file, size) = self.files.spill[thread];
        let begin = spills.ends[thread];
        let end = size.min(begin + run_bytes(distinct));
        spills.ends[thread] = end;
        if begin == end {
            return Vec::new();
        }
        spills.runs.push(Spilled {
            file,
            bytes: begin..end,
            words: distinct.words,
        });
        let per_byte = distinct.words * SPILL_WORD / (end - begin);
        let writes = write_calls(begin..end, self.job.thread_memory().buffer_bytes());
        calls(Kind::Write, file, false, writes, move |bytes| {
            bytes * per_byte
        })
        .collect()
    }

    /// Merge the sections of a part.
    fn merge(&self, part: usize) -> Vec<Operation> {
        let spills = self.spills();
        let (reducers, memory) = (self.job.reducers as u64, self.job.thread_memory());
        let output_bytes = self.expected.output_bytes() / reducers;
        let buffer_bytes = (memory.merge_bytes() as u64 / (spills.runs.len() as u64).max(1))
            .clamp(MIN_BUFFER_BYTES as u64, MAX_CALL_BYTES as u64);
        let words: u64 = spills.runs.iter().map(|run| run.words / reducers).sum();
        let output = self.files.outputs[part];
        let merge = Merge {
            runs: spills
                .runs
                .iter()
                .map(|run| section(run, part as u64, reducers, buffer_bytes))
                .collect(),
            output,
            writes: write_calls(0..output_bytes, memory.buffer_bytes()).collect(),
            direct: false,
            compute: words * MERGE_WORD,
            seed: nth(self.seed, part as u64),
        };
        let mut operations = merge.operations();
        operations.extend(sync(output, self.job.fsync));
        operations
    }
}

/// Read calls of a split: from the byte before it, which shows whether a word begins there.
fn split_calls(range: &Range<u64>, block_bytes: u64) -> impl Iterator<Item = Record> + use<> {
    blocks(range.start.saturating_sub(1)..range.end, block_bytes)
}

/// Calls of at most `block_bytes`.
fn blocks(range: Range<u64>, block_bytes: u64) -> impl Iterator<Item = Record> + use<> {
    let step = index(block_bytes);
    let starts = (range.start..range.end).step_by(step);
    starts.map(move |offset| Record {
        offset,
        len: index((range.end - offset).min(block_bytes)),
    })
}

/// The section of a part in a run.
fn section(run: &Spilled, part: u64, parts: u64, buffer_bytes: u64) -> Run {
    let size = run.bytes.end - run.bytes.start;
    let at = |part: u64| run.bytes.start + size * part / parts;
    Run {
        file: run.file,
        calls: blocks(at(part)..at(part + 1), buffer_bytes).collect(),
        items: run.words / parts,
    }
}

/// Measurements of a count.
///
/// # Errors
///
/// The text was not made on the disk.
pub fn result(job: &CountJob, files: &FileTable, round: &Round) -> Result<CountResult, String> {
    let expected = Expected::new(job, files)?;
    let counted = round
        .threads
        .iter()
        .filter_map(|thread| thread.phases.get(1));
    let counting = Duration::from_nanos(counted.map(|phase| phase.ended).max().unwrap_or(0));
    let stats = call_stats(round);
    // What is not output was spilled.
    let spilled_bytes = stats.written_bytes.saturating_sub(written(job, &expected));
    Ok(CountResult {
        text_bytes: expected.text_bytes,
        summary: WordSummary {
            words: words(&expected.statistics, expected.text_bytes),
            checksum: 0,
        },
        distinct_words: expected.distinct.words,
        spilled_bytes,
        runs: expected.runs(job.threads as u64),
        memory_bytes: job.threads * job.thread_memory().counting_bytes(),
        call_stats: stats,
        counting,
        wall: round.duration(),
    })
}

const fn written(job: &CountJob, expected: &Expected) -> u64 {
    let parts = job.reducers as u64;
    expected.output_bytes() / parts * parts
}

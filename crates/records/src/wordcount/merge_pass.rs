//! Merge pass that reduces the number of runs.

use std::sync::atomic::AtomicUsize;

use crate::error::Halt;
use crate::meter::Meter;
use crate::phase_runner::WorkQueue;
use crate::wordcount::job::CountJob;
use crate::wordcount::merge::merge;
use crate::wordcount::run::{Run, RunWriter};
use crate::wordcount::spill_files::SpillFiles;
use crate::wordcount::table::WordEntry;

/// Merge each group of runs into one run.
pub(crate) fn merge_groups(
    job: &CountJob,
    groups: &[&[Run]],
    queue: &WorkQueue,
    next_folder: &AtomicUsize,
    meter: &mut Meter,
) -> Result<Vec<Run>, Halt> {
    let mut spill_files = SpillFiles::create(job, next_folder)?;
    while let Some(group) = queue.next() {
        spill_files.write(meter, |run, meter| {
            merge_group(job, groups[group], run, meter)
        })?;
    }
    Ok(spill_files.into_runs())
}

fn merge_group(
    job: &CountJob,
    group: &[Run],
    run: &mut RunWriter,
    meter: &mut Meter,
) -> Result<(), Halt> {
    for reducer in 0..job.reducers {
        let bytes = job.thread_memory().merge_bytes();
        merge(group, reducer, bytes, meter, |word, count, meter| {
            let word = WordEntry {
                reducer,
                head: word,
                rest: &[],
                count,
            };
            run.push(&word, meter)
        })?;
    }
    Ok(())
}

//! A merging pass: runs made fewer, until all of them can be merged at once.

use std::sync::atomic::AtomicUsize;

use crate::error::Halt;
use crate::meter::Meter;
use crate::phases::Pieces;
use crate::wordcount::job::CountJob;
use crate::wordcount::memory::Share;
use crate::wordcount::merge::merge;
use crate::wordcount::run::{Run, RunWriter};
use crate::wordcount::spills::Spills;
use crate::wordcount::table::Counted;

/// Merge groups of runs into one run each as long as there is a next one.
pub(crate) fn merge_groups(
    job: &CountJob,
    groups: &[&[Run]],
    pieces: &Pieces,
    turn: &AtomicUsize,
    meter: &mut Meter,
) -> Result<Vec<Run>, Halt> {
    let mut spills = Spills::create(job, turn)?;
    while let Some(group) = pieces.take() {
        spills.write(meter, |run, meter| {
            merge_group(job, groups[group], run, meter)
        })?;
    }
    Ok(spills.into_runs())
}

fn merge_group(
    job: &CountJob,
    group: &[Run],
    run: &mut RunWriter,
    meter: &mut Meter,
) -> Result<(), Halt> {
    for reducer in 0..job.reducers {
        let bytes = Share::of(job).merge_bytes();
        merge(group, reducer, bytes, meter, |word, count, meter| {
            let word = Counted {
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

//! Reduce phase: merge all runs into the parts of the output.

use crate::buffer::buffer;
use crate::error::Halt;
use crate::folder::OutputFolder;
use crate::meter::Meter;
use crate::phase_runner::WorkQueue;
use crate::wordcount::job::CountJob;
use crate::wordcount::merge::merge;
use crate::wordcount::run::{Run, push_long};
use crate::writer::Writer;

/// Write parts until none is left.
pub(crate) fn write_parts(
    job: &CountJob,
    runs: &[Run],
    folder: &OutputFolder,
    queue: &WorkQueue,
    meter: &mut Meter,
) -> Result<(), Halt> {
    let memory = job.thread_memory();
    let mut outgoing = buffer(memory.buffer_bytes())?;
    while let Some(part) = queue.next() {
        let file = folder.part(part, false)?;
        let mut writer = Writer::new(&file, &mut outgoing, 0);
        merge(
            runs,
            part,
            memory.merge_bytes(),
            meter,
            |word, count, meter| write_line(&mut writer, word, count, meter),
        )?;
        writer.flush(meter)?;
        file.finish(job.fsync)?;
    }
    Ok(())
}

/// Write a line as `TextOutputFormat` does: word, tab, count.
fn write_line(writer: &mut Writer, word: &[u8], count: u64, meter: &mut Meter) -> Result<(), Halt> {
    push_long(writer, word, meter)?;
    writer.push(b"\t", meter)?;
    writer.push(itoa::Buffer::new().format(count).as_bytes(), meter)?;
    writer.push(b"\n", meter)
}

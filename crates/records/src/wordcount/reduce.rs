//! Reducing: all runs merged into the parts of the output.

use crate::buffer::buffer;
use crate::error::Halt;
use crate::folder::OutputFolder;
use crate::meter::Meter;
use crate::phases::Pieces;
use crate::wordcount::job::CountJob;
use crate::wordcount::memory::Share;
use crate::wordcount::merge::merge;
use crate::wordcount::run::{Run, push_long};
use crate::writer::Writer;

/// Write the parts of reducers as long as there is a next one.
pub(crate) fn write_parts(
    job: &CountJob,
    runs: &[Run],
    folder: &OutputFolder,
    pieces: &Pieces,
    meter: &mut Meter,
) -> Result<(), Halt> {
    let share = Share::of(job);
    let mut outgoing = buffer(share.buffer_bytes())?;
    while let Some(part) = pieces.take() {
        let file = folder.part(part, false)?;
        let mut writer = Writer::new(&file, &mut outgoing, 0);
        merge(
            runs,
            part,
            share.merge_bytes(),
            meter,
            |word, count, meter| write_line(&mut writer, word, count, meter),
        )?;
        writer.flush(meter)?;
        file.finish(job.fsync)?;
    }
    Ok(())
}

/// As `TextOutputFormat` writes it: the word, a tab, the count.
fn write_line(writer: &mut Writer, word: &[u8], count: u64, meter: &mut Meter) -> Result<(), Halt> {
    push_long(writer, word, meter)?;
    writer.push(b"\t", meter)?;
    writer.push(itoa::Buffer::new().format(count).as_bytes(), meter)?;
    writer.push(b"\n", meter)
}

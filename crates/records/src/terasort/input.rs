//! Input rows of a folder, numbered over all its parts.

use std::path::{Path, PathBuf};

use crate::error::{Fault, Halt};
use crate::file::DataFile;
use crate::meter::Meter;
use crate::reader::Reader;

use super::row::{ROW, ROW_BYTES};
use crate::folder::parts;

/// Parts of a folder with their numbers of rows.
pub(crate) struct Input {
    parts: Vec<(PathBuf, u64)>,
    direct: bool,
}

impl Input {
    /// Open a folder and count the rows of its parts.
    pub(crate) fn open(folder: &Path, direct: bool) -> Result<Self, Fault> {
        let parts = parts(folder)?
            .into_iter()
            .map(|path| count_rows(&path).map(|rows| (path, rows)))
            .collect::<Result<_, _>>()?;
        Ok(Self { parts, direct })
    }

    pub(crate) fn parts(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn path(&self, part: usize) -> &Path {
        &self.parts[part].0
    }

    pub(crate) fn rows(&self) -> u64 {
        self.parts.iter().map(|(_, rows)| rows).sum()
    }

    /// Read all rows of a part.
    pub(crate) fn each_row_of_part(
        &self,
        part: usize,
        buffer: &mut [u8],
        meter: &mut Meter,
        take: impl FnMut(&[u8]),
    ) -> Result<(), Halt> {
        let (path, rows) = &self.parts[part];
        read_rows(path, 0..*rows, self.direct, buffer, meter, take)
    }

    /// Read `rows` rows from row `first`.
    pub(crate) fn each_row(
        &self,
        first: u64,
        rows: u64,
        buffer: &mut [u8],
        meter: &mut Meter,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), Halt> {
        let mut part_first = 0;
        for (path, part_rows) in &self.parts {
            let start = first.clamp(part_first, part_first + part_rows) - part_first;
            let end = (first + rows).clamp(part_first, part_first + part_rows) - part_first;
            if start < end {
                read_rows(path, start..end, self.direct, buffer, meter, &mut take)?;
            }
            part_first += part_rows;
        }
        Ok(())
    }
}

fn count_rows(path: &Path) -> Result<u64, Fault> {
    let bytes = DataFile::open(path, false)?.size()?;
    if bytes % ROW != 0 {
        return Err(Fault::InvalidData {
            path: path.to_owned(),
            found: format!("has {bytes} bytes, not a multiple of the row size of {ROW} bytes"),
        });
    }
    Ok(bytes / ROW)
}

fn read_rows(
    path: &Path,
    rows: std::ops::Range<u64>,
    direct: bool,
    buffer: &mut [u8],
    meter: &mut Meter,
    mut take: impl FnMut(&[u8]),
) -> Result<(), Halt> {
    let file = DataFile::open(path, direct)?;
    let mut reader = Reader::new(&file, buffer, rows.start * ROW, rows.end * ROW);
    loop {
        let whole = reader.window().chunks_exact(ROW_BYTES);
        let left = whole.remainder().len();
        let taken = reader.window().len() - left;
        whole.for_each(&mut take);
        reader.consume(taken);
        if reader.at_end() {
            return Ok(());
        }
        reader.fill(meter)?;
    }
}

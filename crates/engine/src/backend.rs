//! How the records of an open file get to the kernel and back.

use std::os::fd::BorrowedFd;

use iostudy_pattern::Record;

use crate::error::Halt;
use crate::meter::Meter;

/// Moves all records of a file. A backend owns its buffers and may keep several records under way.
pub(crate) trait Backend {
    /// Write every record with the content it should have.
    fn write(
        &mut self,
        file: BorrowedFd,
        records: impl Iterator<Item = Record>,
        meter: &mut Meter,
    ) -> Result<(), Halt>;

    /// Read every record and verify it.
    fn read(
        &mut self,
        file: BorrowedFd,
        records: impl Iterator<Item = Record>,
        meter: &mut Meter,
    ) -> Result<(), Halt>;
}

//! The synchronous backend: pread and pwrite, one record after the other.

use std::io;
use std::os::fd::BorrowedFd;

use iostudy_pattern::{AlignedBuffer, Content, Record};
use rustix::io::{Errno, pread, pwrite, retry_on_intr};

use crate::backend::Backend;
use crate::error::{Fault, Halt};
use crate::job::{Job, Operation};
use crate::meter::Meter;

pub(crate) struct Psync {
    content: Content,
    incoming: AlignedBuffer,
    file_bytes: u64,
}

impl Psync {
    /// With the buffers that the `file`-th file of the job needs.
    pub(crate) fn new(job: &Job, file: u64) -> io::Result<Self> {
        let (outgoing_bytes, incoming_bytes) = match job.operation {
            Operation::Write { .. } => (job.record_bytes, 0),
            Operation::Read => (0, job.record_bytes),
        };
        Ok(Self {
            content: Content::new(job.seed, file, outgoing_bytes)?,
            incoming: AlignedBuffer::new(incoming_bytes)?,
            file_bytes: job.file_bytes,
        })
    }
}

impl Backend for Psync {
    fn write(
        &mut self,
        file: BorrowedFd,
        records: impl Iterator<Item = Record>,
        meter: &mut Meter,
    ) -> Result<(), Halt> {
        for record in records {
            meter.go_on()?;
            write_all(file, self.content.record(record), record.offset)?;
            meter.record_ends(record.len);
        }
        Ok(())
    }

    fn read(
        &mut self,
        file: BorrowedFd,
        records: impl Iterator<Item = Record>,
        meter: &mut Meter,
    ) -> Result<(), Halt> {
        for Record { offset, len } in records {
            meter.go_on()?;
            let data = &mut self.incoming[..len];
            let found = read_all(file, data, offset)?;
            if let Some(at) = self.content.first_difference(offset, &data[..found]) {
                return Err(Fault::Differs { at }.into());
            }
            if found < len {
                return Err(Fault::EndsEarly {
                    at: offset + found as u64,
                    expected: self.file_bytes,
                }
                .into());
            }
            meter.record_ends(len);
        }
        Ok(())
    }
}

/// The kernel may take less than it is given; then it is asked again for the rest.
fn write_all(file: BorrowedFd, mut data: &[u8], mut offset: u64) -> Result<(), Fault> {
    while !data.is_empty() {
        let written = match retry_on_intr(|| pwrite(file, data, offset)) {
            Ok(0) => Err(Errno::IO), // nothing taken and no reason given: it would go on for ever
            other => other,
        }
        .map_err(|errno| Fault::Io {
            call: "pwrite",
            offset,
            errno,
        })?;
        data = &data[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Fill `data` as far as the file goes; the number of bytes read.
fn read_all(file: BorrowedFd, data: &mut [u8], offset: u64) -> Result<usize, Fault> {
    let mut found = 0;
    while found < data.len() {
        let at = offset + found as u64;
        let read =
            retry_on_intr(|| pread(file, &mut data[found..], at)).map_err(|errno| Fault::Io {
                call: "pread",
                offset: at,
                errno,
            })?;
        if read == 0 {
            break;
        }
        found += read;
    }
    Ok(found)
}

//! Record contents of a thread's files.

use std::io;

use iostudy_pattern::{Content, Record};

use crate::error::Fault;
use crate::job::Job;

pub(crate) struct RecordContent {
    content: Content,
    /// Number of the thread's first file among all files of the job.
    first_file: u64,
    end_bytes: u64,
    verify: bool,
}

impl RecordContent {
    /// Create the content generator of a thread.
    pub(crate) fn new(job: &Job, thread: usize) -> io::Result<Self> {
        let longest_write = if job.operation.writes() {
            job.record_bytes
        } else {
            0
        };
        Ok(Self {
            content: Content::new(job.seed, job.compressible, longest_write)?,
            first_file: job.file_number(thread, 0),
            end_bytes: job.begin_bytes + job.file_bytes,
            verify: job.verify,
        })
    }

    /// Return the content of a record for writing.
    #[inline]
    pub(crate) fn write_data(&mut self, file: usize, record: Record) -> &[u8] {
        self.content.record(self.first_file + file as u64, record)
    }

    /// Check that `data` is the complete record with the expected content.
    #[inline]
    pub(crate) fn verify(&self, file: usize, record: Record, data: &[u8]) -> Result<(), Fault> {
        let file = self.first_file + file as u64;
        if self.verify {
            if let Some(at) = self.content.first_difference(file, record.offset, data) {
                return Err(Fault::DataMismatch { at });
            }
        }
        if data.len() < record.len {
            return Err(Fault::UnexpectedEof {
                at: record.offset + data.len() as u64,
                expected: self.end_bytes,
            });
        }
        Ok(())
    }
}

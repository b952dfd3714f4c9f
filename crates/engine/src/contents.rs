//! What the records of a thread's files hold.

use std::io;

use iostudy_pattern::{Content, Record};

use crate::error::Fault;
use crate::job::Job;

pub(crate) struct Contents {
    content: Content,
    /// The number of the thread's first file among all of the job's.
    first_file: u64,
    end_bytes: u64,
    verify: bool,
}

impl Contents {
    /// For what a thread writes and reads.
    pub(crate) fn new(job: &Job, thread: usize) -> io::Result<Self> {
        let longest_written = if job.operation.writes() {
            job.record_bytes
        } else {
            0
        };
        Ok(Self {
            content: Content::new(job.seed, job.compressible, longest_written)?,
            first_file: job.file_number(thread, 0),
            end_bytes: job.begin_bytes + job.file_bytes,
            verify: job.verify,
        })
    }

    /// What is to be written.
    #[inline]
    pub(crate) fn outgoing(&mut self, file: usize, record: Record) -> &[u8] {
        self.content.record(self.first_file + file as u64, record)
    }

    /// Whether `data` is the whole record, and what was written.
    #[inline]
    pub(crate) fn verify(&self, file: usize, record: Record, data: &[u8]) -> Result<(), Fault> {
        let file = self.first_file + file as u64;
        if self.verify {
            if let Some(at) = self.content.first_difference(file, record.offset, data) {
                return Err(Fault::Differs { at });
            }
        }
        if data.len() < record.len {
            return Err(Fault::EndsEarly {
                at: record.offset + data.len() as u64,
                expected: self.end_bytes,
            });
        }
        Ok(())
    }
}

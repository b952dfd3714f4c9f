//! Schedule of sync calls between written records.

use crate::job::{Job, Sync, SyncCall};
use crate::stats::Direction;

/// Counter of written records that determines the next sync.
pub(crate) struct SyncSchedule {
    sync: Option<Sync>,
    written: u64,
}

impl SyncSchedule {
    /// Create the schedule of the job; it is empty if syncs happen only at the end.
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            sync: job.sync.filter(|sync| sync.every_records > 0),
            written: 0,
        }
    }

    /// Count one record. Return the sync call that is due after it.
    #[inline]
    pub(crate) fn after(&mut self, direction: Direction) -> Option<SyncCall> {
        let sync = self.sync.filter(|_| direction == Direction::Write)?;
        self.written += 1;
        (self.written % sync.every_records == 0).then_some(sync.call)
    }
}

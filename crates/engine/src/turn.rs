//! When written data are to be brought to the disk before the end.

use crate::job::{Job, Sync, SyncCall};
use crate::meter::Direction;

/// Counts the records that a thread writes until it is time for a sync.
pub(crate) struct SyncTurn {
    sync: Option<Sync>,
    written: u64,
}

impl SyncTurn {
    /// As the job wants it; never, if it wants none but at the end.
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            sync: job.sync.filter(|sync| sync.every_records > 0),
            written: 0,
        }
    }

    /// Another record: the sync that is due after it.
    #[inline]
    pub(crate) fn after(&mut self, direction: Direction) -> Option<SyncCall> {
        let sync = self.sync.filter(|_| direction == Direction::Write)?;
        self.written += 1;
        (self.written % sync.every_records == 0).then_some(sync.call)
    }
}

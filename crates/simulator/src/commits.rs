//! Commits of the journals.

use std::ops::Range;

use iostudy_schedulers::{Bio, Priority, ProcessId};

use crate::device::Purpose;
use crate::journal::{CommitStep, Journal, Transaction};
use crate::state::{Simulation, Stage};

/// Level of the requests of the journal's thread: one above that of other processes.
const PRIORITY_LEVEL: u8 = 3;

impl Simulation<'_> {
    /// Let a lane wait until the last change of some blocks of a file is in the journal.
    ///
    /// A file without a journal has nothing to wait for.
    pub(crate) fn await_commit(&mut self, lane: usize, metadata: usize, blocks: &[Range<u64>]) {
        let Some(journal) = self.journals.get_mut(&metadata) else {
            return self.wake(lane, 0);
        };
        match journal.find(blocks) {
            Transaction::Complete => self.wake(lane, 0),
            Transaction::UnderCommit => journal.awaiting_commit.push(lane),
            Transaction::Open => {
                journal.awaiting_open.push(lane);
                if journal.committing.is_empty() {
                    self.begin_commit(metadata);
                }
            }
        }
    }

    fn journal(&mut self, metadata: usize) -> &mut Journal {
        let journal = self.journals.get_mut(&metadata);
        journal.expect("a file with a journal")
    }

    /// Forget the open transaction of a file that does not exist any longer.
    pub(crate) fn forget_changes(&mut self, metadata: usize) {
        if let Some(journal) = self.journals.get_mut(&metadata) {
            journal.open.clear();
        }
    }

    /// Commit the open transaction if a lane waits for it.
    fn begin_commit(&mut self, metadata: usize) {
        let journal = self.journal(metadata);
        if let Some(&leader) = journal.awaiting_open.first() {
            let pages = journal.begin();
            self.write_journal(leader, metadata, &pages, CommitStep::Changes);
        }
    }

    /// Continue a commit after a step that its leading lane has awaited.
    pub(crate) fn continue_commit(&mut self, leader: usize, metadata: usize, step: CommitStep) {
        match step {
            CommitStep::Changes => self.flush_journal(leader, CommitStep::ChangesFlush),
            CommitStep::ChangesFlush => {
                let page = self.journal(metadata).commit_block();
                self.write_journal(leader, metadata, &page, CommitStep::CommitBlock);
            }
            CommitStep::CommitBlock => self.flush_journal(leader, CommitStep::CommitBlockFlush),
            CommitStep::CommitBlockFlush => self.end_commit(leader, metadata),
        }
    }

    fn write_journal(
        &mut self,
        leader: usize,
        metadata: usize,
        pages: &Range<u64>,
        step: CommitStep,
    ) {
        let file = self.journal(metadata).file;
        let process = u32::try_from(self.threads.len()).expect("few threads");
        let parts = self.parts(pages);
        self.set_stage(leader, Stage::Committing(step), parts.len());
        for part in parts {
            let (start, sectors) = self.sectors_of(file, &part);
            let bio = Bio {
                sync: true,
                metadata: true,
                priority: Priority {
                    level: PRIORITY_LEVEL,
                    ..Priority::default()
                },
                // The flusher has the number before.
                ..Bio::write(ProcessId(process + 1), start, sectors)
            };
            self.device.submit(bio, Purpose::Direct(leader));
        }
    }

    fn flush_journal(&mut self, leader: usize, step: CommitStep) {
        self.set_stage(leader, Stage::Committing(step), 0);
        self.device.submit_flush(leader);
    }

    fn end_commit(&mut self, leader: usize, metadata: usize) {
        self.set_stage(leader, Stage::Ending, 0);
        for lane in self.journal(metadata).end() {
            self.wake(lane, 0);
        }
        self.begin_commit(metadata);
    }
}

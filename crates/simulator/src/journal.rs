//! Journal of a file system, with the changes of all threads in common transactions.
//!
//! A commit writes a descriptor and each changed block to the journal, flushes the drive, writes
//! the commit block, and flushes the drive again. ext4 under Linux 6.18 does so on a drive with a
//! write cache and without forced unit access. Changes that are made meanwhile belong to the next
//! transaction.

use std::collections::BTreeSet;
use std::ops::Range;

/// Names of changed blocks in a descriptor block.
const BLOCKS_PER_DESCRIPTOR: u64 = 254;
/// What a commit waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitStep {
    /// Descriptor and changed blocks.
    Changes,
    /// The flush after them.
    ChangesFlush,
    /// The commit block.
    CommitBlock,
    /// The flush after it.
    CommitBlockFlush,
}

/// Where the last change of some blocks is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transaction {
    Complete,
    UnderCommit,
    Open,
}

/// The journal of a file of metadata.
#[derive(Clone, Debug)]
pub struct Journal {
    /// Its own file.
    pub file: usize,
    /// Its size in pages.
    pub pages: u64,
    /// First page after the last transaction.
    pub head: u64,
    /// Blocks of the open transaction.
    pub open: BTreeSet<u64>,
    /// Lanes that wait for the commit of the open transaction.
    pub awaiting_open: Vec<usize>,
    /// Blocks of the transaction under commit.
    pub committing: BTreeSet<u64>,
    /// Lanes that wait for its end; the first one leads.
    pub awaiting_commit: Vec<usize>,
}

impl Journal {
    pub const fn new(file: usize, pages: u64) -> Self {
        Self {
            file,
            pages,
            head: 0,
            open: BTreeSet::new(),
            awaiting_open: Vec::new(),
            committing: BTreeSet::new(),
            awaiting_commit: Vec::new(),
        }
    }

    /// Note changed blocks.
    pub fn change(&mut self, blocks: Range<u64>) {
        self.open.extend(blocks);
    }

    /// The transaction of the last change of some blocks; of any block if there are none.
    pub fn find(&self, blocks: &[Range<u64>]) -> Transaction {
        let has = |transaction: &BTreeSet<u64>| {
            let mut changed = blocks.iter().map(|own| transaction.range(own.clone()));
            !transaction.is_empty()
                && (blocks.is_empty() || changed.any(|mut own| own.next().is_some()))
        };
        if has(&self.open) {
            Transaction::Open
        } else if has(&self.committing) {
            Transaction::UnderCommit
        } else {
            Transaction::Complete
        }
    }

    /// Close the open transaction. Returns the pages of descriptor and changed blocks.
    pub fn begin(&mut self) -> Range<u64> {
        self.committing = std::mem::take(&mut self.open);
        self.awaiting_commit = std::mem::take(&mut self.awaiting_open);
        let changed = self.committing.len() as u64;
        let size = changed + changed.div_ceil(BLOCKS_PER_DESCRIPTOR);
        // The commit block follows.
        if self.head + size + 1 > self.pages {
            self.head = 0;
        }
        let first = self.head;
        self.head += size;
        first..self.head
    }

    /// The page of the commit block.
    pub const fn commit_block(&mut self) -> Range<u64> {
        let page = self.head;
        self.head += 1;
        page..self.head
    }

    /// End the commit. Returns the lanes that waited for it.
    pub fn end(&mut self) -> Vec<usize> {
        self.committing.clear();
        std::mem::take(&mut self.awaiting_commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(journal: &Journal, block: u64) -> Transaction {
        journal.find(std::slice::from_ref(&(block..block + 1)))
    }

    #[test]
    fn a_block_is_in_the_last_transaction_that_changed_it() {
        let mut journal = Journal::new(0, 100);
        assert_eq!(journal.find(&[]), Transaction::Complete);
        journal.change(3..5);
        assert_eq!(find(&journal, 4), Transaction::Open);
        assert_eq!(find(&journal, 5), Transaction::Complete);
        assert_eq!(journal.begin(), 0..3);
        assert_eq!(find(&journal, 4), Transaction::UnderCommit);
        journal.change(4..5);
        assert_eq!(find(&journal, 4), Transaction::Open);
        assert_eq!(find(&journal, 3), Transaction::UnderCommit);
        assert_eq!(journal.commit_block(), 3..4);
        journal.end();
        assert_eq!(find(&journal, 3), Transaction::Complete);
        assert_eq!(journal.find(&[]), Transaction::Open);
    }

    #[test]
    fn a_transaction_that_does_not_fit_begins_at_the_first_page() {
        let mut journal = Journal::new(0, 8);
        journal.change(0..3);
        assert_eq!(journal.begin(), 0..4);
        journal.commit_block();
        journal.end();
        journal.change(0..2);
        assert_eq!(journal.begin(), 0..3);
    }
}

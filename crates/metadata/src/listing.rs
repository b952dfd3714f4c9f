//! Listing and verification of a directory.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use rustix::fs::RawDir;

use crate::error::Fault;
use crate::tree_state::TreeState;

/// Buffer size of a getdents call, as in the C library.
pub(crate) const LISTING_BYTES: usize = 32 << 10;

/// Read all entries of a directory and compare them with `items`.
pub(crate) fn list(
    directory: BorrowedFd,
    memory: &mut [MaybeUninit<u8>],
    tree_state: TreeState,
    items: Range<u64>,
) -> Result<(), Fault> {
    let mut found = NameSummary::default();
    let mut entries = RawDir::new(directory, memory);
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(Fault::in_call("getdents64"))?;
        found.add(entry.file_name(), tree_state);
    }
    found.compare(&NameSummary::expected(tree_state, items))
}

/// Count and sum of numbered names; other names rarely have the same sum.
#[derive(Default, PartialEq, Eq)]
struct NameSummary {
    names: u64,
    sum: u128,
    unknown_names: u64,
}

impl NameSummary {
    fn expected(tree_state: TreeState, items: Range<u64>) -> Self {
        let kinds = tree_state.kinds().count() as u64;
        let count = items.end.saturating_sub(items.start);
        let twice_the_mean = u128::from(items.start) + u128::from(items.end).saturating_sub(1);
        Self {
            names: kinds * count,
            sum: u128::from(kinds) * (u128::from(count) * twice_the_mean / 2),
            unknown_names: 0,
        }
    }

    fn add(&mut self, name: &CStr, tree_state: TreeState) {
        let name = name.to_bytes();
        if matches!(name, b"." | b"..") {
            return;
        }
        self.names += 1;
        match number(name, tree_state) {
            Some(number) => self.sum += u128::from(number),
            None => self.unknown_names += 1,
        }
    }

    fn compare(&self, expected: &Self) -> Result<(), Fault> {
        if self.names != expected.names {
            return Err(Fault::Names {
                found: self.names,
                expected: expected.names,
            });
        }
        if self != expected {
            return Err(Fault::OtherNames);
        }
        Ok(())
    }
}

/// Number in a name of an expected kind.
fn number(name: &[u8], tree_state: TreeState) -> Option<u64> {
    let (letter, digits) = name.split_first()?;
    tree_state.kinds().find(|kind| kind.letter() == *letter)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

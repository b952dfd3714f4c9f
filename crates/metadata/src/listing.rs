//! Reading a directory, and whether it holds exactly what was made in it.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use rustix::fs::RawDir;

use crate::error::Fault;
use crate::stock::Stock;

/// What one getdents call fills; as much as the C library gives it.
pub(crate) const LISTING_BYTES: usize = 32 << 10;

/// Read a directory to its end and compare the names with those of `items`.
pub(crate) fn list(
    directory: BorrowedFd,
    memory: &mut [MaybeUninit<u8>],
    stock: Stock,
    items: Range<u64>,
) -> Result<(), Fault> {
    let mut found = Tally::default();
    let mut entries = RawDir::new(directory, memory);
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(Fault::of("getdents64"))?;
        found.add(entry.file_name(), stock);
    }
    found.compare(&Tally::expected(stock, items))
}

/// Names counted and their numbers summed up: other names have hardly ever the same sum.
#[derive(Default, PartialEq, Eq)]
struct Tally {
    names: u64,
    sum: u128,
    strangers: u64,
}

impl Tally {
    fn expected(stock: Stock, items: Range<u64>) -> Self {
        let kinds = stock.kinds().count() as u64;
        let count = items.end.saturating_sub(items.start);
        let twice_the_mean = u128::from(items.start) + u128::from(items.end).saturating_sub(1);
        Self {
            names: kinds * count,
            sum: u128::from(kinds) * (u128::from(count) * twice_the_mean / 2),
            strangers: 0,
        }
    }

    fn add(&mut self, name: &CStr, stock: Stock) {
        let name = name.to_bytes();
        if matches!(name, b"." | b"..") {
            return;
        }
        self.names += 1;
        match number(name, stock) {
            Some(number) => self.sum += u128::from(number),
            None => self.strangers += 1,
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

/// The number in a name of a kind that there should be.
fn number(name: &[u8], stock: Stock) -> Option<u64> {
    let (letter, digits) = name.split_first()?;
    stock.kinds().find(|kind| kind.letter() == *letter)?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

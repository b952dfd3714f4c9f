//! Hash table of word counts with a fixed memory limit.

use std::cmp::Ordering;

use iostudy_pattern::PAGE_BYTES;
use rustix::mm::{Advice, madvise};

use crate::error::Fault;
use crate::file::{reserve, whole_pages};
use crate::sort::sort;
use crate::wordcount::partition::partition;
use crate::wordcount::word::{PREFIX_BYTES, Word};
use crate::wordcount::zipf::scale_to_range;

/// Fraction of the memory for the ends of long words (1/8).
pub(crate) const ARENA_PART: usize = 8;
/// Fraction of slots that stay free (1/4), for short probe sequences.
const FREE_PART: usize = 4;

/// Slots processed between two stop checks: 1 MiB.
const SLOTS_AT_A_TIME: usize = (1 << 20) / size_of::<Entry>();

/// Word, reducer and count; a count of 0 marks a free slot. An entry never crosses a cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Entry {
    prefix: [u64; 2],
    count: u32,
    reducer: u32,
    len: u32,
    /// Arena offset of the rest of a long word.
    rest_at: u32,
}

/// Word with its count.
pub(crate) struct WordEntry<'a> {
    pub(crate) reducer: usize,
    /// First part of the word.
    pub(crate) head: &'a [u8],
    /// Second part of the word.
    pub(crate) rest: &'a [u8],
    pub(crate) count: u64,
}

/// Combiner of one thread: a hash table with linear probing that is sorted in place.
///
/// It is designed for one memory access per word, because rare words miss all caches. See
/// [`Table::fetch`].
pub(crate) struct Table {
    slots: Vec<Entry>,
    arena: Vec<u8>,
    reducers: usize,
    entries: usize,
}

/// The table or a counter is full; the table must be cleared first.
#[derive(Debug)]
pub(crate) struct TableFull;

impl Table {
    /// Create a table within `share_bytes` of memory.
    ///
    /// # Errors
    ///
    /// The system has not enough memory, or `check_stop` fails.
    pub(crate) fn new<E: From<Fault>>(
        share_bytes: usize,
        reducers: usize,
        check_stop: impl Fn() -> Result<(), E>,
    ) -> Result<Self, E> {
        let (arena_bytes, slots) = (arena_bytes(share_bytes), slots(share_bytes));
        let mut table = Self {
            slots: reserve(slots)?,
            arena: reserve(arena_bytes)?,
            reducers,
            entries: 0,
        };
        in_huge_pages(&mut table.slots);
        while table.slots.len() < slots {
            check_stop()?;
            let more = (table.slots.len() + SLOTS_AT_A_TIME).min(slots);
            table.slots.resize(more, Entry::default());
        }
        Ok(table)
    }

    /// Prefetch the slot of a word.
    #[inline]
    #[allow(unsafe_code, reason = "stable Rust has no other prefetch")]
    pub(crate) fn fetch(&self, word: &Word) {
        let entry = &raw const self.slots[self.first_slot(word.hash)];
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 CPU has the instruction, and it has no side effects.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(entry.cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = entry; // no stable intrinsic
    }

    /// Count one occurrence of a word.
    #[inline]
    pub(crate) fn add(&mut self, word: &Word) -> Result<(), TableFull> {
        let mut slot = self.first_slot(word.hash);
        loop {
            let entry = &mut self.slots[slot];
            if entry.count == 0 {
                return self.insert(slot, word);
            }
            if entry.is(word, &self.arena) {
                entry.count = entry.count.checked_add(1).ok_or(TableFull)?;
                return Ok(());
            }
            slot = if slot + 1 < self.slots.len() {
                slot + 1
            } else {
                0
            };
        }
    }

    /// First slot to probe; uniformly distributed.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // it is less than the number of slots
    fn first_slot(&self, hash: u64) -> usize {
        scale_to_range(self.slots.len() as u64, hash) as usize
    }

    fn insert(&mut self, slot: usize, word: &Word) -> Result<(), TableFull> {
        let most_entries = most_entries(self.slots.len());
        let room = self.arena.capacity() - self.arena.len();
        if self.entries == most_entries || word.rest().len() > room {
            return Err(TableFull);
        }
        self.slots[slot] = Entry {
            prefix: word.prefix,
            count: 1,
            reducer: narrow(partition(word.letters, self.reducers)),
            len: narrow(word.letters.len()),
            rest_at: narrow(self.arena.len()),
        };
        self.entries += 1;
        self.arena.extend_from_slice(word.rest());
        Ok(())
    }

    /// Whether the table is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Sort all words by reducer and bytes. No word may be added before the table is cleared, even
    /// after an error.
    pub(crate) fn sort<E>(&mut self, check_stop: impl Fn() -> Result<(), E>) -> Result<(), E> {
        self.gather(&check_stop)?;
        let (arena, entries) = (&self.arena, &mut self.slots[..self.entries]);
        sort(entries, Entry::rank, |a, b| a.order(b, arena), check_stop)
    }

    /// Call `emit` with every word in sorted order.
    pub(crate) fn each_word<E>(
        &self,
        mut emit: impl FnMut(&WordEntry) -> Result<(), E>,
    ) -> Result<(), E> {
        for entry in &self.slots[..self.entries] {
            let head = entry.head();
            emit(&WordEntry {
                reducer: entry.reducer as usize,
                head: &head[..PREFIX_BYTES.min(entry.len as usize)],
                rest: entry.rest(&self.arena),
                count: entry.count.into(),
            })?;
        }
        Ok(())
    }

    /// Clear the table, unless `check_stop` fails.
    pub(crate) fn clear<E>(&mut self, check_stop: impl Fn() -> Result<(), E>) -> Result<(), E> {
        for slots in self.slots.chunks_mut(SLOTS_AT_A_TIME) {
            check_stop()?;
            slots.fill(Entry::default());
        }
        self.arena.clear();
        self.entries = 0;
        Ok(())
    }

    /// Move all entries to the first slots.
    fn gather<E>(&mut self, check_stop: impl Fn() -> Result<(), E>) -> Result<(), E> {
        let mut count = 0;
        for start in (0..self.slots.len()).step_by(SLOTS_AT_A_TIME) {
            check_stop()?;
            for slot in start..self.slots.len().min(start + SLOTS_AT_A_TIME) {
                if self.slots[slot].count > 0 {
                    self.slots[count] = self.slots[slot];
                    count += 1;
                }
            }
        }
        Ok(())
    }
}

fn arena_bytes(share_bytes: usize) -> usize {
    (share_bytes / ARENA_PART).min(u32::MAX as usize)
}

/// Slots of a table within `share_bytes` of memory.
pub(crate) fn slots(share_bytes: usize) -> usize {
    (share_bytes - arena_bytes(share_bytes)) / size_of::<Entry>()
}

/// Entries of a full table with this number of slots.
pub(crate) fn most_entries(slots: usize) -> usize {
    slots - slots / FREE_PART
}

/// Request huge pages for randomly accessed memory, to reduce TLB misses. The kernel may ignore the
/// request.
#[expect(unsafe_code, reason = "madvise takes a pointer")]
fn in_huge_pages(slots: &mut Vec<Entry>) {
    let room = slots.spare_capacity_mut();
    let start = room.as_mut_ptr().cast::<u8>();
    let lead = start.align_offset(PAGE_BYTES);
    let bytes = whole_pages(size_of_val(room).saturating_sub(lead));
    // SAFETY: the range lies within the memory of the vector, and the advice changes no content.
    let _ = unsafe { madvise(start.add(lead).cast(), bytes, Advice::LinuxHugepage) };
}

impl Entry {
    #[inline]
    fn is(&self, word: &Word, arena: &[u8]) -> bool {
        let len = word.letters.len();
        self.prefix == word.prefix
            && self.len as usize == len
            && (len <= PREFIX_BYTES || self.rest(arena) == word.rest())
    }

    fn head(&self) -> [u8; PREFIX_BYTES] {
        let [first, second] = self.prefix.map(u128::from);
        ((first << 64) | second).to_be_bytes()
    }

    #[inline]
    fn rest<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        let rest = (self.len as usize).saturating_sub(PREFIX_BYTES);
        &arena[self.rest_at as usize..][..rest]
    }

    /// Leading part of the sort order.
    #[inline]
    fn rank(&self) -> u128 {
        u128::from(self.reducer) << u64::BITS | u128::from(self.prefix[0])
    }

    fn order(&self, other: &Self, arena: &[u8]) -> Ordering {
        (self.reducer, self.prefix)
            .cmp(&(other.reducer, other.prefix))
            .then_with(|| self.rest(arena).cmp(other.rest(arena)))
            .then(self.len.cmp(&other.len))
    }
}

/// Convert a number below 2^32.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("nothing of the table is 2^32 or more")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::wordcount::partition::partition;

    const SHARE: usize = 1 << 16;

    type Counts = BTreeMap<(usize, Vec<u8>), u64>;

    fn emptied(table: &mut Table) -> Vec<((usize, Vec<u8>), u64)> {
        let mut all = Vec::new();
        table.sort(check_stop).unwrap();
        let taken = table.each_word(|word| {
            all.push(((word.reducer, [word.head, word.rest].concat()), word.count));
            check_stop()
        });
        taken.unwrap();
        table.clear(check_stop).unwrap();
        all
    }

    #[allow(clippy::unnecessary_wraps)] // as the signature requires
    fn check_stop() -> Result<(), Fault> {
        Ok(())
    }

    fn table(memory: usize, reducers: usize) -> Table {
        Table::new(memory, reducers, check_stop).unwrap()
    }

    #[test]
    fn a_full_table_takes_known_words_and_refuses_new_ones_until_it_is_emptied() {
        let mut table = table(SHARE, 1);
        let word = |number: u32| number.to_be_bytes();
        let added = |table: &mut Table, number| table.add(&Word::alone(&word(number)));
        let full = (0..u32::MAX)
            .find(|number| added(&mut table, *number).is_err())
            .unwrap();
        assert!(full > 1000, "{full}");
        added(&mut table, 0).unwrap();
        assert_eq!(emptied(&mut table).len(), full as usize);
        assert!(table.is_empty());
        added(&mut table, full).unwrap();
        assert_eq!(emptied(&mut table), [((0, word(full).to_vec()), 1)]);
    }

    #[test]
    fn a_count_that_has_no_room_is_taken_after_emptying() {
        let mut table = table(SHARE, 1);
        let word = Word::alone(b"the");
        table.add(&word).unwrap();
        let used = table.slots.iter_mut().find(|entry| entry.count > 0);
        used.unwrap().count = u32::MAX;
        assert!(table.add(&word).is_err());
        let most = u32::MAX.into();
        assert_eq!(emptied(&mut table), [((0, b"the".to_vec()), most)]);
        table.add(&word).unwrap();
    }

    #[test]
    fn a_stop_ends_creation_sorting_and_clearing() {
        let calls = Cell::new(0);
        let check = || {
            calls.set(calls.get() + 1);
            check_stop()
        };
        let mut table = Table::new(4 << 20, 1, check).unwrap();
        assert_eq!(calls.replace(0), 4);
        table.add(&Word::alone(b"the")).unwrap();
        table.sort(check).unwrap();
        assert_eq!(calls.replace(0), 4 + 1);
        table.clear(check).unwrap();
        assert_eq!(calls.get(), 4);
        let stop = || Err(());
        assert!(table.sort(stop).is_err() && table.clear(stop).is_err());
    }

    #[test]
    fn long_words_fill_their_own_part() {
        let mut table = table(SHARE, 1);
        let words: Vec<Vec<u8>> = (0..20).map(|letter| vec![letter; 1000]).collect();
        let taken = words
            .iter()
            .take_while(|word| table.add(&Word::alone(word)).is_ok());
        assert_eq!(taken.count(), SHARE / ARENA_PART / 984);
    }

    #[test]
    fn all_its_memory_is_within_its_share() {
        for memory in [SHARE, 3 << 16, 1 << 20, 5 << 20] {
            let table = table(memory, 1);
            let slots = table.slots.capacity() * size_of::<Entry>();
            let all = slots + table.arena.capacity();
            assert!(all <= memory, "{all} of {memory}");
            assert!(all > memory / 100 * 99, "{all} of {memory}");
        }
    }

    proptest! {
        #[test]
        fn counts_like_a_map_and_gives_words_in_order(
            words in prop::collection::vec(prop::collection::vec(0..4_u8, 1..40), 0..200),
            reducers in prop::sample::select(vec![1, 2, 3, 5, 1000]),
        ) {
            let mut table = table(SHARE, reducers);
            let mut expected = Counts::new();
            for word in &words {
                table.add(&Word::alone(word)).unwrap();
                *expected.entry((partition(word, reducers), word.clone())).or_default() += 1;
            }
            prop_assert_eq!(emptied(&mut table), Vec::from_iter(expected));
        }
    }
}

//! Read-ahead windows of a sequential reader.
//!
//! The rules are those of Wu, Xi, Xu, "On the design of a new Linux readahead framework" (ACM
//! SIGOPS Operating Systems Review 42(5), 2008): a window starts at two or four times the request,
//! doubles or quadruples up to the limit, and the next one is read when the reader reaches a mark.

use std::ops::Range;

/// Read-ahead of one reader of one file, in pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadAhead {
    start: u64,
    size: u64,
    /// Pages of the window from the mark to its end.
    ahead: u64,
    /// Page after the last one that was read.
    next: u64,
}

impl ReadAhead {
    /// The page at which the next window is read; none before the first window.
    pub fn mark(&self) -> Option<u64> {
        (self.ahead > 0).then(|| self.start + self.size - self.ahead)
    }

    /// Note that the reader has read up to `page`.
    pub fn advance(&mut self, page: u64) {
        self.next = page;
    }

    /// The pages to read for a request of `wanted` pages at `page`, which are not cached.
    pub fn miss(&mut self, page: u64, wanted: u64, limit: u64) -> Range<u64> {
        if self.size > 0 && page == self.start + self.size {
            return self.grow(limit);
        }
        if page != 0 && page != self.next {
            *self = Self::default();
            return page..page + wanted.min(limit.max(1));
        }
        let size = first_window(wanted, limit);
        self.start = page;
        self.size = size;
        self.ahead = if size > wanted { size - wanted } else { size };
        page..page + size
    }

    /// The window after the current one.
    pub fn grow(&mut self, limit: u64) -> Range<u64> {
        self.start += self.size;
        self.size = next_window(self.size, limit);
        self.ahead = self.size;
        self.start..self.start + self.size
    }
}

fn first_window(wanted: u64, limit: u64) -> u64 {
    let size = wanted.next_power_of_two();
    let grown = match size {
        size if size <= limit / 32 => size * 4,
        size if size <= limit / 4 => size * 2,
        _ => limit,
    };
    grown.clamp(1, limit.max(1))
}

fn next_window(size: u64, limit: u64) -> u64 {
    let grown = if size < limit / 16 {
        size * 4
    } else {
        size * 2
    };
    grown.clamp(1, limit.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_to_the_limit() {
        let mut read_ahead = ReadAhead::default();
        assert_eq!(read_ahead.miss(0, 1, 32), 0..4);
        assert_eq!(read_ahead.mark(), Some(1));
        assert_eq!(read_ahead.grow(32), 4..12);
        assert_eq!(read_ahead.grow(32), 12..28);
        assert_eq!(read_ahead.grow(32), 28..60);
        assert_eq!(read_ahead.grow(32), 60..92);
        assert_eq!(read_ahead.mark(), Some(60));
    }

    #[test]
    fn a_random_read_fetches_what_it_wants() {
        let mut read_ahead = ReadAhead::default();
        assert_eq!(read_ahead.miss(100, 2, 32), 100..102);
        assert_eq!(read_ahead.mark(), None);
        read_ahead.advance(102);
        assert_eq!(read_ahead.miss(102, 2, 32), 102..106);
    }

    #[test]
    fn without_read_ahead_single_pages_are_read() {
        let mut read_ahead = ReadAhead::default();
        assert_eq!(read_ahead.miss(0, 4, 0), 0..1);
    }
}

//! Read cache: segments that each hold adjacent blocks, replaced when least recently used.

/// Blocks that a segment holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First block.
    pub start: u64,
    /// Block after the last one.
    pub end: u64,
    last_use: u64,
}

/// All segments.
#[derive(Clone, Debug)]
pub struct Segments {
    held: Vec<Segment>,
    capacity: u64,
    uses: u64,
}

impl Segments {
    /// Empty segments of `capacity` blocks each.
    pub fn new(count: usize, capacity: u64) -> Self {
        Self {
            held: vec![Segment::default(); count],
            capacity,
            uses: 0,
        }
    }

    /// Blocks that a segment can hold.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Segment that holds `block` and most blocks after it.
    pub fn find(&self, block: u64) -> Option<usize> {
        let holds = |segment: &Segment| segment.start <= block && block < segment.end;
        let holding = self.held.iter().enumerate().filter(|(_, each)| holds(each));
        holding
            .max_by_key(|(_, each)| each.end)
            .map(|(index, _)| index)
    }

    /// Blocks of a segment.
    pub fn get(&self, index: usize) -> Segment {
        self.held[index]
    }

    /// Make the segment the most recently used one.
    pub fn touch(&mut self, index: usize) {
        self.uses += 1;
        self.held[index].last_use = self.uses;
    }

    /// Empty the least recently used segment and fill it with `start..end`, cut to its capacity.
    pub fn replace(&mut self, start: u64, end: u64) -> Option<usize> {
        let oldest = self
            .held
            .iter()
            .enumerate()
            .min_by_key(|(_, each)| each.last_use);
        let index = oldest?.0;
        self.held[index] = Segment::default();
        self.fill(index, start, end);
        Some(index)
    }

    /// Let a segment hold `start..end`; blocks at the front beyond its capacity are dropped.
    pub fn fill(&mut self, index: usize, start: u64, end: u64) {
        let start = start.max(end.saturating_sub(self.capacity));
        self.held[index].start = start;
        self.held[index].end = end;
        self.touch(index);
    }

    /// Empty the segments that hold blocks of `start..end`, because a write changes them.
    pub fn invalidate(&mut self, start: u64, end: u64) {
        let overlapping = |each: &&mut Segment| start < each.end && each.start < end;
        for segment in self.held.iter_mut().filter(overlapping) {
            *segment = Segment::default();
        }
    }
}

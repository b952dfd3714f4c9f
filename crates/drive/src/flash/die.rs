//! A die: its erase blocks, their valid units, and garbage collection.

use std::collections::VecDeque;

/// Place of a unit: number of the erase block and position in it.
pub type Place = u32;

/// Garbage collection caused by a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// Units that garbage collection copied.
    pub copied: u32,
    /// Erase blocks that it erased.
    pub erased: u32,
}

/// Erase blocks of one die. A unit has a number that is unique on its die.
#[derive(Clone, Debug)]
pub struct Die {
    units_per_block: u32,
    /// Unit at each place plus 1; 0 if the place holds no valid unit.
    owners: Vec<u32>,
    valid: Vec<u32>,
    free: VecDeque<u32>,
    is_free: Vec<bool>,
    open: u32,
    next: u32,
    /// Place of each unit plus 1; 0 if it was never written.
    places: Vec<u32>,
}

/// Erase blocks that garbage collection keeps free.
const RESERVE: usize = 2;

impl Die {
    /// An erased die of `blocks` erase blocks that holds `units` units.
    pub fn new(blocks: u32, units_per_block: u32, units: u32) -> Self {
        Self {
            units_per_block,
            owners: vec![0; blocks as usize * units_per_block as usize],
            valid: vec![0; blocks as usize],
            free: (1..blocks).collect(),
            is_free: (0..blocks).map(|block| block > 0).collect(),
            open: 0,
            next: 0,
            places: vec![0; units as usize],
        }
    }

    /// Whether the unit has been written.
    pub fn holds(&self, unit: u32) -> bool {
        self.places[unit as usize] != 0
    }

    /// Write a unit to the next place, and collect garbage if few erase blocks are free.
    pub fn write(&mut self, unit: u32) -> Collection {
        self.place(unit);
        let mut done = Collection::default();
        while self.free.len() < RESERVE {
            let Some(victim) = self.victim() else {
                break;
            };
            done.copied += self.collect(victim);
            done.erased += 1;
        }
        done
    }

    fn place(&mut self, unit: u32) {
        if self.next == self.units_per_block {
            self.open = self
                .free
                .pop_front()
                .expect("garbage collection keeps blocks free");
            self.is_free[self.open as usize] = false;
            self.next = 0;
        }
        let old = self.places[unit as usize];
        if old != 0 {
            self.owners[old as usize - 1] = 0;
            self.valid[((old - 1) / self.units_per_block) as usize] -= 1;
        }
        let place: Place = self.open * self.units_per_block + self.next;
        self.owners[place as usize] = unit + 1;
        self.places[unit as usize] = place + 1;
        self.valid[self.open as usize] += 1;
        self.next += 1;
    }

    /// Full erase block with the fewest valid units (greedy); `None` if all its units are valid.
    fn victim(&self) -> Option<u32> {
        let in_use = |block: u32| block != self.open && !self.is_free[block as usize];
        let full = (0..).zip(&self.valid).filter(|(block, _)| in_use(*block));
        let (block, valid) = full.min_by_key(|(_, valid)| **valid)?;
        (*valid < self.units_per_block).then_some(block)
    }

    fn collect(&mut self, victim: u32) -> u32 {
        let start = (victim * self.units_per_block) as usize;
        let mut copied = 0;
        for place in start..start + self.units_per_block as usize {
            if let Some(unit) = self.owners[place].checked_sub(1) {
                self.place(unit);
                copied += 1;
            }
        }
        self.free.push_back(victim);
        self.is_free[victim as usize] = true;
        copied
    }
}

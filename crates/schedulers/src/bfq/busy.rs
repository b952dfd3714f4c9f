//! Counts of busy queues by class and weight.

use std::collections::BTreeMap;

use crate::request::PriorityClass;

/// Counts of busy queues.
#[derive(Debug, Default)]
pub struct Busy {
    classes: [u32; 3],
    /// Queues without raising by weight.
    weights: BTreeMap<u32, u32>,
    raised: u32,
}

impl Busy {
    /// Busy queues.
    pub fn total(&self) -> u32 {
        self.classes.iter().sum()
    }

    /// Busy queues with raising.
    pub const fn raised(&self) -> u32 {
        self.raised
    }

    pub fn add(&mut self, (class, weight, factor): (PriorityClass, u32, u32)) {
        self.classes[class as usize] += 1;
        if factor > 1 {
            self.raised += 1;
        } else {
            *self.weights.entry(weight).or_default() += 1;
        }
    }

    pub fn remove(&mut self, (class, weight, factor): (PriorityClass, u32, u32)) {
        self.classes[class as usize] -= 1;
        if factor > 1 {
            self.raised -= 1;
        } else if let Some(count) = self.weights.get_mut(&weight) {
            *count -= 1;
            if *count == 0 {
                self.weights.remove(&weight);
            }
        }
    }

    /// Whether a queue of `weight` needs idling to get its share: two classes are busy, or unraised
    /// queues have different weights and this one is not of the smallest.
    pub fn asymmetric(&self, weight: u32) -> bool {
        let classes = self.classes.iter().filter(|&&count| count > 0).count();
        let smallest = self.weights.keys().next();
        classes > 1 || self.weights.len() > 1 && smallest.is_some_and(|&least| weight > least)
    }
}

//! Which processors the workload may use: a cpuset or an affinity may leave it few of many.

use std::collections::HashMap;

use rustix::thread::{CpuSet, Pid, sched_getaffinity};

/// Of the workload's CPU time, what may have been spent elsewhere: one part in so many. A shell that
/// starts what is confined, or iostudy itself where it only watches, may use other processors, and
/// those of the others as well.
const ELSEWHERE: u64 = 20;

/// The processors of threads, with the clock ticks that those ran which may use just these.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    ticks: HashMap<CpuSet, u64>,
}

impl Allowed {
    /// A thread that has run for so long since it was last noted. It is left out if it is gone, and
    /// where the machine has more processors than a set has room for (`sched_getaffinity(2)`).
    pub(super) fn note(&mut self, thread: u32, ticks: u64) {
        let pid = i32::try_from(thread).ok().and_then(Pid::from_raw);
        if let Some(Ok(set)) = pid.map(|pid| sched_getaffinity(Some(pid))) {
            *self.ticks.entry(set).or_default() += ticks;
        }
    }

    /// How many processors nearly all of the work may be done on; None if that is not known.
    pub(super) fn count(&self) -> Option<u64> {
        let total: u64 = self.ticks.values().sum();
        let mut sets: Vec<(u64, &CpuSet)> = self.ticks.iter().map(|(set, n)| (*n, set)).collect();
        sets.sort_by_key(|(ticks, _)| *ticks);
        let mut elsewhere = 0;
        let first = sets.iter().position(|(ticks, _)| {
            elsewhere += ticks;
            elsewhere * ELSEWHERE >= total
        })?;
        let mut counted = union(sets[first..].iter().map(|(_, set)| *set));
        for (_, set) in &sets[..first] {
            if !contains(set, &counted) {
                counted = union([&counted, *set]);
            }
        }
        let count = counted.count();
        (count > 0).then_some(u64::from(count))
    }
}

fn union<'a>(sets: impl IntoIterator<Item = &'a CpuSet>) -> CpuSet {
    let mut all = CpuSet::new();
    for set in sets {
        for cpu in processors(set) {
            all.set(cpu);
        }
    }
    all
}

fn contains(set: &CpuSet, other: &CpuSet) -> bool {
    processors(other).all(|cpu| set.is_set(cpu))
}

fn processors(set: &CpuSet) -> impl Iterator<Item = usize> {
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(noted: &[(&[usize], u64)]) -> Option<u64> {
        let mut allowed = Allowed::default();
        for (cpus, ticks) in noted {
            let mut set = CpuSet::new();
            cpus.iter().for_each(|cpu| set.set(*cpu));
            *allowed.ticks.entry(set).or_default() += ticks;
        }
        allowed.count()
    }

    #[test]
    fn those_count_on_which_nearly_all_work_may_be_done() {
        let all: Vec<usize> = (0..200).collect();
        assert_eq!(of(&[(&all, 3), (&[4, 5], 97)]), Some(2));
        assert_eq!(of(&[(&all, 6), (&[4, 5], 94)]), Some(200));
    }

    #[test]
    fn threads_that_have_a_processor_each_have_all_of_them_together() {
        let single: Vec<[usize; 1]> = (0..100).map(|cpu| [cpu]).collect();
        let noted: Vec<(&[usize], u64)> = single.iter().map(|cpu| (&cpu[..], 1)).collect();
        assert_eq!(of(&noted), Some(100));
        assert_eq!(of(&[(&[0], 4), (&[1], 96)]), Some(2));
    }

    #[test]
    fn before_anything_was_done_all_count() {
        assert_eq!(of(&[(&[0], 0), (&[1, 2], 0)]), Some(3));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn this_thread_may_use_some() {
        let mut allowed = Allowed::default();
        allowed.note(rustix::thread::gettid().as_raw_pid().unsigned_abs(), 1);
        assert!(allowed.count().is_some());
    }
}

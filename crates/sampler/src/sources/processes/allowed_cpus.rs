//! CPUs that the workload may use by cpuset and affinity.

use std::collections::HashMap;

use rustix::thread::{CpuSet, Pid, sched_getaffinity};

/// Tolerance: 1/20 of the workload's CPU time may be outside these CPUs. A shell or iostudy itself
/// may be less restricted than the workload.
const OUTSIDE_DIVISOR: u64 = 20;

/// CPU sets of threads, with the clock ticks of threads that have exactly this set.
#[derive(Debug, Default)]
pub(super) struct AllowedCpus {
    ticks: HashMap<CpuSet, u64>,
}

impl AllowedCpus {
    /// Add the ticks of a thread since the last call. Threads that have ended, or have more CPUs
    /// than a set holds, are skipped (`sched_getaffinity(2)`).
    pub(super) fn note(&mut self, thread: u32, ticks: u64) {
        let pid = i32::try_from(thread).ok().and_then(Pid::from_raw);
        if let Some(Ok(set)) = pid.map(|pid| sched_getaffinity(Some(pid))) {
            *self.ticks.entry(set).or_default() += ticks;
        }
    }

    /// Number of CPUs for nearly all of the work; `None` if unknown.
    pub(super) fn count(&self) -> Option<u64> {
        let total: u64 = self.ticks.values().sum();
        let mut sets: Vec<(u64, &CpuSet)> = self.ticks.iter().map(|(set, n)| (*n, set)).collect();
        sets.sort_by_key(|(ticks, _)| *ticks);
        let mut elsewhere = 0;
        let first = sets.iter().position(|(ticks, _)| {
            elsewhere += ticks;
            elsewhere * OUTSIDE_DIVISOR >= total
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
        let mut allowed_cpus = AllowedCpus::default();
        for (cpus, ticks) in noted {
            let mut set = CpuSet::new();
            cpus.iter().for_each(|cpu| set.set(*cpu));
            *allowed_cpus.ticks.entry(set).or_default() += ticks;
        }
        allowed_cpus.count()
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
        let mut allowed_cpus = AllowedCpus::default();
        allowed_cpus.note(rustix::thread::gettid().as_raw_pid().unsigned_abs(), 1);
        assert!(allowed_cpus.count().is_some());
    }
}

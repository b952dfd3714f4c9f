//! Resource accounting of processes over scans of /proc (pure).
//!
//! The kernel adds a process's usage to its parent when the parent waits for it. So a process
//! counts with its waited children. When an observed process is gone, its last observed usage is
//! subtracted from its heir. The heir is found by page faults: they are inherited together with the
//! rest, every process has some, and they have their own counter. The heir is the parent or an
//! ancestor that adopted the child; a parent that ignores SIGCHLD inherits nothing.
//!
//! A scan is not atomic, so one scan may count a child twice or not at all; the next one corrects
//! it, except if its parent ends too. Totals never decrease: they pause meanwhile.

use std::collections::HashMap;
use std::iter;

use super::pid_io::PidIo;
use super::pid_stat::PidStat;
use super::threads::WorkloadProcess;
use super::usage::Usage;
use super::usage::{ProcessActivity, keep_busiest};

/// Maximum number of exited processes kept for the list; beyond it only the busiest are kept.
const MAX_EXITED: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Root of the workload or a descendant of one, whatever its current parent.
    Workload,
    Foreign,
    /// Kernel thread, which works for unknown others.
    Kernel,
}

/// Process, running or exited.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TrackedProcess {
    name: Vec<u8>,
    side: Side,
    parent: u32,
    started: u64,
    /// Usage at the last scan that observed it.
    usage: Usage,
    has_io: bool,
    /// Zombie: its children have been adopted.
    is_zombie: bool,
    /// Own and inherited page faults.
    faults: u64,
    inherited: u64,
    /// Increase of `inherited` in this scan and the two before, and its part without a known child.
    more_inherited: [u64; 3],
    unclaimed: u64,
    /// Usage since the last scan and since the list was last taken.
    step: Usage,
    done: Usage,
    /// Last scan that observed the process.
    scan: u64,
}

#[derive(Debug)]
struct ExitedProcess {
    pid: u32,
    known: TrackedProcess,
    is_inherited: bool,
}

/// Reference to a running or exited process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessRef {
    TrackedProcess(u32),
    ExitedProcess(usize),
}

/// Accounting of all processes of a machine.
#[derive(Debug, Default)]
pub(super) struct ProcessAccounting {
    roots: Vec<u32>,
    scan: u64,
    known: HashMap<u32, TrackedProcess>,
    /// New in this scan, without a known side.
    new: Vec<u32>,
    /// Gone since one of the last two scans: the heir may have been read too early.
    gone: Vec<ExitedProcess>,
    /// Activity of processes that are gone, since the list was last taken.
    ended: Vec<ProcessActivity>,
    pub(super) workload: UsageTotal,
    pub(super) foreign: UsageTotal,
}

/// Usage of a side since the first scan.
#[derive(Debug, Default)]
pub(super) struct UsageTotal {
    pub(super) now: Usage,
    /// Maximum so far.
    pub(super) found: Usage,
}

impl ProcessAccounting {
    pub(super) fn new(roots: &[u32]) -> Self {
        Self {
            roots: roots.to_vec(),
            ..Self::default()
        }
    }

    /// Observe a process in this scan; `io` is `None` where access is denied.
    pub(super) fn observe(&mut self, stat: &PidStat<'_>, io: Option<PidIo>) {
        let reused = |known: &TrackedProcess| known.started != stat.started;
        if self.known.get(&stat.pid).is_some_and(reused) {
            self.remove(stat.pid);
        }
        let (is_first, scan) = (self.scan == 0, self.scan);
        let usage = Usage::since_its_start(stat, io);
        let known = self.known.entry(stat.pid).or_insert_with(|| {
            self.new.push(stat.pid);
            let before = if is_first { usage } else { Usage::default() };
            TrackedProcess::found(stat, before, io.is_some())
        });
        known.scan = scan;
        known.follow(stat);
        known.advance(usage, io.is_some());
    }

    /// End the scan after all processes.
    pub(super) fn end_scan(&mut self) {
        for pid in std::mem::take(&mut self.new) {
            let side = self.side_of(pid);
            if let Some(known) = self.known.get_mut(&pid) {
                known.side = side;
            }
        }
        let scan = self.scan;
        let gone = |(pid, known): (&u32, &TrackedProcess)| (known.scan != scan).then_some(*pid);
        let left: Vec<u32> = self.known.iter().filter_map(gone).collect();
        for pid in left {
            self.remove(pid);
        }
        self.settle_inheritance();
        self.add_up();
        self.prune();
        self.scan += 1;
    }

    /// Processes of the workload.
    pub(super) fn workload_processes(&self) -> impl Iterator<Item = WorkloadProcess> {
        self.known.iter().filter_map(|(&pid, known)| {
            (known.side == Side::Workload).then_some(WorkloadProcess {
                pid,
                started: Some(known.started),
            })
        })
    }

    /// Return the busiest processes since the last call or the first scan.
    pub(super) fn take_busiest(&mut self) -> Vec<ProcessActivity> {
        let mut all = std::mem::take(&mut self.ended);
        for (pid, known) in &mut self.known {
            all.extend(known.take_done(*pid));
        }
        keep_busiest(&mut all);
        all
    }

    /// Side of a new process: that of its parent.
    fn side_of(&self, pid: u32) -> Side {
        if self.known[&pid].side == Side::Kernel {
            return Side::Kernel;
        }
        let is_root = |place| match place {
            ProcessRef::TrackedProcess(pid) => self.scan == 0 && self.roots.contains(&pid),
            ProcessRef::ExitedProcess(_) => false,
        };
        let mut lineage = self.lineage(ProcessRef::TrackedProcess(pid));
        if lineage.any(|place| self.at(place).side == Side::Workload || is_root(place)) {
            Side::Workload
        } else {
            Side::Foreign
        }
    }

    /// Ancestry of a process by last observed parents.
    fn lineage(&self, of: ProcessRef) -> impl Iterator<Item = ProcessRef> {
        let parents = iter::successors(Some(of), |&place| self.parent_of(self.at(place)));
        // Bounded: a reused pid might create a cycle.
        parents.take(self.known.len() + self.gone.len())
    }

    fn parent_of(&self, child: &TrackedProcess) -> Option<ProcessRef> {
        let pid = child.parent;
        let is_older = |parent: &TrackedProcess| parent.started <= child.started;
        if self.known.get(&pid).is_some_and(is_older) {
            return Some(ProcessRef::TrackedProcess(pid));
        }
        let is_it = |gone: &ExitedProcess| gone.pid == pid && is_older(&gone.known);
        self.gone
            .iter()
            .rposition(is_it)
            .map(ProcessRef::ExitedProcess)
    }

    fn at(&self, place: ProcessRef) -> &TrackedProcess {
        match place {
            ProcessRef::TrackedProcess(pid) => &self.known[&pid],
            ProcessRef::ExitedProcess(index) => &self.gone[index].known,
        }
    }

    fn at_mut(&mut self, place: ProcessRef) -> &mut TrackedProcess {
        match place {
            ProcessRef::TrackedProcess(pid) => {
                self.known.get_mut(&pid).expect("the process exists")
            }
            ProcessRef::ExitedProcess(index) => &mut self.gone[index].known,
        }
    }

    /// Remove a process that is gone.
    fn remove(&mut self, pid: u32) {
        if let Some(mut known) = self.known.remove(&pid) {
            self.ended.extend(known.take_done(pid));
            known.scan = self.scan;
            self.gone.push(ExitedProcess {
                pid,
                known,
                is_inherited: false,
            });
        }
    }

    /// Subtract the observed usage of exited processes from their heirs.
    fn settle_inheritance(&mut self) {
        // Parents first: their figures include what they inherited.
        self.gone.sort_by_key(|gone| (gone.known.started, gone.pid));
        for index in 0..self.gone.len() {
            if self.gone[index].is_inherited {
                continue;
            }
            let TrackedProcess { usage, faults, .. } = self.gone[index].known;
            if let Some(heir) = self.find_heir(ProcessRef::ExitedProcess(index)) {
                let heir = self.at_mut(heir);
                heir.unclaimed -= faults;
                heir.step -= heir.observed_share(usage);
                self.gone[index].is_inherited = true;
            }
        }
    }

    /// Nearest ancestor that inherited as many page faults.
    ///
    /// A living parent is the only candidate, and at first the nearest living ancestor, which may
    /// have been read too early; later any adopter.
    fn find_heir(&self, gone: ProcessRef) -> Option<ProcessRef> {
        let (faults, left_at) = (self.at(gone).faults, self.at(gone).scan);
        for (distance, place) in self.lineage(gone).enumerate().skip(1) {
            if self.at(place).unclaimed >= faults {
                return Some(place);
            }
            let is_there =
                matches!(place, ProcessRef::TrackedProcess(_)) && !self.at(place).is_zombie;
            if is_there && (distance == 1 || left_at == self.scan) {
                return None;
            }
        }
        None
    }

    fn add_up(&mut self) {
        let gone = self.gone.iter_mut().map(|gone| &mut gone.known);
        for known in self.known.values_mut().chain(gone) {
            let step = std::mem::take(&mut known.step);
            known.unclaimed = known.unclaimed.min(known.more_inherited.iter().sum());
            match known.side {
                Side::Workload => self.workload.now += step,
                Side::Foreign => self.foreign.now += step,
                Side::Kernel => continue,
            }
            known.done += step;
        }
        for sum in [&mut self.workload, &mut self.foreign] {
            sum.found = sum.found.max(sum.now);
        }
    }

    fn prune(&mut self) {
        let scan = self.scan;
        self.gone.retain(|gone| gone.known.scan == scan);
        if self.ended.len() > MAX_EXITED {
            keep_busiest(&mut self.ended);
        }
    }
}

impl TrackedProcess {
    fn found(stat: &PidStat<'_>, usage: Usage, has_io: bool) -> Self {
        let side = if stat.is_kernel_thread {
            Side::Kernel
        } else {
            Side::Foreign
        };
        Self {
            name: Vec::new(),
            side,
            parent: stat.parent,
            started: stat.started,
            usage,
            has_io,
            is_zombie: false,
            faults: 0,
            inherited: stat.childrens_faults,
            more_inherited: [0; 3],
            unclaimed: 0,
            step: Usage::default(),
            done: Usage::default(),
            scan: 0,
        }
    }

    /// Update name, parent and inherited faults.
    fn follow(&mut self, stat: &PidStat<'_>) {
        if self.name != stat.name {
            self.name = stat.name.to_vec();
        }
        self.parent = stat.parent;
        self.is_zombie = stat.state == b'Z';
        self.faults = stat.faults.wrapping_add(stat.childrens_faults);
        let more = stat.childrens_faults.saturating_sub(self.inherited);
        let [last, before, _] = self.more_inherited;
        self.more_inherited = [more, last, before];
        self.inherited = stat.childrens_faults;
        self.unclaimed += more;
    }

    /// Advance the usage; values that are unreadable now are added later.
    fn advance(&mut self, usage: Usage, is_there: bool) {
        if is_there && self.has_io {
            self.step = usage - self.usage;
            self.usage = usage;
            return;
        }
        self.step = (usage - self.usage).without_io();
        if is_there {
            (self.usage, self.has_io) = (usage, true);
        } else {
            self.usage.ticks = usage.ticks;
        }
    }

    /// Part of a child's usage that is already in this process's figures.
    fn observed_share(&self, childs: Usage) -> Usage {
        if self.has_io {
            childs
        } else {
            childs.without_io()
        }
    }

    /// Activity since the last call; `None` if there is none.
    fn take_done(&mut self, pid: u32) -> Option<ProcessActivity> {
        let usage = self.done;
        (usage.ticks > 0 || usage.bytes() > 0).then(|| {
            self.done = Usage::default();
            ProcessActivity {
                pid,
                name: self.name.clone(),
                is_workload: self.side == Side::Workload,
                usage,
            }
        })
    }
}

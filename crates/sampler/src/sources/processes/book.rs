//! Who belongs to whom, and what each has used, from one scan of /proc to the next (pure).
//!
//! The kernel adds what a process has used to its parent's figures when the parent waits for it. So
//! a process counts with the children it has waited for, and when one that was seen before is gone,
//! whoever has inherited its figures is charged less by what was last seen of it. Who that is the
//! page faults tell: they are inherited together with the rest, every process has some, and they
//! have a counter of their own. It is the parent, or one further up that a child was left to; a
//! parent that ignores SIGCHLD inherits nothing.
//!
//! As processes are read one after the other, a child may be counted once too often or too little
//! in one scan, which the next one puts right - but seldom, where its parent ends meanwhile as well.
//! Sums never go back: they stand still meanwhile.

use std::collections::HashMap;
use std::iter;

use super::done::{Done, keep_busiest};
use super::pid_io::PidIo;
use super::pid_stat::PidStat;
use super::threads::Member;
use super::used::Used;

/// Beyond this many that are gone, only the busiest of them are remembered for the list.
const REMEMBERED: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// A root of the workload, or a descendant of one, whatever its parent is by now.
    Workload,
    Foreign,
    /// A thread of the kernel: what it does is done for others, and it does not say for whom.
    Kernel,
}

/// A process, or what is left of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    name: Vec<u8>,
    side: Side,
    parent: u32,
    started: u64,
    /// At the last scan that saw it.
    used: Used,
    has_io: bool,
    /// It has ended, and its children have another parent by now.
    is_zombie: bool,
    /// Its own page faults and those that it has inherited.
    faults: u64,
    inherited: u64,
    /// How far `inherited` went in this scan and the two before, and what of it is not yet put
    /// down to a child.
    more_inherited: [u64; 3],
    unclaimed: u64,
    /// Since the last scan, and since the list was last taken.
    step: Used,
    done: Used,
    /// The last scan that saw it.
    scan: u64,
}

#[derive(Debug)]
struct Gone {
    pid: u32,
    known: Known,
    is_inherited: bool,
}

/// Where a process is told of, while the books stand still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Known(u32),
    Gone(usize),
}

/// All processes of one machine.
#[derive(Debug, Default)]
pub(super) struct Book {
    roots: Vec<u32>,
    scan: u64,
    known: HashMap<u32, Known>,
    /// Seen for the first time in this scan: their side is not known yet.
    new: Vec<u32>,
    /// Gone since the last scan or the one before: who inherits may be read too early.
    gone: Vec<Gone>,
    /// Of what is gone for good, what it has done since the list was last taken.
    ended: Vec<Done>,
    pub(super) workload: Sum,
    pub(super) foreign: Sum,
}

/// What a side has used since the first scan.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) now: Used,
    /// The most that it ever was.
    pub(super) told: Used,
}

impl Book {
    pub(super) fn new(roots: &[u32]) -> Self {
        Self {
            roots: roots.to_vec(),
            ..Self::default()
        }
    }

    /// A process as it is in this scan; None where its I/O may not be read.
    pub(super) fn see(&mut self, stat: &PidStat<'_>, io: Option<PidIo>) {
        let reused = |known: &Known| known.started != stat.started;
        if self.known.get(&stat.pid).is_some_and(reused) {
            self.leave(stat.pid);
        }
        let (is_first, scan) = (self.scan == 0, self.scan);
        let used = Used::since_its_start(stat, io);
        let known = self.known.entry(stat.pid).or_insert_with(|| {
            self.new.push(stat.pid);
            let before = if is_first { used } else { Used::default() };
            Known::found(stat, before, io.is_some())
        });
        known.scan = scan;
        known.follow(stat);
        known.advance(used, io.is_some());
    }

    /// Every process has been seen.
    pub(super) fn end_scan(&mut self) {
        for pid in std::mem::take(&mut self.new) {
            let side = self.side_of(pid);
            if let Some(known) = self.known.get_mut(&pid) {
                known.side = side;
            }
        }
        let scan = self.scan;
        let not_seen = |(pid, known): (&u32, &Known)| (known.scan != scan).then_some(*pid);
        let left: Vec<u32> = self.known.iter().filter_map(not_seen).collect();
        for pid in left {
            self.leave(pid);
        }
        self.inherit();
        self.add_up();
        self.forget();
        self.scan += 1;
    }

    /// The processes of the workload.
    pub(super) fn members(&self) -> impl Iterator<Item = Member> {
        self.known.iter().filter_map(|(&pid, known)| {
            (known.side == Side::Workload).then_some(Member {
                pid,
                started: Some(known.started),
            })
        })
    }

    /// The busiest processes since this was last asked, or since the first scan.
    pub(super) fn take_busiest(&mut self) -> Vec<Done> {
        let mut all = std::mem::take(&mut self.ended);
        for (pid, known) in &mut self.known {
            all.extend(known.take_done(*pid));
        }
        keep_busiest(&mut all);
        all
    }

    /// Where a process belongs that is new: where its parent does.
    fn side_of(&self, pid: u32) -> Side {
        if self.known[&pid].side == Side::Kernel {
            return Side::Kernel;
        }
        let is_root = |place| match place {
            Place::Known(pid) => self.scan == 0 && self.roots.contains(&pid),
            Place::Gone(_) => false,
        };
        let mut lineage = self.lineage(Place::Known(pid));
        if lineage.any(|place| self.at(place).side == Side::Workload || is_root(place)) {
            Side::Workload
        } else {
            Side::Foreign
        }
    }

    /// A process, its parent that was last seen, that one's parent, and so on.
    fn lineage(&self, of: Place) -> impl Iterator<Item = Place> {
        let parents = iter::successors(Some(of), |&place| self.parent_of(self.at(place)));
        // Bounded: a pid that is used again while /proc is read might lead in a circle.
        parents.take(self.known.len() + self.gone.len())
    }

    fn parent_of(&self, child: &Known) -> Option<Place> {
        let pid = child.parent;
        let is_older = |parent: &Known| parent.started <= child.started;
        if self.known.get(&pid).is_some_and(is_older) {
            return Some(Place::Known(pid));
        }
        let is_it = |gone: &Gone| gone.pid == pid && is_older(&gone.known);
        self.gone.iter().rposition(is_it).map(Place::Gone)
    }

    fn at(&self, place: Place) -> &Known {
        match place {
            Place::Known(pid) => &self.known[&pid],
            Place::Gone(index) => &self.gone[index].known,
        }
    }

    fn at_mut(&mut self, place: Place) -> &mut Known {
        match place {
            Place::Known(pid) => self.known.get_mut(&pid).expect("it was found there"),
            Place::Gone(index) => &mut self.gone[index].known,
        }
    }

    /// The process is there no longer.
    fn leave(&mut self, pid: u32) {
        if let Some(mut known) = self.known.remove(&pid) {
            self.ended.extend(known.take_done(pid));
            known.scan = self.scan;
            self.gone.push(Gone {
                pid,
                known,
                is_inherited: false,
            });
        }
    }

    /// Charge whoever has inherited the figures of what is gone less by what was seen of it.
    fn inherit(&mut self) {
        // Parents first: what they have inherited is in their figures.
        self.gone.sort_by_key(|gone| (gone.known.started, gone.pid));
        for index in 0..self.gone.len() {
            if self.gone[index].is_inherited {
                continue;
            }
            let Known { used, faults, .. } = self.gone[index].known;
            if let Some(heir) = self.heir_of(Place::Gone(index)) {
                let heir = self.at_mut(heir);
                heir.unclaimed -= faults;
                heir.step -= heir.seen_of(used);
                self.gone[index].is_inherited = true;
            }
        }
    }

    /// The nearest ancestor that has inherited as many page faults.
    ///
    /// A parent that is there is the only one that can; so is, at first, the nearest ancestor that
    /// is: it may have been read too early. After that, whoever the child was left to.
    fn heir_of(&self, gone: Place) -> Option<Place> {
        let (faults, left_at) = (self.at(gone).faults, self.at(gone).scan);
        for (distance, place) in self.lineage(gone).enumerate().skip(1) {
            if self.at(place).unclaimed >= faults {
                return Some(place);
            }
            let is_there = matches!(place, Place::Known(_)) && !self.at(place).is_zombie;
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
            sum.told = sum.told.max(sum.now);
        }
    }

    fn forget(&mut self) {
        let scan = self.scan;
        self.gone.retain(|gone| gone.known.scan == scan);
        if self.ended.len() > REMEMBERED {
            keep_busiest(&mut self.ended);
        }
    }
}

impl Known {
    fn found(stat: &PidStat<'_>, used: Used, has_io: bool) -> Self {
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
            used,
            has_io,
            is_zombie: false,
            faults: 0,
            inherited: stat.childrens_faults,
            more_inherited: [0; 3],
            unclaimed: 0,
            step: Used::default(),
            done: Used::default(),
            scan: 0,
        }
    }

    /// It may have become another program, got another parent, and waited for children.
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

    /// What cannot be read now, as of a process that is just ending, is made up for later.
    fn advance(&mut self, used: Used, is_there: bool) {
        if is_there && self.has_io {
            self.step = used - self.used;
            self.used = used;
            return;
        }
        self.step = (used - self.used).without_io();
        if is_there {
            (self.used, self.has_io) = (used, true);
        } else {
            self.used.ticks = used.ticks;
        }
    }

    /// What of a child's figures stands in those of this process as far as they are known.
    fn seen_of(&self, childs: Used) -> Used {
        if self.has_io {
            childs
        } else {
            childs.without_io()
        }
    }

    /// What it has done since this was last asked; None if that is nothing.
    fn take_done(&mut self, pid: u32) -> Option<Done> {
        let used = self.done;
        (used.ticks > 0 || used.bytes() > 0).then(|| {
            self.done = Used::default();
            Done {
                pid,
                name: self.name.clone(),
                of_workload: self.side == Side::Workload,
                used,
            }
        })
    }
}

//! Decisions of a disk drive: what the head does next.

use crate::disk::drive::{Disk, Waiting};
use crate::disk::mechanism::{Access, Target};
use crate::request::{Nanos, Operation};

/// What the head does next.
#[derive(Clone, Copy)]
enum Choice {
    /// The waiting command at this index.
    Command(usize),
    /// Write dirty blocks to the medium.
    WriteBack,
}

impl Disk {
    /// Do what is due at `time`.
    pub(super) fn decide(&mut self, time: Nanos) {
        self.finish_write_back(time);
        self.finish_flushes(time);
        self.fill_from_read_ahead(time);
        match self.choose(time) {
            Some(Choice::Command(index)) => {
                let command = self.waiting.swap_remove(index);
                match command.request.operation {
                    Operation::Read => self.read_media(time, &command.request),
                    Operation::Write | Operation::Flush => self.write_media(time, &command.request),
                }
            }
            Some(Choice::WriteBack) => self.start_write_back(time),
            None if self.is_idle() && self.cleaning_at().is_some_and(|at| at <= time) => {
                self.clean_band(time);
            }
            None => {}
        }
    }

    /// What the head does at `time`; `None` for nothing.
    ///
    /// In this order: the oldest command beyond the age limit; write-back for a flush; the next
    /// read of the read-ahead in progress; the shortest positioning time; write-back. A flush, and
    /// a write that waits for room, need write-back.
    fn choose(&self, time: Nanos) -> Option<Choice> {
        let write_back = self.can_write_back(time).then_some(Choice::WriteBack);
        self.overdue(time)
            .or_else(|| write_back.filter(|_| !self.flushes.is_empty()))
            .or_else(|| self.next_of_read_ahead(time).map(Choice::Command))
            .or_else(|| self.nearest(time))
            .or(write_back)
    }

    fn can_write_back(&self, time: Nanos) -> bool {
        !self.dirty.is_empty() && self.dirty_since <= time
    }

    fn ready(&self, time: Nanos) -> impl Iterator<Item = (usize, &Waiting)> {
        let waiting = self.waiting.iter().enumerate();
        waiting.filter(move |(_, each)| !each.for_room && each.ready <= time)
    }

    fn overdue(&self, time: Nanos) -> Option<Choice> {
        let limit = self.parameters.queue.age_limit;
        let is_overdue = |arrival: &Nanos| time >= arrival + limit;
        let command = self.ready(time).map(|(index, each)| (each.arrival, index));
        let command = command.min().filter(|(arrival, _)| is_overdue(arrival));
        let write = self.waiting.iter().filter(|each| each.for_room);
        let write = write.map(|each| each.arrival);
        let flush = self.flushes.iter().map(|each| each.arrival);
        let write_back = write.chain(flush).min().filter(is_overdue);
        match (command, write_back.filter(|_| self.can_write_back(time))) {
            (Some((arrival, _)), Some(other)) if other < arrival => Some(Choice::WriteBack),
            (Some((_, index)), _) => Some(Choice::Command(index)),
            (None, Some(_)) => Some(Choice::WriteBack),
            (None, None) => None,
        }
    }

    fn next_of_read_ahead(&self, time: Nanos) -> Option<usize> {
        let blocks = self.read_ahead_blocks()?;
        let reached = self.ready(time).filter(|(_, each)| {
            each.request.operation == Operation::Read && blocks.contains(&each.request.block)
        });
        let (index, _) = reached.min_by_key(|(_, each)| each.request.block)?;
        Some(index)
    }

    /// The ready command with the shortest positioning time, or write-back for a write that waits
    /// for room.
    fn nearest(&self, time: Nanos) -> Option<Choice> {
        match &self.waiting[..] {
            [only] if !only.for_room => {
                return (only.ready <= time).then_some(Choice::Command(0));
            }
            _ => {}
        }
        let commands = self.ready(time);
        let commands = commands.map(|(index, each)| (Choice::Command(index), each.target));
        let write_back = self.write_back_for_room(time);
        let mut nearest = (None, Nanos::MAX);
        for (choice, target) in commands.chain(write_back.map(|to| (Choice::WriteBack, to))) {
            let limit = nearest.1;
            let found = self
                .mechanism
                .positioning_below(limit, self.arm, time, &target);
            nearest = found.map_or(nearest, |positioning| (Some(choice), positioning));
        }
        nearest.0
    }

    fn write_back_for_room(&self, time: Nanos) -> Option<Target> {
        let mut waiting = self.waiting.iter();
        waiting.find(|each| each.for_room && each.ready <= time)?;
        let extent = self.dirty.next_from(self.scan_from)?;
        Some(self.mechanism.target(extent.start, Access::Write))
    }
}

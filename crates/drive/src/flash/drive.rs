//! A flash drive on the virtual clock.
//!
//! Each die and each channel works on one operation at a time. Reads precede programs that have
//! not begun, as in controllers that suspend or reorder programs.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::flash::die::Die;
use crate::flash::parameters::FlashParameters;
use crate::flash::slc::SlcLevel;
use crate::request::SubmitError;
use crate::request::{BLOCK_BYTES, Completion, Nanos, Operation, Request};

/// A flash drive.
#[derive(Clone, Debug)]
pub struct Flash {
    parameters: FlashParameters,
    dies: Vec<Die>,
    die_free: Vec<Nanos>,
    channel_free: Vec<Nanos>,
    link_free: Nanos,
    slc: Option<SlcLevel>,
    /// Ends of the programs that empty the write buffer, one for each unit.
    buffer: VecDeque<Nanos>,
    buffer_units: usize,
    units_per_page: u64,
    blocks_per_unit: u64,
    page_fill: u64,
    busy_until: Nanos,
    completions: BinaryHeap<Reverse<Completion>>,
    now: Nanos,
}

impl Flash {
    /// An erased drive at time 0.
    pub fn new(parameters: FlashParameters) -> Self {
        let dies = (parameters.channels * parameters.dies) as usize;
        let units = (parameters.capacity * BLOCK_BYTES).div_ceil(parameters.unit_bytes);
        let units_per_page = parameters.page_bytes / parameters.unit_bytes;
        let rows = units.div_ceil(units_per_page).div_ceil(dies as u64);
        let units_per_die = narrow(rows * units_per_page);
        let per_block = narrow(units_per_page * u64::from(parameters.pages));
        let raw = f64::from(units_per_die) * (1.0 + parameters.over_provisioning);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small"
        )]
        let blocks = (raw / f64::from(per_block)).ceil() as u32 + 3;
        let move_time = parameters.program / dies as u64;
        let slc = parameters.slc;
        Self {
            dies: (0..dies)
                .map(|_| Die::new(blocks, per_block, units_per_die))
                .collect(),
            die_free: vec![0; dies],
            channel_free: vec![0; parameters.channels as usize],
            link_free: 0,
            slc: slc.map(|each| SlcLevel::new(each, parameters.page_bytes, move_time)),
            buffer: VecDeque::new(),
            buffer_units: index((parameters.buffer_bytes / parameters.unit_bytes).max(1)),
            units_per_page,
            blocks_per_unit: parameters.unit_bytes / BLOCK_BYTES,
            page_fill: 0,
            busy_until: 0,
            completions: BinaryHeap::new(),
            now: 0,
            parameters,
        }
    }

    /// Blocks of the drive.
    pub const fn blocks(&self) -> u64 {
        self.parameters.capacity
    }

    /// Submitted commands that have not been returned as completions.
    pub fn in_flight(&self) -> usize {
        self.completions.len()
    }

    /// Submit a request at `time`.
    ///
    /// # Errors
    ///
    /// A full queue, blocks beyond the end, or a time before an earlier one.
    pub fn submit(&mut self, time: Nanos, request: Request) -> Result<(), SubmitError> {
        let (depth, blocks) = (self.parameters.depth, self.blocks());
        SubmitError::check(time, self.now, (self.in_flight(), depth), &request, blocks)?;
        self.now = time;
        if let Some(slc) = self.slc.as_mut().filter(|_| time > self.busy_until) {
            slc.idle(self.busy_until, time);
        }
        let start = time + self.parameters.command;
        let end = match request.operation {
            Operation::Read => self.read(start, &request),
            Operation::Write => self.write(start, &request),
            Operation::Flush => self.flush(start),
        };
        self.busy_until = self.busy_until.max(end);
        self.completions.push(Reverse(Completion {
            at: end,
            id: request.id,
        }));
        Ok(())
    }

    /// Time of the next completion.
    pub fn next_event(&self) -> Option<Nanos> {
        self.next_completion().map(|next| next.at)
    }

    /// The next completion.
    pub fn next_completion(&self) -> Option<Completion> {
        self.completions.peek().map(|Reverse(next)| *next)
    }

    /// Remove and return the next completion up to `time`.
    pub fn complete(&mut self, time: Nanos) -> Option<Completion> {
        self.now = self.now.max(time);
        let next = self
            .completions
            .peek()
            .filter(|Reverse(next)| next.at <= time)?
            .0;
        self.completions.pop();
        Some(next)
    }

    fn read(&mut self, start: Nanos, request: &Request) -> Nanos {
        let mut end = start;
        let mut page = None;
        for unit in self.units(request) {
            let (die, number) = self.place(unit);
            let this_page = (die, u64::from(number) / self.units_per_page);
            if self.dies[die].holds(number) && page != Some(this_page) {
                page = Some(this_page);
                end = end.max(self.read_page(die, start));
            }
        }
        self.transfer(end, u64::from(request.blocks))
    }

    /// Time at which a page has crossed its channel; queued programs wait for it.
    fn read_page(&mut self, die: usize, start: Nanos) -> Nanos {
        let queued = self.die_free[die].saturating_sub(start);
        let free = start + queued % self.parameters.program;
        self.die_free[die] = self.die_free[die].max(start) + self.parameters.read;
        let channel = die % self.channel_free.len();
        let begin = (free + self.parameters.read).max(self.channel_free[channel]);
        self.channel_free[channel] = begin + self.parameters.page_transfer;
        self.channel_free[channel]
    }

    fn write(&mut self, start: Nanos, request: &Request) -> Nanos {
        let mut end = self.transfer(start, u64::from(request.blocks));
        for unit in self.units(request) {
            end = self.buffer_room(end);
            let programmed = self.program_unit(unit, end);
            self.buffer.push_back(programmed);
        }
        if request.fua && !self.parameters.protected_buffer {
            end = end.max(self.buffer.back().copied().unwrap_or(end));
        }
        end
    }

    /// Time at which the buffer has room for a unit.
    fn buffer_room(&mut self, time: Nanos) -> Nanos {
        while self.buffer.front().is_some_and(|end| *end <= time) {
            self.buffer.pop_front();
        }
        if self.buffer.len() < self.buffer_units {
            return time;
        }
        self.buffer.pop_front().map_or(time, |end| end.max(time))
    }

    /// Time at which a unit is on its die, after garbage collection and the program of its page.
    fn program_unit(&mut self, unit: u64, start: Nanos) -> Nanos {
        let (die, number) = self.place(unit);
        let work = self.dies[die].write(number);
        let copied = u64::from(work.copied).div_ceil(self.units_per_page);
        let collection = copied * (self.parameters.read + self.parameters.program)
            + u64::from(work.erased) * self.parameters.erase;
        self.die_free[die] = self.die_free[die].max(start) + collection;
        self.page_fill += 1;
        if self.page_fill >= self.units_per_page {
            self.page_fill = 0;
            self.program_page(die, start);
        }
        self.die_free[die].max(start)
    }

    fn program_page(&mut self, die: usize, start: Nanos) {
        let program = self.slc.as_mut().and_then(SlcLevel::add_page);
        let program = program.unwrap_or(self.parameters.program);
        let channel = die % self.channel_free.len();
        let sent = start.max(self.channel_free[channel]) + self.parameters.page_transfer;
        self.channel_free[channel] = sent;
        self.die_free[die] = self.die_free[die].max(sent) + program;
    }

    fn flush(&mut self, start: Nanos) -> Nanos {
        if self.parameters.protected_buffer {
            return start;
        }
        self.buffer.iter().copied().fold(start, Nanos::max)
    }

    /// Time at which `blocks` blocks have crossed the link to the host.
    fn transfer(&mut self, start: Nanos, blocks: u64) -> Nanos {
        self.link_free = self.link_free.max(start) + blocks * self.parameters.block_transfer;
        self.link_free
    }

    fn units(&self, request: &Request) -> std::ops::RangeInclusive<u64> {
        request.block / self.blocks_per_unit..=(request.end() - 1) / self.blocks_per_unit
    }

    /// Die of a unit and its number there: adjacent pages are on different dies.
    fn place(&self, unit: u64) -> (usize, u32) {
        let dies = self.dies.len() as u64;
        let page = unit / self.units_per_page;
        let row = page / dies * self.units_per_page + unit % self.units_per_page;
        (index(page % dies), narrow(row))
    }
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).expect("units of a die are below 2^32")
}

fn index(value: u64) -> usize {
    usize::try_from(value).expect("indices fit in memory")
}

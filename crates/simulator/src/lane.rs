//! Lanes: a thread has one for each operation that it keeps outstanding.

use std::ops::Range;

use iostudy_schedulers::{Bio, Nanos, ProcessId};

use crate::device::Purpose;
use crate::host::{PAGE_BYTES, PAGE_SECTORS};
use crate::state::{Running, Simulation, Stage, pages_of};
use crate::thread::{Kind, Operation, Step};

impl Simulation<'_> {
    /// Continue a lane whose wait has ended.
    pub(crate) fn advance(&mut self, lane: usize) {
        let Some(mut running) = self.lanes[lane].running.take() else {
            self.begin(lane);
            return;
        };
        match running.stage {
            Stage::Pieces => match running.operation.kind {
                Kind::Read | Kind::Write => self.move_piece(lane, running),
                Kind::Sync => self.sync(lane, running),
                Kind::Commit => self.commit(lane, running),
            },
            Stage::Awaiting if !running.operation.durable => self.end(lane, &running),
            Stage::Awaiting => {
                running.stage = Stage::Ending;
                self.lanes[lane].running = Some(running);
                self.device.submit_flush(lane);
            }
            Stage::Committing(step) => {
                let file = running.operation.file;
                self.lanes[lane].running = Some(running);
                self.continue_commit(lane, file, step);
            }
            Stage::Ending => self.end(lane, &running),
        }
    }

    /// Begin the next operation of the lane's thread; the call itself takes time.
    fn begin(&mut self, lane: usize) {
        let elapsed = self.now - self.jobs[self.lanes[lane].job].began;
        let thread = self.lanes[lane].thread;
        let operation = match self.threads[thread].source.next(elapsed) {
            Step::Run(operation) => operation,
            Step::AwaitOthers => return self.park(lane),
            Step::End => return self.end_lane(lane),
        };
        self.lanes[lane].running = Some(Running {
            operation,
            begun: self.now,
            stage: Stage::Pieces,
            piece: 0,
            page: None,
            bios: 0,
        });
        self.compute(lane, self.experiment.host.call);
    }

    /// Let a lane use its processor for about `time`, unless its operation has other costs.
    fn compute(&mut self, lane: usize, time: Nanos) {
        let running = self.lanes[lane].running.as_ref();
        let counts = running.is_some_and(|running| running.operation.costs_calls);
        let varied = if counts { self.vary(time) } else { 0 };
        self.figures[self.lanes[lane].thread].processor += varied;
        self.wake(lane, varied);
    }

    fn move_piece(&mut self, lane: usize, mut running: Running) {
        let Some(&piece) = running.operation.pieces.get(running.piece) else {
            self.end_pieces(lane, running);
            return;
        };
        let pages = pages_of(piece);
        let page = running.page.unwrap_or(pages.start);
        if page >= pages.end {
            running.piece += 1;
            running.page = None;
            self.move_piece(lane, running);
            return;
        }
        match (running.operation.direct, running.operation.kind) {
            (true, kind) => self.move_directly(lane, running, kind, &pages),
            (false, Kind::Write) => self.write(lane, running, page..pages.end),
            (false, _) => self.read(lane, running, page..pages.end),
        }
    }

    /// All pieces were moved: sync the file if the operation includes that.
    fn end_pieces(&mut self, lane: usize, running: Running) {
        if running.operation.durable {
            self.sync(lane, running);
        } else {
            self.end(lane, &running);
        }
    }

    /// Write the dirty pages of the pieces, or of the whole file, and wait for all write-back.
    fn sync(&mut self, lane: usize, mut running: Running) {
        let operation = &running.operation;
        let file = operation.file;
        let pieces = (operation.kind == Kind::Sync).then(|| running.pages());
        let pieces = pieces.filter(|pages| !pages.is_empty());
        running.stage = Stage::Awaiting;
        self.lanes[lane].running = Some(running);
        for pages in pieces.unwrap_or_else(|| std::iter::once(0..u64::MAX).collect()) {
            self.write_dirty(lane, file, &pages);
        }
        if self.cache.files[file].written_back == 0 {
            self.wake(lane, 0);
        } else {
            self.cache.files[file].syncers.push(lane);
        }
    }

    /// Wait until the pieces are in the journal.
    fn commit(&mut self, lane: usize, mut running: Running) {
        let file = running.operation.file;
        let blocks = running.pages();
        running.stage = Stage::Ending;
        self.lanes[lane].running = Some(running);
        self.await_commit(lane, file, &blocks);
    }

    /// Let a lane that leads a commit wait for that many bios or for something else.
    pub(crate) fn set_stage(&mut self, lane: usize, stage: Stage, bios: usize) {
        if let Some(running) = self.lanes[lane].running.as_mut() {
            running.stage = stage;
            running.bios = u32::try_from(bios).expect("few bios");
        }
    }

    /// Write the dirty ones of some pages for a lane that waits for them.
    fn write_dirty(&mut self, lane: usize, file: usize, pages: &Range<u64>) {
        let (process, thread) = self.process(lane);
        let priority = self.threads[thread].priority;
        let limit = self.request_pages();
        while let Some(part) = self.cache.first_dirty(file, pages, limit) {
            self.write_back(file, part, process, priority, true);
        }
    }

    fn process(&self, lane: usize) -> (ProcessId, usize) {
        let thread = self.lanes[lane].thread;
        let number = u32::try_from(thread).expect("fewer than 2^32 threads");
        (ProcessId(number), thread)
    }

    /// Submit all bios of a piece at once.
    fn move_directly(&mut self, lane: usize, mut running: Running, kind: Kind, pages: &Range<u64>) {
        let file = running.operation.file;
        let parts = self.parts(pages);
        running.bios = u32::try_from(parts.len()).expect("few bios");
        running.page = Some(pages.end);
        self.lanes[lane].running = Some(running);
        for part in parts {
            self.submit(lane, file, &part, kind, Purpose::Direct(lane));
        }
    }

    /// Parts of pages that fit into a request each.
    pub(crate) fn parts(&self, pages: &Range<u64>) -> Vec<Range<u64>> {
        let limit = self.request_pages();
        let count = (pages.end - pages.start).div_ceil(limit);
        let starts = (0..count).map(|index| pages.start + index * limit);
        starts
            .map(|start| start..(start + limit).min(pages.end))
            .collect()
    }

    fn submit(
        &mut self,
        lane: usize,
        file: usize,
        pages: &Range<u64>,
        kind: Kind,
        purpose: Purpose,
    ) {
        let (process, thread) = self.process(lane);
        let (start, sectors) = self.sectors_of(file, pages);
        let bio = match kind {
            Kind::Write => Bio::write(process, start, sectors),
            Kind::Read | Kind::Sync | Kind::Commit => Bio::read(process, start, sectors),
        };
        let bio = Bio {
            sync: true,
            priority: self.threads[thread].priority,
            ..bio
        };
        self.device.submit(bio, purpose);
    }

    /// A bio of a direct operation has completed.
    pub(crate) fn complete_direct(&mut self, lane: usize) {
        let Some(running) = self.lanes[lane].running.as_mut() else {
            return;
        };
        running.bios -= 1;
        if running.bios == 0 {
            self.wake(lane, 0);
        }
    }

    /// Make pages dirty, or wait until fewer are.
    fn write(&mut self, lane: usize, mut running: Running, pages: Range<u64>) {
        if self.cache.unwritten() >= self.experiment.host.dirty_pages() {
            self.lanes[lane].running = Some(running);
            self.throttled.push_back(lane);
            return;
        }
        let end = pages.end.min(pages.start + self.request_pages());
        let file = running.operation.file;
        self.cache.make_dirty(file, pages.start..end, self.now);
        if let Some(journal) = self.journals.get_mut(&file) {
            journal.change(pages.start..end);
        }
        running.page = Some(end);
        self.lanes[lane].running = Some(running);
        self.copy(lane, end - pages.start);
    }

    fn copy(&mut self, lane: usize, pages: u64) {
        self.compute(lane, pages * self.experiment.host.copy_page);
    }

    /// Copy cached pages up to the mark of the read-ahead, or wait for the next page.
    fn read(&mut self, lane: usize, mut running: Running, pages: Range<u64>) {
        let (file, thread) = (running.operation.file, self.lanes[lane].thread);
        let limit = self.experiment.host.read_ahead / PAGE_BYTES;
        let mut ahead = self
            .cache
            .read_ahead
            .remove(&(thread, file))
            .unwrap_or_default();
        let own = &self.cache.files[file];
        if let Some(cached) = own.cached.end_of(pages.start) {
            if ahead.mark() == Some(pages.start) {
                let window = ahead.grow(limit);
                self.fill(lane, file, window);
            }
            let mark = ahead.mark().filter(|mark| *mark > pages.start);
            let end = cached.min(pages.end).min(mark.unwrap_or(u64::MAX));
            ahead.advance(end);
            running.page = Some(end);
            self.copy(lane, end - pages.start);
        } else {
            if own.pending.end_of(pages.start).is_none() {
                let window = ahead.miss(pages.start, pages.end - pages.start, limit);
                self.fill(lane, file, window);
            }
            self.cache.files[file].readers.push((pages.start, lane));
        }
        self.cache.read_ahead.insert((thread, file), ahead);
        self.lanes[lane].running = Some(running);
    }

    /// Read those pages of a window that the cache lacks.
    fn fill(&mut self, lane: usize, file: usize, window: Range<u64>) {
        let end = window.end.min(self.experiment.files[file].pages);
        for missing in self.cache.missing(file, window.start..end) {
            self.cache.files[file].pending.insert(missing.clone());
            for part in self.parts(&missing) {
                let purpose = Purpose::Fill(file, part.clone());
                self.submit(lane, file, &part, Kind::Read, purpose);
            }
        }
    }

    /// Record the operation, and begin the next one after its pause.
    fn end(&mut self, lane: usize, running: &Running) {
        let (operation, thread) = (&running.operation, self.lanes[lane].thread);
        let elapsed = std::time::Duration::from_nanos(self.now - running.begun);
        let is_measured = self.is_measured(lane);
        let figures = &mut self.figures[thread];
        if matches!(operation.kind, Kind::Read | Kind::Write) {
            figures.moved += operation.bytes();
            figures.records_ended = self.now;
        }
        if is_measured {
            match operation.kind {
                Kind::Sync | Kind::Commit => iostudy_latency::record(&mut figures.sync, elapsed),
                Kind::Read => count(&mut figures.read, operation, elapsed),
                Kind::Write => count(&mut figures.write, operation, elapsed),
            }
        }
        self.wake(lane, operation.then);
    }
}

fn count(
    stats: &mut iostudy_latency::IoStats,
    operation: &Operation,
    elapsed: std::time::Duration,
) {
    stats.bytes += operation.bytes();
    iostudy_latency::record(&mut stats.latencies, elapsed);
}

const _: () = assert!(PAGE_SECTORS * 512 == PAGE_BYTES);

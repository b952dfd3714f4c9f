//! Recording of block requests by a reader thread.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::decoder::TraceEntry;
use crate::matching::{Matcher, RequestStatistics};
use crate::source::Source;

/// Read interval; the buffers must not fill within it.
const INTERVAL: Duration = Duration::from_millis(20);

/// Result of a recording.
#[derive(Debug, Clone)]
pub struct RecordingResult {
    /// Statistics of the requests.
    pub matched: RequestStatistics,
    /// Number of events read.
    pub events: u64,
    /// Number of events overwritten before they were read.
    pub lost_events: u64,
    /// CPU time of reading and matching.
    pub reader_cpu: Duration,
}

/// Thread that reads a trace instance until it is stopped.
pub struct Recording {
    instance: PathBuf,
    /// Dropped to wake the thread.
    stop: Sender<()>,
    thread: JoinHandle<io::Result<RecordingResult>>,
}

impl Recording {
    /// Start tracing and a reader thread.
    ///
    /// The instance must have its events enabled, the clock `mono`, and tracing off.
    ///
    /// # Errors
    ///
    /// A file of the instance cannot be read or written, a format is unknown, or the thread cannot
    /// be started.
    pub fn start(instance: &Path) -> io::Result<Self> {
        let reader = Reader::new(Source::open(instance)?);
        let (stop, stopped) = channel();
        reader.source.start_tracing()?;
        let thread = Builder::new()
            .name("block-events".into())
            .spawn(move || reader.run(&stopped))
            .or_else(|error| Source::stop_tracing(instance).and(Err(error)))?;
        Ok(Self {
            instance: instance.to_owned(),
            stop,
            thread,
        })
    }

    /// Stop tracing, end the thread and return the result.
    ///
    /// # Errors
    ///
    /// The buffers could not be read, or violate their format.
    ///
    /// # Panics
    ///
    /// If the reader thread panicked.
    pub fn stop(self) -> io::Result<RecordingResult> {
        let ended = Source::stop_tracing(&self.instance);
        drop(self.stop);
        let result = self.thread.join();
        ended.and(result.expect("the reading thread does not panic"))
    }
}

struct Reader {
    source: Source,
    matcher: Matcher,
    /// Entries that wait for earlier ones of other CPUs.
    pending: Vec<TraceEntry>,
    events: u64,
}

impl Reader {
    fn new(source: Source) -> Self {
        Self {
            source,
            matcher: Matcher::default(),
            pending: Vec::new(),
            events: 0,
        }
    }

    fn run(mut self, stopped: &Receiver<()>) -> io::Result<RecordingResult> {
        // All events before the previous read are complete by now.
        let mut complete_until = 0;
        while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let began = nanoseconds(elapsed(ClockId::Monotonic));
            self.read()?;
            self.match_until(complete_until);
            complete_until = began;
        }
        self.read()?;
        self.match_until(u64::MAX);
        Ok(RecordingResult {
            lost_events: self.source.lost_events()?,
            matched: self.matcher.finish(),
            events: self.events,
            reader_cpu: elapsed(ClockId::ThreadCPUTime),
        })
    }

    fn read(&mut self) -> io::Result<()> {
        self.source.drain(&mut self.pending)?;
        // The entries are sorted per CPU, so this sort is a merge.
        self.pending.sort_by_key(TraceEntry::at);
        Ok(())
    }

    fn match_until(&mut self, end: u64) {
        let due = self.pending.partition_point(|entry| entry.at() < end);
        for entry in self.pending.drain(..due) {
            match entry {
                TraceEntry::Event(event) => {
                    self.events += 1;
                    self.matcher.add(&event);
                }
                TraceEntry::Lost(_) => self.matcher.discard_pending(),
            }
        }
    }
}

/// Read a monotonic clock.
fn elapsed(clock: ClockId) -> Duration {
    let elapsed = clock_gettime(clock);
    elapsed.try_into().expect("the clock is not negative")
}

/// Exact for five centuries after boot.
fn nanoseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

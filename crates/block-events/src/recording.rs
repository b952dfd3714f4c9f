//! Recording of block requests by a reader thread.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::time::ClockId;

use crate::decoder::TraceEntry;
use crate::event::{EVENTS, Event, Layout};
use crate::matching::{Matcher, RequestStatistics};
use crate::ordered_reader::{OrderedReader, elapsed};
use crate::source::{Source, stop_tracing};

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
        let reader = Reader::new(Source::open(instance, EVENTS, Layout::parse)?);
        let (stop, stopped) = channel();
        reader.buffers.source.start_tracing()?;
        let thread = Builder::new()
            .name("block-events".into())
            .spawn(move || reader.run(&stopped))
            .or_else(|error| stop_tracing(instance).and(Err(error)))?;
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
        let ended = stop_tracing(&self.instance);
        drop(self.stop);
        let result = self.thread.join();
        ended.and(result.expect("the reading thread does not panic"))
    }
}

struct Reader {
    buffers: OrderedReader<Layout>,
    matcher: Matcher,
    events: u64,
}

impl Reader {
    fn new(source: Source<Layout>) -> Self {
        Self {
            buffers: OrderedReader::new(source),
            matcher: Matcher::default(),
            events: 0,
        }
    }

    fn run(mut self, stopped: &Receiver<()>) -> io::Result<RecordingResult> {
        while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            for entry in self.buffers.read()? {
                add(&mut self.matcher, &mut self.events, &entry);
            }
        }
        for entry in self.buffers.finish()? {
            add(&mut self.matcher, &mut self.events, &entry);
        }
        Ok(RecordingResult {
            lost_events: self.buffers.source.lost_events()?,
            matched: self.matcher.finish(),
            events: self.events,
            reader_cpu: elapsed(ClockId::ThreadCPUTime),
        })
    }
}

fn add(matcher: &mut Matcher, events: &mut u64, entry: &TraceEntry<Event>) {
    match entry {
        TraceEntry::Event(event) => {
            *events += 1;
            matcher.add(event);
        }
        TraceEntry::Lost(_) => matcher.discard_pending(),
    }
}

//! The thread that reads the buffers while requests are recorded.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::decoder::Seen;
use crate::matching::{Matched, Matcher};
use crate::source::Source;

/// Between two looks at the buffers: in that time they must not fill, see the size that they have.
const INTERVAL: Duration = Duration::from_millis(20);

/// What was recorded.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// What the events say.
    pub matched: Matched,
    /// Events that were read.
    pub events: u64,
    /// Events that were overwritten before they were read.
    pub lost: u64,
    /// Processor time that reading and matching them took.
    pub reader_cpu: Duration,
}

/// A thread that reads a trace instance until it is stopped.
pub struct Recording {
    instance: PathBuf,
    /// Dropped to wake the thread at once.
    stop: Sender<()>,
    thread: JoinHandle<io::Result<Recorded>>,
}

impl Recording {
    /// Have the kernel record from now on, and read in a thread of its own.
    ///
    /// The instance is one whose events are enabled, whose clock is `mono`, and which does not
    /// record yet.
    ///
    /// # Errors
    ///
    /// A file of the instance cannot be read or written, a format is not understood, or the thread
    /// cannot be started.
    pub fn start(instance: &Path) -> io::Result<Self> {
        let reader = Reader::new(Source::open(instance)?);
        let (stop, stopped) = channel();
        reader.source.begin()?;
        let thread = Builder::new()
            .name("block-events".into())
            .spawn(move || reader.read_until(&stopped))
            .or_else(|error| Source::end(instance).and(Err(error)))?;
        Ok(Self {
            instance: instance.to_owned(),
            stop,
            thread,
        })
    }

    /// Have the kernel record no more, end the thread and hand everything over.
    ///
    /// # Errors
    ///
    /// The buffers could not be read any more, or hold what their format does not describe.
    ///
    /// # Panics
    ///
    /// If the thread has.
    pub fn stop(self) -> io::Result<Recorded> {
        let ended = Source::end(&self.instance);
        drop(self.stop);
        let recorded = self.thread.join();
        ended.and(recorded.expect("the reading thread does not panic"))
    }
}

struct Reader {
    source: Source,
    matcher: Matcher,
    /// Read, but not matched yet: another processor may still tell of what came before.
    waiting: Vec<Seen>,
    events: u64,
}

impl Reader {
    fn new(source: Source) -> Self {
        Self {
            source,
            matcher: Matcher::default(),
            waiting: Vec::new(),
            events: 0,
        }
    }

    fn read_until(mut self, stopped: &Receiver<()>) -> io::Result<Recorded> {
        // What happened before the buffers were looked at last has all been read by now.
        let mut complete_until = 0;
        while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let began = nanoseconds(elapsed(ClockId::Monotonic));
            self.read()?;
            self.match_until(complete_until);
            complete_until = began;
        }
        self.read()?;
        self.match_until(u64::MAX);
        Ok(Recorded {
            lost: self.source.lost()?,
            matched: self.matcher.finish(),
            events: self.events,
            reader_cpu: elapsed(ClockId::ThreadCPUTime),
        })
    }

    fn read(&mut self) -> io::Result<()> {
        self.source.drain(&mut self.waiting)?;
        // Runs that are in order already, one for each processor: sorting them is merging.
        self.waiting.sort_by_key(Seen::at);
        Ok(())
    }

    fn match_until(&mut self, end: u64) {
        let due = self.waiting.partition_point(|seen| seen.at() < end);
        for seen in self.waiting.drain(..due) {
            match seen {
                Seen::Event(event) => {
                    self.events += 1;
                    self.matcher.take(&event);
                }
                Seen::Lost(_) => self.matcher.forget(),
            }
        }
    }
}

/// A clock of the kernel that does not run backwards.
fn elapsed(clock: ClockId) -> Duration {
    let elapsed = clock_gettime(clock);
    elapsed.try_into().expect("a time since its beginning")
}

/// Exact for five centuries after the boot.
fn nanoseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

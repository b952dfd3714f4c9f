//! Sampling thread with a fixed interval.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::reader::SamplingScope;
use crate::reader::{Depth, Reader};
use crate::rows::Samples;

/// Thread that samples at a fixed interval until it is stopped.
pub struct Sampler {
    /// Dropped to wake the thread.
    stop: Sender<()>,
    thread: JoinHandle<Samples>,
}

impl Sampler {
    /// Take the first sample and start the sampling thread.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn start(scope: &SamplingScope, interval: Duration) -> io::Result<Self> {
        let mut reader = Reader::open(scope);
        reader.sample(Depth::Complete);
        let (stop, stopped) = channel();
        let first = Instant::now();
        let thread = Builder::new()
            .name("sampler".into())
            .spawn(move || sample_loop(reader, first, interval, &stopped))?;
        Ok(Self { stop, thread })
    }

    /// Take the last sample, end the thread and return all samples.
    ///
    /// # Panics
    ///
    /// If the sampling thread panicked.
    pub fn stop(self) -> Samples {
        drop(self.stop);
        self.thread
            .join()
            .expect("the sampling thread does not panic")
    }
}

/// Sample at `first` + n * `interval`, so that delays do not accumulate; missed times are skipped.
fn sample_loop(
    mut reader: Reader,
    first: Instant,
    interval: Duration,
    stopped: &Receiver<()>,
) -> Samples {
    let mut due = first + interval;
    while stopped.recv_timeout(due.saturating_duration_since(Instant::now()))
        == Err(RecvTimeoutError::Timeout)
    {
        reader.sample(Depth::Budgeted);
        while due <= Instant::now() {
            due += interval * reader.stride();
        }
    }
    reader.sample(Depth::Complete);
    reader.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: SamplingScope = SamplingScope {
        devices: Some(Vec::new()),
        workload: Vec::new(),
    };

    #[test]
    fn first_and_last_sample_are_taken_and_stopping_does_not_wait() {
        let before = Instant::now();
        let an_hour = Duration::from_secs(3600);
        let samples = Sampler::start(&NOTHING, an_hour).unwrap().stop();
        assert!(before.elapsed() < Duration::from_secs(60));
        assert_eq!(samples.at.len(), 2);
    }

    #[test]
    #[allow(clippy::cast_precision_loss)] // nanoseconds of some months are exact
    fn the_interval_is_kept_without_drift() {
        let interval = Duration::from_millis(20);
        let sampler = Sampler::start(&NOTHING, interval).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let at = sampler.stop().at;
        // All but the last were due at whole intervals after the first; late, never early.
        for at_one in &at[1..at.len() - 1] {
            let intervals = (at_one - at[0]) as f64 / interval.as_nanos() as f64;
            assert!(intervals > 0.99, "early: {intervals}");
        }
        assert!(at.is_sorted());
        assert!(at.len() > 3);
    }
}

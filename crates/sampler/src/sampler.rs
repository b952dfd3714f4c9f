//! The thread that keeps the interval.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::reader::{Reader, Samples};

/// A thread that samples at a fixed interval until it is stopped.
pub struct Sampler {
    /// Dropped to wake the thread at once.
    stop: Sender<()>,
    thread: JoinHandle<io::Result<Samples>>,
}

impl Sampler {
    /// Take the first sample now and go on in a thread of its own.
    ///
    /// # Errors
    ///
    /// /proc/stat cannot be read, or the thread cannot be started.
    pub fn start(devices: &[String], interval: Duration) -> io::Result<Self> {
        let mut reader = Reader::open(devices)?;
        reader.sample()?;
        let (stop, stopped) = channel();
        let first = Instant::now();
        let thread = Builder::new()
            .name("sampler".into())
            .spawn(move || keep_sampling(reader, first, interval, &stopped))?;
        Ok(Self { stop, thread })
    }

    /// Take the last sample now, end the thread and hand everything over.
    ///
    /// # Errors
    ///
    /// /proc/stat could not be read any more.
    ///
    /// # Panics
    ///
    /// If the thread has.
    pub fn stop(self) -> io::Result<Samples> {
        drop(self.stop);
        self.thread
            .join()
            .expect("the sampling thread does not panic")
    }
}

/// Sample at `first` + n * `interval`, so that delays do not add up; what is missed is left out.
fn keep_sampling(
    mut reader: Reader,
    first: Instant,
    interval: Duration,
    stopped: &Receiver<()>,
) -> io::Result<Samples> {
    let mut due = first + interval;
    while stopped.recv_timeout(due.saturating_duration_since(Instant::now()))
        == Err(RecvTimeoutError::Timeout)
    {
        reader.sample()?;
        while due <= Instant::now() {
            due += interval;
        }
    }
    reader.sample()?;
    Ok(reader.into_samples())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_sample_are_taken_and_stopping_does_not_wait() {
        let before = Instant::now();
        let an_hour = Duration::from_secs(3600);
        let started = Sampler::start(&["no-such-disk".into()], an_hour).unwrap();
        let samples = started.stop().unwrap();
        assert!(before.elapsed() < Duration::from_secs(60));
        assert_eq!(samples.seconds.len(), 2);
        assert_eq!(samples.cpu.len(), 2);
        assert_eq!(samples.pressures.len(), 2);
        assert_eq!(samples.disks[0].1, [None, None]);
    }

    #[test]
    fn the_interval_is_kept_without_drift() {
        let interval = Duration::from_millis(20);
        let sampler = Sampler::start(&[], interval).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let seconds = sampler.stop().unwrap().seconds;
        // All but the last were due at whole intervals after the first; late, never early.
        for at in &seconds[1..seconds.len() - 1] {
            let intervals = (at - seconds[0]) / interval.as_secs_f64();
            assert!(intervals > 0.99, "early: {intervals}");
        }
        assert!(seconds.is_sorted());
        assert!(seconds.len() > 3);
    }
}

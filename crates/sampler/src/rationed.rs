//! A source that is read as often as its cost allows.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::columns::Columns;
use crate::source::Source;

/// Of the time, each rationed source may take a thousandth: of one core, that is.
const WAIT_PER_COST: u32 = 1000;
/// A little below a second, so that whoever samples once a second has it each time.
const SHORTEST_WAIT: Duration = Duration::from_millis(900);

/// Reads `source` when it is due by what it cost the last time, and when it must.
pub(crate) struct Rationed<S> {
    pub(crate) source: S,
    due: Option<Instant>,
}

impl<S: Source> Rationed<S> {
    pub(crate) fn new(source: S) -> Self {
        Self { source, due: None }
    }

    /// Read it if it is due, or if it `must` be there: in the first and the last sample.
    pub(crate) fn sample(&mut self, columns: &mut Columns, must: bool) {
        let begun = Instant::now();
        if must || self.due.is_none_or(|due| begun >= due) {
            let before = processor_time();
            self.source.sample(columns);
            self.due = Some(Instant::now() + wait(processor_time().saturating_sub(before)));
        }
    }
}

/// That this thread has taken: time in which others had the processor is no cost.
fn processor_time() -> Duration {
    let taken = clock_gettime(ClockId::ThreadCPUTime);
    taken.try_into().expect("a time since the thread's start")
}

fn wait(cost: Duration) -> Duration {
    SHORTEST_WAIT.max(cost * WAIT_PER_COST)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(u64);

    impl Source for Counting {
        fn sample(&mut self, columns: &mut Columns) {
            self.0 += 1;
            let read = columns.named("read");
            columns.put(read, self.0);
        }
    }

    #[test]
    fn it_is_read_at_first_then_when_due_and_whenever_it_must() {
        let mut columns = Columns::default();
        let mut source = Rationed::new(Counting(0));
        let mut reads = [false, false, true].map(|must| {
            columns.begin();
            source.sample(&mut columns, must);
            columns.row()[0]
        });
        assert_eq!(reads, [Some(1), None, Some(2)]);
        source.due = Some(Instant::now());
        reads = [false, false, false].map(|must| {
            columns.begin();
            source.sample(&mut columns, must);
            columns.row()[0]
        });
        assert_eq!(reads, [Some(3), None, None]);
    }

    #[test]
    fn what_is_dear_waits_longer() {
        assert_eq!(wait(Duration::from_micros(10)), SHORTEST_WAIT);
        assert_eq!(wait(Duration::from_millis(20)), Duration::from_secs(20));
    }
}

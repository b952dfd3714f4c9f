//! Matching of issues and completions to requests.

use std::collections::BTreeMap;
use std::time::Duration;

use iostudy_latency::{Latencies, empty_latencies, record};

use crate::event::{Event, Operation, Request, SECTOR_BYTES, Step};

/// Requests of one device and operation.
#[derive(Debug, Clone)]
pub struct Requests {
    /// Latencies from issue to completion.
    pub latencies: Latencies,
    /// Number of requests by size in bytes.
    pub sizes: BTreeMap<u64, u64>,
}

/// Statistics of requests; device numbers are major << 20 | minor.
#[derive(Debug, Clone, Default)]
pub struct RequestStatistics {
    /// Complete requests by device and operation.
    pub requests: BTreeMap<(u32, Operation), Requests>,
    /// Bytes of the submitted bios by device and thread.
    pub submitted_bytes: BTreeMap<(u32, u32), u64>,
    /// Completions without an observed issue.
    pub unmatched_completions: u64,
    /// Issues without an observed completion.
    pub unmatched_issues: u64,
}

/// Requests at the same position are ordered by their sequence number.
type Key = (u32, Operation, bool, u64, u64);

#[derive(Debug)]
struct Pending {
    issued_at: u64,
    bytes: u64,
    sectors_left: u64,
}

/// Matcher of events in time order.
///
/// For concurrent requests at the same position, the first completion matches the first issue. The
/// sum of latencies does not depend on this choice.
#[derive(Debug, Default)]
pub struct Matcher {
    pending: BTreeMap<Key, Pending>,
    issues: u64,
    matched: RequestStatistics,
}

impl Matcher {
    /// Add an event; times must not decrease.
    pub fn add(&mut self, event: &Event) {
        match event.step {
            Step::Submitted => self.submit(event),
            Step::Issued => self.issue(event),
            Step::Requeued => drop(self.oldest(&event.request)),
            Step::Completed => self.complete(event),
        }
    }

    /// Discard pending requests after lost events.
    pub fn discard_pending(&mut self) {
        self.matched.unmatched_issues += self.pending.len() as u64;
        self.pending.clear();
    }

    /// Return the statistics.
    pub fn finish(mut self) -> RequestStatistics {
        self.discard_pending();
        self.matched
    }

    fn submit(&mut self, event: &Event) {
        let place = (event.request.device, event.thread);
        let bytes = self.matched.submitted_bytes.entry(place).or_default();
        *bytes += event.request.sectors * SECTOR_BYTES;
    }

    fn issue(&mut self, event: &Event) {
        let pending = Pending {
            issued_at: event.at,
            bytes: event.request.sectors * SECTOR_BYTES,
            sectors_left: event.request.sectors,
        };
        self.issues += 1;
        self.wait(&event.request, event.request.sector, self.issues, pending);
    }

    fn wait(&mut self, request: &Request, sector: u64, number: u64, pending: Pending) {
        let key = key(request, sector, number);
        self.pending.insert(key, pending);
    }

    /// Oldest pending issue at the position of a request.
    fn oldest(&mut self, request: &Request) -> Option<(u64, Pending)> {
        let place = |number| key(request, request.sector, number);
        let pending = self.pending.range(place(0)..=place(u64::MAX)).next();
        let key = *pending?.0;
        Some((key.4, self.pending.remove(&key)?))
    }

    fn complete(&mut self, event: &Event) {
        let request = &event.request;
        let Some((number, mut pending)) = self.oldest(request) else {
            // An ambiguous completion belongs to a command without an issue event.
            self.matched.unmatched_completions += u64::from(!request.is_ambiguous);
            return;
        };
        if request.sectors < pending.sectors_left {
            // A driver may complete a part; the rest starts at its end.
            pending.sectors_left -= request.sectors;
            self.wait(request, request.sector + request.sectors, number, pending);
            return;
        }
        let own = (request.device, request.operation);
        let done = self.matched.requests.entry(own).or_insert_with(none);
        let nanoseconds = event.at.saturating_sub(pending.issued_at);
        record(&mut done.latencies, Duration::from_nanos(nanoseconds));
        *done.sizes.entry(pending.bytes).or_default() += 1;
    }
}

fn key(request: &Request, sector: u64, number: u64) -> Key {
    let (operation, is_ambiguous) = (request.operation, request.is_ambiguous);
    (request.device, operation, is_ambiguous, sector, number)
}

fn none() -> Requests {
    Requests {
        latencies: empty_latencies(),
        sizes: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DEVICE: u32 = 7 << 20;

    fn event(at: u64, step: Step, operation: Operation, sector: u64, sectors: u64) -> Event {
        let request = Request {
            device: DEVICE,
            operation,
            is_ambiguous: false,
            sector,
            sectors,
        };
        Event {
            at,
            step,
            thread: 1,
            request,
        }
    }

    fn read(at: u64, step: Step, sector: u64, sectors: u64) -> Event {
        event(at, step, Operation::Read, sector, sectors)
    }

    fn matched(events: &[Event]) -> RequestStatistics {
        let mut matcher = Matcher::default();
        for event in events {
            matcher.add(event);
        }
        matcher.finish()
    }

    fn reads(found: &RequestStatistics) -> (u64, u64, Vec<(u64, u64)>) {
        let reads = &found.requests[&(DEVICE, Operation::Read)];
        let sizes = reads.sizes.iter().map(|(bytes, count)| (*bytes, *count));
        let latencies = &reads.latencies;
        (latencies.len(), latencies.max(), sizes.collect())
    }

    #[test]
    fn an_issue_and_its_completion_are_a_request() {
        let found = matched(&[
            read(1000, Step::Issued, 80, 8),
            read(1500, Step::Completed, 80, 8),
        ]);
        assert_eq!(reads(&found), (1, 500, vec![(4096, 1)]));
        assert_eq!(
            (found.unmatched_completions, found.unmatched_issues),
            (0, 0)
        );
    }

    #[test]
    fn what_comes_in_parts_is_done_with_the_last_part() {
        let found = matched(&[
            read(0, Step::Issued, 80, 24),
            read(10, Step::Completed, 80, 8),
            read(20, Step::Completed, 88, 8),
            read(30, Step::Completed, 96, 8),
        ]);
        assert_eq!(reads(&found), (1, 30, vec![(24 * 512, 1)]));
        assert_eq!(
            (found.unmatched_completions, found.unmatched_issues),
            (0, 0)
        );
    }

    #[test]
    fn what_the_driver_gave_back_counts_from_when_it_was_issued_again() {
        let found = matched(&[
            read(0, Step::Issued, 80, 8),
            read(10, Step::Requeued, 80, 8),
            read(500, Step::Issued, 80, 8),
            read(600, Step::Completed, 80, 8),
        ]);
        assert_eq!(reads(&found), (1, 100, vec![(4096, 1)]));
        assert_eq!(found.unmatched_issues, 0);
    }

    #[test]
    fn a_flush_is_no_write_to_the_first_sector() {
        let found = matched(&[
            event(0, Step::Issued, Operation::Write, 0, 8),
            event(5, Step::Issued, Operation::Flush, 0, 0),
            event(10, Step::Completed, Operation::Write, 0, 8),
            event(105, Step::Completed, Operation::Flush, 0, 0),
        ]);
        let longest = |operation| found.requests[&(DEVICE, operation)].latencies.max();
        assert_eq!(
            [longest(Operation::Write), longest(Operation::Flush)],
            [10, 100]
        );
    }

    #[test]
    fn the_end_of_a_command_is_neither_counted_nor_taken_for_that_of_a_write() {
        let mut command = event(10, Step::Completed, Operation::Write, 0, 1);
        command.request.is_ambiguous = true;
        let found = matched(&[
            event(0, Step::Issued, Operation::Write, 0, 8),
            command,
            event(30, Step::Completed, Operation::Write, 0, 8),
        ]);
        let writes = &found.requests[&(DEVICE, Operation::Write)];
        assert_eq!((writes.latencies.len(), writes.latencies.max()), (1, 30));
        assert_eq!(
            (found.unmatched_completions, found.unmatched_issues),
            (0, 0)
        );
    }

    #[test]
    fn bytes_belong_to_the_thread_that_submitted_them() {
        let own = |thread, step, sector| Event {
            thread,
            ..read(0, step, sector, 8)
        };
        let found = matched(&[
            own(1, Step::Submitted, 80),
            own(2, Step::Submitted, 160),
            own(1, Step::Submitted, 240),
            own(2, Step::Issued, 80), // by whoever emptied the queue
        ]);
        let bytes: Vec<_> = found.submitted_bytes.into_iter().collect();
        assert_eq!(bytes, [((DEVICE, 1), 8192), ((DEVICE, 2), 4096)]);
    }

    #[test]
    fn unmatched_events_are_counted_and_give_no_latency() {
        let found = matched(&[
            read(0, Step::Completed, 8, 8),
            read(10, Step::Issued, 80, 8),
        ]);
        assert_eq!(
            (found.unmatched_completions, found.unmatched_issues),
            (1, 1)
        );
        assert!(found.requests.is_empty());
    }

    #[test]
    fn what_was_under_way_when_events_were_lost_is_given_up() {
        let mut matcher = Matcher::default();
        matcher.add(&read(0, Step::Issued, 80, 8));
        matcher.discard_pending(); // in it the completion, and the issue of a second request
        matcher.add(&read(9000, Step::Completed, 80, 8));
        let found = matcher.finish();
        assert!(found.requests.is_empty());
        assert_eq!(
            (found.unmatched_completions, found.unmatched_issues),
            (1, 1)
        );
    }

    proptest! {
        /// Any number of concurrent requests at the same position, completing in any order.
        #[test]
        fn counts_and_the_sum_of_latencies_are_those_of_the_requests(
            requests in proptest::collection::vec((0_u64..1000, 1_u64..1000, 0_u64..3), 1..60),
        ) {
            let mut events: Vec<Event> = requests
                .iter()
                .flat_map(|(issued, latency, place)| {
                    let own = |at, step| read(at, step, place * 8, 8);
                    [own(*issued, Step::Issued), own(issued + latency, Step::Completed)]
                })
                .collect();
            events.sort_by_key(|event| (event.at, event.step == Step::Completed));
            let found = matched(&events);
            let (count, _, sizes) = reads(&found);
            prop_assert_eq!(count, requests.len() as u64);
            prop_assert_eq!(sizes, vec![(4096, count)]);
            prop_assert_eq!((found.unmatched_completions, found.unmatched_issues), (0, 0));
            let total: u64 = requests.iter().map(|(_, latency, _)| latency).sum();
            // Below 2048 ns a bucket of the histogram holds one nanosecond.
            let latencies = &found.requests[&(DEVICE, Operation::Read)].latencies;
            let values = latencies.iter_recorded();
            let sum: u64 = values
                .map(|bucket| bucket.value_iterated_to() * bucket.count_at_value())
                .sum();
            prop_assert_eq!(sum, total);
        }
    }
}

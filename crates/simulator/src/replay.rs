//! Choices of a scheduler at the arrivals and completions of a recorded run.
//!
//! The scheduler gets the requests at the times at which the recorded one got them. A request that
//! it dispatches completes at its recorded time, or at once if that has passed. So two schedulers
//! with the same rules dispatch in the same order, whatever the drive did. Requests have the sizes
//! with which they were issued: merges are those of the recorded run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use iostudy_schedulers::{
    Bio, MergePolicy, Nanos, RequestQueue, SchedulerBuilder, Settings, Submission, TunableError,
};

use crate::state::START;

/// A request of a recorded run. Times are from the start of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// Time at which the scheduler got it.
    pub inserted: Nanos,
    /// Time at which the drive completed it.
    pub completed: Nanos,
    /// Its process, direction and sectors.
    pub bio: Bio,
}

/// A request that the scheduler dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Index of the request in the recording.
    pub request: usize,
    /// Time from the start of the recording.
    pub time: Nanos,
}

/// A scheduler in front of the recorded arrivals and completions.
struct Replay<'a> {
    queue: RequestQueue,
    depth: usize,
    requests: &'a [RecordedRequest],
    next: usize,
    /// Completion time, index in the recording and identifier of the dispatched requests.
    driven: BinaryHeap<Reverse<(Nanos, usize, iostudy_schedulers::RequestId)>>,
    dispatches: Vec<Dispatch>,
}

/// Replay requests in the order of their insertion. Returns all of them in the order of dispatch.
///
/// # Errors
///
/// A [`TunableError`].
pub fn replay(
    settings: Settings,
    scheduler: SchedulerBuilder,
    tunables: &[(String, String)],
    requests: &[RecordedRequest],
) -> Result<Vec<Dispatch>, TunableError> {
    let settings = Settings {
        merges: MergePolicy::Disabled,
        nr_requests: u32::try_from(requests.len().max(1)).unwrap_or(u32::MAX),
        ..settings
    };
    let mut queue = RequestQueue::new(settings, START, scheduler);
    for (name, text) in tunables {
        queue.write_tunable(name, text)?;
    }
    let mut replay = Replay {
        queue,
        depth: settings.queue_depth as usize,
        requests,
        next: 0,
        driven: BinaryHeap::new(),
        dispatches: Vec::with_capacity(requests.len()),
    };
    while let Some(time) = replay.next_event() {
        replay.step(time);
    }
    Ok(replay.dispatches)
}

impl Replay<'_> {
    fn next_event(&self) -> Option<Nanos> {
        let arrival = self.requests.get(self.next);
        let arrival = arrival.map(|request| START + request.inserted);
        let completion = self.driven.peek().map(|&Reverse((time, ..))| time);
        if arrival.is_none() && completion.is_none() && self.is_finished() {
            return None;
        }
        let times = [arrival, completion, self.queue.next_timer()];
        times.into_iter().flatten().min()
    }

    fn is_finished(&self) -> bool {
        self.dispatches.len() == self.requests.len()
    }

    /// Completions, arrivals, timers and dispatches of one instant.
    fn step(&mut self, time: Nanos) {
        let mut tags = Vec::new();
        while let Some(&Reverse((at, _, id))) = self.driven.peek()
            && at <= time
        {
            self.driven.pop();
            self.queue.complete(time, id, &mut tags);
        }
        while let Some(request) = self.requests.get(self.next)
            && START + request.inserted <= time
        {
            let tag = self.next as u64;
            let submitted = self.queue.submit(time, Bio { tag, ..request.bio });
            debug_assert!(matches!(submitted, Submission::Inserted(_)));
            self.next += 1;
        }
        self.queue.run_timers(time);
        self.dispatch(time);
    }

    fn dispatch(&mut self, time: Nanos) {
        while self.driven.len() < self.depth {
            let Some(id) = self.queue.dispatch(time) else {
                return;
            };
            let tag = self.queue.request(id).bio.tag;
            let request = usize::try_from(tag).expect("index of a request");
            let completed = (START + self.requests[request].completed).max(time);
            self.driven.push(Reverse((completed, request, id)));
            self.dispatches.push(Dispatch {
                request,
                time: time - START,
            });
        }
        self.queue.take_ahead(time);
    }
}

#[cfg(test)]
mod tests {
    use iostudy_schedulers::{MqDeadline, NoScheduler, ProcessId};

    use super::*;

    fn request(inserted: Nanos, completed: Nanos, start: u64) -> RecordedRequest {
        RecordedRequest {
            inserted,
            completed,
            bio: Bio::read(ProcessId(0), start, 8),
        }
    }

    fn order(scheduler: SchedulerBuilder, requests: &[RecordedRequest]) -> Vec<usize> {
        let dispatches = replay(Settings::default(), scheduler, &[], requests).unwrap();
        dispatches.iter().map(|each| each.request).collect()
    }

    #[test]
    fn a_scheduler_chooses_at_the_recorded_completions() {
        let requests = [
            request(0, 10, 900),
            request(1, 30, 500),
            request(2, 20, 100),
        ];
        assert_eq!(order(NoScheduler::build, &requests), [0, 1, 2]);
        // After 900 nothing follows in ascending order: the oldest is next.
        assert_eq!(order(MqDeadline::build, &requests), [0, 1, 2]);
        let requests = [
            request(0, 10, 100),
            request(1, 30, 900),
            request(2, 20, 500),
        ];
        assert_eq!(order(MqDeadline::build, &requests), [0, 2, 1]);
    }

    #[test]
    fn a_request_that_was_complete_before_completes_at_once() {
        let requests = [request(0, 10, 0), request(1, 5, 8), request(2, 40, 16)];
        let dispatches = replay(Settings::default(), NoScheduler::build, &[], &requests).unwrap();
        let times: Vec<_> = dispatches.iter().map(|each| each.time).collect();
        assert_eq!(times, [0, 10, 10]);
    }
}

//! A drive on the host's clock: commands complete at the absolute deadlines of the model.
//!
//! The host sees a completion when its reply ends, so a reply begins before the deadline by the time
//! that such replies take.

use std::collections::HashMap;
use std::hint;
use std::iter;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use iostudy_drive::{Completion, Drive, Nanos, Operation, Request, SubmitError};

use crate::command_queue::CommandQueue;
use crate::reply_times::ReplyTimes;
use crate::statistics::Statistics;

/// Time before a deadline at which the timer stops sleeping and polls the clock.
const POLLED: Duration = Duration::from_micros(40);

/// Time after a deadline at which the second thread completes what the first has not.
const PATIENCE: Duration = Duration::from_micros(30);

/// The turn of a thread that completes commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It completes commands at their deadlines, and polls the clock before each.
    First,
    /// It completes what the first has not.
    Second,
}

/// Answer to the host: success at the deadline, or a refusal at once.
pub type Reply = Box<dyn FnOnce(Result<(), SubmitError>) + Send>;

/// A command of the host.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// Kind of the command.
    pub operation: Operation,
    /// First block and number of blocks; 0 and 0 for a flush.
    pub range: (u64, u32),
    /// Whether a write waits for the medium.
    pub fua: bool,
}

struct Pending {
    operation: Operation,
    blocks: u32,
    arrival: Nanos,
    reply: Reply,
}

struct State {
    queue: CommandQueue,
    pending: HashMap<u64, Pending>,
    reply_times: ReplyTimes,
    statistics: Statistics,
    /// Commands with a reply that the model completes later: 1 at most.
    answered: usize,
    next_id: u64,
    ended: bool,
}

impl State {
    /// Time of the next event: the begin of a reply, a completion, or a decision of the drive.
    fn next_event(&self) -> Option<Nanos> {
        let reply = self.next_reply().map(|(begin, _)| begin);
        reply.into_iter().chain(self.queue.next_event()).min()
    }

    /// Begin of the next reply, and the completion that it belongs to.
    fn next_reply(&self) -> Option<(Nanos, Completion)> {
        let next = self.queue.next_completion()?;
        let pending = self.pending.get(&next.id)?;
        let lead = self.reply_times.predict(pending.operation, pending.blocks);
        Some((next.at.saturating_sub(lead), next))
    }

    /// Remove and return the next command with a reply that begins up to `now`.
    fn take_due(&mut self, now: Nanos) -> Option<(Nanos, Pending)> {
        while let Some(completion) = self.queue.complete(now) {
            match self.pending.remove(&completion.id) {
                Some(pending) => return Some((completion.at, pending)),
                None => self.answered -= 1,
            }
        }
        let (_, next) = self.next_reply().filter(|(begin, _)| *begin <= now)?;
        self.answered += 1;
        let pending = self.pending.remove(&next.id)?;
        Some((next.at, pending))
    }
}

/// Commands that are due, and the time at which the model completes each.
type Due = Vec<(Nanos, Pending)>;

/// An answered command: its kind, blocks, service time, time of its reply and deviation.
struct Answered {
    operation: Operation,
    blocks: u32,
    service: Nanos,
    reply: Nanos,
    lateness: Nanos,
}

/// A drive on the host's monotonic clock.
pub struct TimedDrive {
    start: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

impl TimedDrive {
    /// A drive whose clock starts now.
    pub fn new(drive: Drive) -> Self {
        Self {
            start: Instant::now(),
            state: Mutex::new(State {
                queue: CommandQueue::new(drive),
                pending: HashMap::new(),
                reply_times: ReplyTimes::default(),
                statistics: Statistics::default(),
                answered: 0,
                next_id: 0,
                ended: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Submit a command now; `reply` is called at its deadline, or at once if it is refused.
    pub fn submit(&self, command: Command, reply: Reply) {
        let mut state = self.lock();
        let arrival = self.now();
        let id = state.next_id;
        let request = Request {
            id,
            operation: command.operation,
            block: command.range.0,
            blocks: command.range.1,
            fua: command.fua,
        };
        let before = state.next_event();
        let answered = state.answered;
        if let Err(reason) = state.queue.submit(arrival, request, answered) {
            drop(state);
            return reply(Err(reason));
        }
        state.next_id += 1;
        let pending = Pending {
            operation: command.operation,
            blocks: command.range.1,
            arrival,
            reply,
        };
        state.pending.insert(id, pending);
        let is_earlier = state.next_event() != before;
        drop(state);
        if is_earlier {
            self.changed.notify_all();
        }
    }

    /// Complete commands at their deadlines until `end`; several threads may.
    pub fn run(&self, turn: Turn) {
        let mut state = self.lock();
        while !state.ended {
            let due: Due = iter::from_fn(|| state.take_due(self.now())).collect();
            if !due.is_empty() {
                drop(state);
                let answered = self.reply(due);
                state = self.lock();
                for own in answered {
                    state
                        .reply_times
                        .record(own.operation, own.blocks, own.reply);
                    let statistics = &mut state.statistics;
                    statistics.record(own.operation, own.service, own.lateness);
                }
                continue;
            }
            state = self.wait(state, turn);
        }
    }

    /// End `run`; open commands are never completed.
    pub fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// The statistics, most commands in flight and commands over the queue depth.
    pub fn observe<T>(&self, read: impl FnOnce(&Statistics, usize, u64) -> T) -> T {
        let state = self.lock();
        let queue = &state.queue;
        read(
            &state.statistics,
            queue.most_in_flight(),
            queue.over_depth(),
        )
    }

    /// Reply to commands; lateness is the distance of the end of each reply from its deadline.
    fn reply(&self, due: Due) -> Vec<Answered> {
        due.into_iter()
            .map(|(at, pending)| {
                let begin = self.now();
                (pending.reply)(Ok(()));
                let end = self.now();
                Answered {
                    operation: pending.operation,
                    blocks: pending.blocks,
                    service: at - pending.arrival,
                    reply: end - begin,
                    lateness: end.abs_diff(at),
                }
            })
            .collect()
    }

    /// Wait for the next event of the model, or for a new command.
    fn wait<'a>(&'a self, state: MutexGuard<'a, State>, turn: Turn) -> MutexGuard<'a, State> {
        let Some(event) = state.next_event() else {
            let woken = self.changed.wait(state);
            return woken.unwrap_or_else(PoisonError::into_inner);
        };
        let left = Duration::from_nanos(event.saturating_sub(self.now()));
        let asleep = match turn {
            Turn::First => left.saturating_sub(POLLED),
            Turn::Second => left + PATIENCE,
        };
        if !asleep.is_zero() {
            let woken = self.changed.wait_timeout(state, asleep);
            return woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        mem::drop(state);
        while self.now() < event {
            hint::spin_loop();
        }
        self.lock()
    }

    fn now(&self) -> Nanos {
        u64::try_from(self.start.elapsed().as_nanos()).expect("584 years fit")
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::command_queue::tests::drive;

    fn read(block: u64) -> Command {
        Command {
            operation: Operation::Read,
            range: (block, 8),
            fua: false,
        }
    }

    #[test]
    fn commands_complete_at_their_deadlines() {
        complete_two_commands(&[Turn::First]);
        complete_two_commands(&[Turn::First, Turn::Second]);
    }

    #[test]
    fn the_second_thread_completes_what_the_first_does_not() {
        complete_two_commands(&[Turn::Second]);
    }

    fn complete_two_commands(turns: &[Turn]) {
        let timed = TimedDrive::new(drive());
        let (sender, replies) = mpsc::channel();
        // Assertions follow the end of the thread: a panic within the scope would wait for it.
        let answers = thread::scope(|scope| {
            let timed = &timed;
            for &turn in turns {
                scope.spawn(move || timed.run(turn));
            }
            let begin = Instant::now();
            for block in [0, 8] {
                let own = sender.clone();
                let reply = move |outcome| own.send((outcome, begin.elapsed())).unwrap();
                timed.submit(read(block), Box::new(reply));
            }
            let answers = [(); 2].map(|()| replies.recv_timeout(Duration::from_secs(20)));
            timed.end();
            answers
        });
        for answer in answers {
            let (outcome, elapsed) = answer.expect("every command completes");
            // 5 us for the command; a page that was never written is not read.
            assert!(outcome.is_ok() && elapsed >= Duration::from_micros(5));
        }
        let most = timed.observe(|_, most_in_flight, _| most_in_flight);
        assert!(most <= 2);
    }

    #[test]
    fn a_refused_command_is_answered_at_once() {
        let timed = TimedDrive::new(drive());
        let (sender, replies) = mpsc::channel();
        let reply = move |outcome| sender.send(outcome).unwrap();
        timed.submit(read(1 << 40), Box::new(reply));
        assert!(replies.try_recv().unwrap().is_err());
    }
}

//! Threads that start together, are counted while they work, and end together.
//!
//! [`run`] starts a number of members. Each prepares what it needs, calls [`Member::ready`], and
//! goes on when all are ready, so that nothing but the work is timed. The calling thread asks its
//! own caller several times a second whether to go on, and tells it how much is done. The first
//! fault stops everybody; nothing is handed back before every thread has ended.

mod attendant;
mod member;

use std::io;
use std::sync::PoisonError;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, Scope, sleep};
use std::time::Duration;

use thiserror::Error;

use crate::attendant::{Attendant, Event};
use crate::member::Shared;
pub use crate::member::{Halt, Member};

/// How often the caller is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Why a crew did not come to its end.
#[derive(Debug, Error)]
pub enum Error<E> {
    /// A member failed; the first one, if there were several.
    #[error("{fault}")]
    Fault {
        /// Which member, from 0.
        member: usize,
        /// What went wrong.
        fault: E,
    },
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The caller asked to stop.
    #[error("stopped before its end")]
    Stopped,
}

/// Let `members` threads do `work`, and give what each of them made, in their order.
///
/// `tick` is called about every 50 ms on the calling thread with the sum of what the members have
/// done; once it says no, every member is told at its next [`Member::go_on`].
///
/// # Errors
///
/// The first fault of any member; [`Error::Stopped`] if `tick` said no; [`Error::Thread`] if the
/// system does not allow as many threads.
pub fn run<T: Send, E: Send>(
    members: usize,
    work: impl Fn(&Member<T, E>) -> Result<T, Halt<E>> + Sync,
    tick: impl FnMut(u64) -> bool,
) -> Result<Vec<T>, Error<E>> {
    let shared = Shared::new(members);
    let (sender, events) = channel();
    std::thread::scope(|scope| {
        let closed_gate = shared.gate.write().unwrap_or_else(PoisonError::into_inner);
        // Before the threads, which may leave no memory for it.
        let attendant = Attendant::new(&shared, closed_gate);
        let started = start(scope, &shared, &work, sender);
        if started.is_err() {
            shared.stop();
        }
        let outcome = attendant.attend(&events, tick);
        started.map_err(Error::Thread)?;
        outcome
    })
}

/// Sleep for that long, but no longer than a member may go without asking [`Member::go_on`]: it
/// would hear of a stop long after the caller was asked.
pub fn nap(time: Duration) {
    sleep(time.min(ASK_EVERY));
}

fn start<'scope, 'env, T, E>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env Shared,
    work: &'env (impl Fn(&Member<T, E>) -> Result<T, Halt<E>> + Sync),
    sender: Sender<Event<T, E>>,
) -> io::Result<()>
where
    T: Send + 'scope,
    E: Send + 'scope,
{
    for index in 0..shared.members() {
        let member = Member::new(shared, index, sender.clone());
        Builder::new()
            .name(format!("io-{index}"))
            .spawn_scoped(scope, move || {
                let outcome = work(&member);
                if outcome.is_err() {
                    shared.stop();
                }
                member.ended(outcome);
            })?;
    }
    drop(sender); // the attendant listens until the last one is gone
    Ok(())
}

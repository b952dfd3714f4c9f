//! Linux I/O schedulers as state machines on a virtual clock.
//!
//! A [`RequestQueue`] joins a scheduler to a workload and a device. The workload submits [`Bio`]s,
//! the device takes requests with [`RequestQueue::dispatch`] and reports their completions, and
//! the caller runs the timers with which schedulers end their waits. Nothing reads a clock or
//! draws random numbers, so equal calls give equal results. Memory is allocated only when more
//! requests or processes exist than ever before.
//!
//! The schedulers follow docs/schedulers-specification.md: the modules refer to its sections, and its
//! worked examples are the tests.
//!
//! # Choices where the specification is unverified or silent
//!
//! - Deadline of Linux 2.6.32 may dispatch a request at once when another with the same first
//!   sector arrives (unverified). [`Deadline`] keeps both, as in 4.x.
//! - The release from which CFQ counts nanoseconds (4.8, unverified) does not matter here:
//!   [`Cfq::build`] makes the form of 4.14.
//! - [`NoScheduler`] takes a device for busy from the time when it is full until the software queues
//!   are empty; the kernel's estimate is not specified. Requests beyond the tags wait in the
//!   software queues, where later ones can join them.
//! - Numbers beyond the range of a tunable become the nearest end of the range. Text that is not a
//!   decimal integer is an error. Numbers are of 64 bits with sign.
//! - noop joins neighbours of its list. Of several requests that end at the start of a bio, the
//!   newest that has room absorbs it.
//! - [`Anticipatory`]: FIFO checks count from the start. The quota of write batches follows
//!   `write_batch_expire` until its first adaptation.
//! - [`Cfq`]: think times count from the creation of a queue before its first completion. A slice
//!   that the quota of async requests ends is not timed out. A full slice in the residual is not
//!   scaled. The class and level of a queue change when it next joins a tree.
//! - [`Cfq::build_2_6_32`]: async requests wait while sync ones are in flight, and a lower class does
//!   not preempt a real-time queue. There is no wait at the end of the slice of a single queue. All
//!   other rules of section 4 that section 4.12 does not change apply, and releases between 2.6.32
//!   and 4.14 are not modelled.
//!
//! # Not modelled
//!
//! - Plugging: all requests of one instant are inserted before a dispatch.
//! - Several hardware queues, discards, and commands other than reads and writes.
//! - The ends of processes, of which AS and CFQ stop to expect requests.
//! - Batchers of the legacy request pools: a full pool refuses, except the process for which the
//!   device idles, which may use half a pool more.
//! - CFQ: cooperating queues are not merged, and there is one group.

mod anticipatory;
mod averages;
mod bfq;
mod cfq;
mod clock;
mod deadline;
mod kyber;
mod merge;
mod mq_deadline;
mod none;
mod noop;
mod queue;
mod request;
mod request_set;
mod scheduler;
mod state;
mod tunables;

pub use anticipatory::Anticipatory;
pub use bfq::Bfq;
pub use cfq::Cfq;
pub use clock::{Hz, Jiffies, Nanos};
pub use deadline::Deadline;
pub use kyber::Kyber;
pub use merge::{MergePolicy, MergeSide, MergeTarget};
pub use mq_deadline::MqDeadline;
pub use none::NoScheduler;
pub use noop::Noop;
pub use queue::{RequestQueue, SchedulerBuilder, Submission};
pub use request::{
    Bio, Operation, Priority, PriorityClass, ProcessId, Request, RequestId, RequestPool,
};
pub use request_set::{Fifo, HeadRule, RequestSet, SortedSet};
pub use scheduler::Scheduler;
pub use state::{QueueState, Settings};
pub use tunables::TunableError;

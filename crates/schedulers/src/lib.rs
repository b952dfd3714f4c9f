//! Linux I/O schedulers as state machines on a virtual clock.
//!
//! A [`RequestQueue`] joins a scheduler to a workload and a device. The workload submits [`Bio`]s,
//! the device takes requests with [`RequestQueue::dispatch`] and reports their completions, and
//! the caller runs the timers with which schedulers end their waits. Nothing reads a clock or
//! draws random numbers, so equal calls give equal results. Memory is allocated only when more
//! requests or processes exist than ever before.
//!
//! The schedulers follow a specification of their behaviour in prose, to whose sections the
//! modules refer, and whose worked examples are the tests.
//!
//! # Choices where the specification is unverified or silent
//!
//! - Deadline of Linux 2.6.32 may dispatch a request at once when another with the same first
//!   sector arrives (unverified). [`Deadline`] keeps both, as in 4.x.
//! - The release from which CFQ counts nanoseconds (4.8, unverified) does not matter here: [`Cfq`]
//!   is the form of 4.14.
//! - [`NoScheduler`] takes a hardware queue for busy from a full device until its software queues
//!   are empty; the kernel's estimate is not specified. Requests beyond the tags wait in the
//!   software queues, where later ones can join them.
//! - Numbers beyond the range of a tunable become the nearest end of the range. Text that is not a
//!   decimal integer is an error. Numbers are of 64 bits with sign.
//! - noop joins neighbours of its list. Of several requests that end at the start of a bio, the
//!   newest that has room absorbs it.
//! - [`Anticipatory`]: FIFO checks count from the start. The quota of write batches follows
//!   `write_batch_expire` until its first adaptation. The text of `est_time` is free. A process
//!   that has exited without cooperation counts once more as such only if this ends the wait.
//! - [`Cfq`]: think times count from the creation of a queue before its first completion. A slice
//!   that the quota of async requests ends is not timed out. A full slice in the residual is not
//!   scaled. The class and level of a queue change when it next joins a tree.
//! - [`Cfq2632`]: async requests wait while sync ones are in flight, and a lower class does not
//!   preempt a real-time queue. There is no wait at the end of the slice of a single queue. All other rules of section 4 that section 4.12 does not
//!   change apply, and releases between 2.6.32 and 4.14 are not modelled.
//!
//! # Not modelled
//!
//! - Plugging: all requests of one instant are inserted before a dispatch.
//! - Batchers of the legacy request pools: a full pool refuses, except the process for which the
//!   device idles, which may use half a pool more.
//! - CFQ: cooperating queues are not merged, and there is one group.

mod anticipatory;
pub mod averages;
mod bfq;
mod cfq;
mod cfq_2_6_32;
mod choice;
pub mod clock;
mod deadline;
mod fifo;
mod kyber;
mod merge;
mod mq_deadline;
mod none;
mod noop;
mod pool;
mod queue;
mod request;
mod scheduler;
mod sorted;
mod state;
mod tunables;

pub use anticipatory::Anticipatory;
pub use bfq::Bfq;
pub use cfq::Cfq;
pub use cfq_2_6_32::Cfq2632;
pub use clock::{Hz, Jiffies, Nanos};
pub use deadline::Deadline;
pub use fifo::Fifo;
pub use kyber::Kyber;
pub use merge::{MergePolicy, MergeSide, MergeTarget, adjacent_side};
pub use mq_deadline::MqDeadline;
pub use none::NoScheduler;
pub use noop::Noop;
pub use pool::RequestPool;
pub use queue::{RequestQueue, SchedulerBuilder, Submission};
pub use request::{Bio, Operation, Priority, PriorityClass, ProcessId, Request, RequestId};
pub use scheduler::Scheduler;
pub use sorted::SortedSet;
pub use state::{QueueState, Settings};
pub use tunables::{Tunable, TunableError, TunableInfo, TunableTable, Unit};

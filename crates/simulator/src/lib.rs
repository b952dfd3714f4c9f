//! Threads, a page cache, an I/O scheduler and a drive in a closed loop on a virtual clock.
//!
//! Jobs run at the same time, each with threads of its own. A thread begins an operation when its
//! previous one has ended, so a slow choice of the scheduler delays later arrivals. Requests that are submitted at one instant are inserted before the
//! scheduler dispatches: this is the effect of plugging. Nothing reads a clock, so equal calls give
//! equal figures.
//!
//! # Choices of the model
//!
//! - A page cache as large as its files: it evicts nothing. Every simulation begins with it empty.
//! - Writers wait while dirty pages and pages under write-back exceed `dirty_ratio`; the kernel
//!   slows them down gradually. One flusher thread writes files in turn, [`CHUNK_PAGES`] of each,
//!   while dirty pages exceed `dirty_background_ratio` or are older than `dirty_expire`.
//! - A sync writes the dirty pages of its file as sync requests of the caller, and waits for all
//!   write-back of the file. A durable one then sends a flush to the drive.
//! - Changes of a file with a journal are committed together when a thread waits for one of them.
//!   They are never committed because of their age. The flusher writes them to their places like
//!   other dirty pages.
//! - A file is one extent. A write of part of a page reads nothing.
//! - Each thread has a processor of its own.

#[cfg(test)]
#[path = "../../drive/tests/common/mod.rs"]
mod common;

mod closed_replay;
mod commits;
mod device;
mod figures;
mod flusher;
mod host;
mod job_run;
mod journal;
mod lane;
mod page_cache;
mod range_set;
mod read_ahead;
mod records;
mod replay;
mod script;
mod simulation;
mod state;
mod thread;
mod volume;
mod work;

pub use closed_replay::{Action, ClosedReplay, ReplayFigures, TracedBio};
pub use device::SimulationError;
pub use figures::{
    DeviceCounters, DirectionCounters, Figures, JobFigures, PhaseFigures, Round, StoppedRound,
    ThreadFigures, TimedStep,
};
pub use flusher::CHUNK_PAGES;
pub use host::{Host, PAGE_BYTES};
pub use records::{Direction, Length, Records};
pub use replay::{Dispatch, RecordedRequest, replay};
pub use script::{Script, ScriptStep};
pub use state::{Experiment, File};
pub use thread::{Job, Kind, Operation, Source, Step, Thread};
pub use volume::VolumeLayout;
pub use work::{Division, Item, Operations, Phase, Worker, workers};

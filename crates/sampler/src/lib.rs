//! Fixed-interval reader of /proc: disk counters, processor time and pressure.
//!
//! [`Sampler::start`] takes the first sample and leaves the rest to a thread, [`Sampler::stop`]
//! takes the last one and hands the [`Samples`] over. What a kernel does not offer is `None`.

mod diskstats;
mod pressure;
mod proc_file;
mod proc_stat;
mod reader;
mod sampler;

pub use diskstats::{COUNTERS, DiskCounters, parse_diskstats};
pub use pressure::{PRESSURES, Pressures, Stall, parse_stall};
pub use proc_stat::{CPU_STATES, CpuTicks, parse_cpu};
pub use reader::Samples;
pub use sampler::Sampler;

//! Rust core as the Python module `iostudy._native`; `_native.pyi` documents its API.

#![allow(clippy::needless_pass_by_value, reason = "pyo3 passes ownership")]
#![allow(
    clippy::too_many_arguments,
    reason = "they are keyword arguments in Python"
)]

mod block_events;
mod block_trace;
mod distributions;
mod drive;
mod errors;
mod events;
mod getters;
mod job;
mod job_result;
mod latencies;
mod metadata;
mod mrbench;
mod namespace;
mod path;
mod sampler;
mod simulated;
mod terasort;
mod trace_replay;
mod windows;
mod wordcount;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::block_events::{BlockEvents, BlockRequests};
    #[pymodule_export]
    use super::block_trace::{BlockEventBatch, BlockTrace};
    #[pymodule_export]
    use super::distributions::{beta_cdf, chi_squared_quantile, f_tail, t_cdf, t_quantile};
    #[pymodule_export]
    use super::drive::serve_drive;
    #[pymodule_export]
    use super::drive::{DriveModel, RunningDrive};
    #[pymodule_export]
    use super::errors::{EngineError, StoppedError, VerificationError};
    #[pymodule_export]
    use super::events::{EventJobs, EventResult};
    #[pymodule_export]
    use super::job::FileJob;
    #[pymodule_export]
    use super::job::Truncation;
    #[pymodule_export]
    use super::job_result::RecordsResult;
    #[pymodule_export]
    use super::job_result::{IoStats, JobResult};
    #[pymodule_export]
    use super::latencies::Latencies;
    #[pymodule_export]
    use super::latencies::Phase;
    #[pymodule_export]
    use super::metadata::{MetadataJob, remove_tree};
    #[pymodule_export]
    use super::mrbench::MrBenchModel;
    #[pymodule_export]
    use super::namespace::{NamespaceJob, NamespaceOutcome, NamespacePhase};
    #[pymodule_export]
    use super::path::set_file_identity;
    #[pymodule_export]
    use super::sampler::{Reader, Sampler, Samples};
    #[pymodule_export]
    use super::simulated::SimulatedDisk;
    #[pymodule_export]
    use super::terasort::{TeraGen, TeraResult, TeraSort, TeraSortResult, TeraValidate};
    #[pymodule_export]
    use super::trace_replay::{TraceReplay, TraceReplayResult};
    #[pymodule_export]
    use super::windows::WindowLog;
    #[pymodule_export]
    use super::wordcount::{WordCount, WordCountResult, ZipfText};
}

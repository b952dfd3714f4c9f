//! Rust core as the Python module `iostudy._native`; `_native.pyi` documents its API.

#![allow(clippy::needless_pass_by_value, reason = "pyo3 passes ownership")]
#![allow(
    clippy::too_many_arguments,
    reason = "they are keyword arguments in Python"
)]
#![cfg_attr(
    not(feature = "lab"),
    allow(dead_code, reason = "the lab reads the jobs")
)]

mod block_events;
mod block_trace;
mod distributions;
mod errors;
mod events;
mod getters;
mod job;
mod job_result;
#[cfg(feature = "lab")]
mod lab;
mod latencies;
mod metadata;
#[cfg(not(feature = "lab"))]
mod missing_lab;
mod namespace;
mod path;
mod sampler;
mod terasort;
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
    #[cfg(feature = "lab")]
    #[pymodule_export]
    use super::lab::{
        DriveModel, MrBenchModel, RunningDrive, SimulatedDisk, TraceReplay, TraceReplayResult,
        serve_drive,
    };
    #[pymodule_export]
    use super::latencies::Latencies;
    #[pymodule_export]
    use super::latencies::Phase;
    #[pymodule_export]
    use super::metadata::{MetadataJob, remove_tree};
    #[cfg(not(feature = "lab"))]
    #[pymodule_export]
    use super::missing_lab::__getattr__;
    #[pymodule_export]
    use super::namespace::{NamespaceJob, NamespaceOutcome, NamespacePhase};
    #[pymodule_export]
    use super::path::set_file_identity;
    #[pymodule_export]
    use super::sampler::{Reader, Sampler, Samples};
    #[pymodule_export]
    use super::terasort::{TeraGen, TeraResult, TeraSort, TeraSortResult, TeraValidate};
    #[pymodule_export]
    use super::windows::WindowLog;
    #[pymodule_export]
    use super::wordcount::{WordCount, WordCountResult, ZipfText};
}

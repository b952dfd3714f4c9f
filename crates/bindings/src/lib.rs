//! The Rust core as the Python module `iostudy._native`; its face is `_native.pyi`.

mod block_events;
mod errors;
mod events;
mod job;
mod job_result;
mod latencies;
mod metadata;
mod namespace;
mod path;
mod records_error;
mod records_result;
mod refuse;
mod sampler;
mod terasort;
mod ticking;
mod truncation;
mod wordcount;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::block_events::{BlockEvents, BlockRequests};
    #[pymodule_export]
    use super::errors::{EngineError, StoppedError, VerificationError};
    #[pymodule_export]
    use super::events::{EventJobs, EventResult};
    #[pymodule_export]
    use super::job::FileJob;
    #[pymodule_export]
    use super::job_result::{IoStats, JobResult};
    #[pymodule_export]
    use super::latencies::Latencies;
    #[pymodule_export]
    use super::metadata::{MetadataJob, MetadataPhase, remove_tree};
    #[pymodule_export]
    use super::namespace::{NamespaceJob, NamespaceOutcome, NamespacePhase};
    #[pymodule_export]
    use super::records_result::RecordsResult;
    #[pymodule_export]
    use super::sampler::{Reader, Sampler, Samples};
    #[pymodule_export]
    use super::terasort::{TeraGen, TeraResult, TeraSort, TeraSorted, TeraValidate};
    #[pymodule_export]
    use super::truncation::Truncation;
    #[pymodule_export]
    use super::wordcount::{WordCount, WordCounts, ZipfText};
}

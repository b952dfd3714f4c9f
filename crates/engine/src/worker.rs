//! Worker of the engine's thread pool.

use crate::error::FileFault;
use crate::result::ThreadResult;

/// Worker thread of a job.
pub(crate) type Worker<'a> = iostudy_worker_pool::Worker<'a, ThreadResult, FileFault>;

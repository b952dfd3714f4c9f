//! Python classes `FileJob` and `Truncation`.

use std::num::NonZeroU64;
use std::time::Duration;

use iostudy_engine as engine;
use iostudy_engine::{
    Advice, Control, InvalidJob, Job, Length, Method, Operation, Order, Pace, SharedShare,
    SyncCall, SyncPolicy, UringOptions, repeat, run, truncate,
};
use pyo3::prelude::*;

use crate::errors::{run_job, unknown_value, value_error};
use crate::job_result::JobResult;
use crate::path::NativePath;
use crate::windows::{WindowLog, claim};

/// Attributes of a `JobSpec`, which documents them.
#[allow(clippy::struct_excessive_bools)] // independent options
#[derive(FromPyObject)]
struct Spec {
    threads: Vec<Vec<NativePath>>,
    operation: String,
    file_bytes: u64,
    record_bytes: usize,
    seed: u64,
    read_percent: u8,
    create: bool,
    begin_bytes: u64,
    order: String,
    step: u64,
    zipf_exponent: f64,
    total_bytes: Option<u64>,
    seconds: Option<f64>,
    ramp_seconds: f64,
    method: String,
    depth: u32,
    submit_batch: u32,
    sqpoll: bool,
    iopoll: bool,
    direct: bool,
    dsync: bool,
    sync: Option<String>,
    sync_every: u64,
    allocate: bool,
    advice: Option<String>,
    think_seconds: f64,
    slow_down: f64,
    rate: Option<f64>,
    arrival: String,
    compressible: f64,
    verify: bool,
}

/// Options of methods with a queue depth of 1.
const DEPTH_ONE: UringOptions = UringOptions {
    depth: 1,
    batch: 1,
    sqpoll: false,
    iopoll: false,
};

#[pyclass(frozen, module = "iostudy._native")]
pub struct FileJob {
    job: Job,
    slow_down: SharedShare,
}

#[pymethods]
impl FileJob {
    #[new]
    fn new(spec: Spec) -> PyResult<Self> {
        let slow_down = SharedShare::new(spec.slow_down);
        let job = spec.into_job()?;
        job.validate().map_err(value_error)?;
        Ok(Self { job, slow_down })
    }

    fn set_slow_down(&self, share: f64) -> PyResult<()> {
        self.job.slowed_down(share).map_err(value_error)?;
        self.slow_down.set(share);
        Ok(())
    }

    #[pyo3(signature = (windows, tick = None))]
    fn repeat(
        &self,
        py: Python<'_>,
        windows: Py<WindowLog>,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let control = Control {
            windows: claim(windows.get(), self.job.threads.len())?,
            slow_down: &self.slow_down,
        };
        run_job(py, tick.as_ref(), |tick| repeat(&self.job, control, tick))
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<JobResult> {
        run_job(py, tick.as_ref(), |tick| run(&self.job, tick)).map(JobResult::from)
    }
}

impl FileJob {
    pub const fn job(&self) -> &Job {
        &self.job
    }
}

impl Spec {
    fn into_job(self) -> PyResult<Job> {
        Ok(Job {
            operation: self.operation()?,
            order: self.order()?,
            length: self.length()?,
            ramp: duration("ramp_seconds", self.ramp_seconds)?,
            method: self.method()?,
            sync: self.sync()?,
            advice: self.advice()?,
            pace: self.pace()?,
            create: self.create,
            begin_bytes: self.begin_bytes,
            file_bytes: self.file_bytes,
            record_bytes: self.record_bytes,
            direct: self.direct,
            dsync: self.dsync,
            allocate: self.allocate,
            compressible: self.compressible,
            verify: self.verify,
            seed: self.seed,
            threads: self
                .threads
                .into_iter()
                .map(|paths| paths.into_iter().map(|path| path.0).collect())
                .collect(),
        })
    }

    fn operation(&self) -> PyResult<Operation> {
        match self.operation.as_str() {
            "write" => Ok(Operation::Write),
            "read" => Ok(Operation::Read),
            "mix" => Ok(Operation::Mix {
                read_percent: self.read_percent,
            }),
            other => Err(unknown_value("operation", other, "write, read, mix")),
        }
    }

    fn order(&self) -> PyResult<Order> {
        let step = || NonZeroU64::new(self.step).ok_or_else(|| value_error("step is 0"));
        match self.order.as_str() {
            "sequential" => Ok(Order::Sequential),
            "reverse" => Ok(Order::Reverse),
            "strided" => Ok(Order::Strided { step: step()? }),
            "skip" => Ok(Order::Skip { step: step()? }),
            "random" => Ok(Order::Random),
            "zipf" => Ok(Order::Zipf {
                exponent: self.zipf_exponent,
            }),
            other => {
                let allowed = "sequential, reverse, strided, skip, random, zipf";
                Err(unknown_value("order", other, allowed))
            }
        }
    }

    fn length(&self) -> PyResult<Length> {
        match (self.total_bytes, self.seconds) {
            (None, None) => Ok(Length::Pass),
            (Some(bytes), None) => Ok(Length::Bytes(bytes)),
            (None, Some(seconds)) => Ok(Length::Time(duration("seconds", seconds)?)),
            (Some(_), Some(_)) => Err(value_error("give either total_bytes or seconds")),
        }
    }

    fn method(&self) -> PyResult<Method> {
        let ring = UringOptions {
            depth: self.depth,
            batch: self.submit_batch,
            sqpoll: self.sqpoll,
            iopoll: self.iopoll,
        };
        match self.method.as_str() {
            "io_uring" => Ok(Method::IoUring(ring)),
            name @ ("psync" | "seek" | "stdio") if ring != DEPTH_ONE => Err(value_error(format!(
                "{name} has queue depth 1; \
                 depth, submit_batch, sqpoll and iopoll are for io_uring"
            ))),
            "psync" => Ok(Method::Positioned),
            "seek" => Ok(Method::Seek),
            "stdio" => Ok(Method::Stdio),
            other => Err(unknown_value(
                "method",
                other,
                "psync, seek, stdio, io_uring",
            )),
        }
    }

    fn sync(&self) -> PyResult<Option<SyncPolicy>> {
        let call = self.sync.as_deref().map(parse_sync).transpose()?;
        Ok(call.map(|call| SyncPolicy {
            call,
            every_records: self.sync_every,
        }))
    }

    fn advice(&self) -> PyResult<Option<Advice>> {
        self.advice.as_deref().map(parse_advice).transpose()
    }

    fn pace(&self) -> PyResult<Pace> {
        let think = duration("think_seconds", self.think_seconds)?;
        if self.slow_down != 0.0 {
            return self.slow_down_pace(think);
        }
        let Some(per_second) = self.rate else {
            return match self.arrival.as_str() {
                "closed" if think.is_zero() => Ok(Pace::ClosedLoop),
                "closed" => Ok(Pace::ThinkTime(think)),
                _ => Err(value_error("an open loop needs a rate")),
            };
        };
        if !think.is_zero() {
            return Err(value_error("give either a rate or think_seconds"));
        }
        match self.arrival.as_str() {
            "closed" => Ok(Pace::RateLimited { per_second }),
            "even" | "poisson" => Ok(Pace::OpenLoop {
                per_second,
                poisson: self.arrival == "poisson",
            }),
            other => Err(unknown_value("arrival", other, "closed, even, poisson")),
        }
    }

    fn slow_down_pace(&self, think: Duration) -> PyResult<Pace> {
        if self.rate.is_some() || !think.is_zero() || self.arrival != "closed" {
            return Err(value_error(InvalidJob::PacedSlowdown));
        }
        Ok(Pace::SlowedDown {
            share: self.slow_down,
        })
    }
}

pub fn parse_sync(name: &str) -> PyResult<SyncCall> {
    match name {
        "fsync" => Ok(SyncCall::Fsync),
        "fdatasync" => Ok(SyncCall::Fdatasync),
        other => Err(unknown_value("sync", other, "fsync, fdatasync")),
    }
}

fn parse_advice(name: &str) -> PyResult<Advice> {
    match name {
        "sequential" => Ok(Advice::Sequential),
        "random" => Ok(Advice::Random),
        "noreuse" => Ok(Advice::NoReuse),
        "willneed" => Ok(Advice::WillNeed),
        "dontneed" => Ok(Advice::DontNeed),
        other => {
            let allowed = "sequential, random, noreuse, willneed, dontneed";
            Err(unknown_value("advice", other, allowed))
        }
    }
}

/// Convert seconds from Python.
pub fn duration(name: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| value_error(format!("{name} is {seconds}: {error}")))
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct Truncation(engine::Truncation);

#[pymethods]
impl Truncation {
    #[new]
    #[pyo3(signature = (paths, *, size, sync = None))]
    fn new(paths: Vec<NativePath>, size: u64, sync: Option<String>) -> PyResult<Self> {
        let job = engine::Truncation {
            paths: paths.into_iter().map(|path| path.0).collect(),
            bytes: size,
            sync: sync.as_deref().map(parse_sync).transpose()?,
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<JobResult> {
        run_job(py, tick.as_ref(), |tick| truncate(&self.0, tick)).map(JobResult::from)
    }
}

//! Python class `SimulatedDisk`.

mod event_jobs;
mod file_jobs;
mod layout;
mod replayed;
mod setup;

use iostudy_drive::{Drive, Parameters};
use iostudy_simulator::{Experiment, Figures, SimulationError, Thread};
use pyo3::prelude::*;

use crate::drive::DriveModel;
use crate::errors::StoppedError;
use crate::events::{EventJobs, EventResult};
use crate::interruptible::run_interruptibly;
use crate::job::FileJob;
use crate::job_result::JobResult;
use crate::path::NativePath;
use crate::value_error::value_error;

use layout::FileTable;
use setup::Setup;

#[derive(FromPyObject)]
enum Job<'py> {
    Files(PyRef<'py, FileJob>),
    Events(PyRef<'py, EventJobs>),
}

#[derive(IntoPyObject)]
enum Outcome {
    Files(Py<JobResult>),
    Events(Py<EventResult>),
}

/// Counters of the disk by their names in `telemetry.iostat`.
type Counters = Vec<(&'static str, f64)>;

#[pyclass(module = "iostudy._native")]
pub struct SimulatedDisk {
    drive: Parameters,
    files: FileTable,
}

#[pymethods]
impl SimulatedDisk {
    #[new]
    fn new(model: &DriveModel, first_block: u64) -> Self {
        let drive = model.parameters().clone();
        let blocks = Drive::new(drive.clone()).blocks();
        Self {
            drive,
            files: FileTable::new(first_block, blocks),
        }
    }

    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn size(&self, path: NativePath) -> Option<u64> {
        self.files.size(&path.0)
    }

    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn lay_out(&mut self, job: PyRef<'_, FileJob>) -> PyResult<()> {
        file_jobs::lay_out(job.job(), &mut self.files)
            .map(|_| ())
            .map_err(value_error)
    }

    /// Make a file at a block, where a file of a real disk lies.
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn place(&mut self, path: NativePath, start: u64, size_bytes: u64) -> PyResult<()> {
        let placed = self.files.place(&path.0, start, size_bytes);
        placed.map_err(value_error)
    }

    /// Let the scheduler of `setup` choose among recorded requests.
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn replay(
        &self,
        requests: Vec<replayed::Request>,
        setup: Setup,
    ) -> PyResult<Vec<(usize, f64)>> {
        let settings = setup.settings(&self.drive)?;
        let recorded = replayed::recorded(&requests);
        let scheduler = setup.scheduler()?;
        let dispatches = iostudy_simulator::replay(settings, scheduler, &setup.tunables, &recorded)
            .map_err(value_error)?;
        Ok(dispatches.into_iter().map(replayed::dispatch).collect())
    }

    /// Refuse a scheduler or a tunable that does not exist.
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn check(&self, setup: Setup) -> PyResult<()> {
        let mut experiment = self.experiment(&setup, Vec::new(), 0)?;
        let checked = experiment.run(&mut |_| true);
        checked.map(|_| ()).map_err(|error| translate(&error))
    }

    #[pyo3(signature = (job, setup, tick = None))]
    #[allow(clippy::needless_pass_by_value)] // pyo3 passes ownership
    fn run(
        &mut self,
        py: Python<'_>,
        job: Job<'_>,
        setup: Setup,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<(Outcome, Counters)> {
        let (threads, ramp) = match &job {
            Job::Files(job) => file_jobs::threads(job.job(), &mut self.files, setup.seed),
            Job::Events(job) => event_jobs::threads(job.workload(), &self.files, setup.seed),
        }
        .map_err(value_error)?;
        let mut experiment = self.experiment(&setup, threads, ramp)?;
        let figures = run_interruptibly(py, tick.as_ref(), |tick| experiment.run(tick))?
            .map_err(|error| translate(&error))?;
        let outcome = match &job {
            Job::Files(_) => {
                Outcome::Files(Py::new(py, JobResult::from(file_jobs::result(&figures)))?)
            }
            Job::Events(_) => Outcome::Events(Py::new(
                py,
                EventResult::from(event_jobs::result(&figures)),
            )?),
        };
        Ok((outcome, counters(&figures)))
    }
}

impl SimulatedDisk {
    fn experiment(&self, setup: &Setup, threads: Vec<Thread>, ramp: u64) -> PyResult<Experiment> {
        Ok(Experiment {
            scheduler: setup.scheduler()?,
            settings: setup.settings(&self.drive)?,
            tunables: setup.tunables.clone(),
            drive: self.drive.clone(),
            host: setup.host(),
            files: self.files.all().to_vec(),
            threads,
            ramp,
            seed: setup.seed,
        })
    }
}

fn translate(error: &SimulationError) -> PyErr {
    match error {
        SimulationError::Stopped => StoppedError::new_err(error.to_string()),
        SimulationError::Drive(_)
        | SimulationError::Tunable(_)
        | SimulationError::Stalled { .. } => value_error(error),
    }
}

#[expect(clippy::cast_precision_loss, reason = "below 2^53")]
fn counters(figures: &Figures) -> Counters {
    let device = &figures.device;
    let ms = |nanos: u64| nanos as f64 / 1e6;
    let (read, write) = (&device.read, &device.write);
    vec![
        ("reads", read.requests as f64),
        ("reads_merged", read.merged as f64),
        ("sectors_read", read.sectors as f64),
        ("read_ms", ms(read.waited)),
        ("writes", write.requests as f64),
        ("writes_merged", write.merged as f64),
        ("sectors_written", write.sectors as f64),
        ("write_ms", ms(write.waited)),
        ("flushes", device.flushes as f64),
        ("io_ms", ms(device.busy)),
        ("weighted_io_ms", ms(read.waited + write.waited)),
        ("idle_ms", ms(device.idle)),
        ("seeks", device.seeks as f64),
        ("seconds", figures.duration as f64 / 1e9),
    ]
}

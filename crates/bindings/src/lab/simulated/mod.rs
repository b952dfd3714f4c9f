//! Python class `SimulatedDisk`.

mod jobs;
mod replayed;
mod setup;

use iostudy_drive::{Drive, Parameters};
use iostudy_simulated_jobs::{FileTable, start};
use iostudy_simulator::{
    ClosedReplay, DeviceCounters, Experiment, Job, JobFigures, Round, VolumeLayout,
};
use pyo3::prelude::*;

use crate::errors::{run_job, to_python, value_error};
use crate::lab::drive::DriveModel;
use crate::lab::trace_replay::{TraceReplay, TraceReplayResult};
use crate::path::NativePath;

use jobs::{AnyJob, Outcome};
use setup::Setup;

/// Counters of the disk by their names in `telemetry.iostat`.
type Counters = Vec<(&'static str, f64)>;

#[pyclass(module = "iostudy._native")]
pub struct SimulatedDisk {
    drive: Parameters,
    last: Option<Parameters>,
    layout: VolumeLayout,
    files: FileTable,
}

/// Stripes, copies, sectors of a chunk, and whether reads are balanced.
type Volume = (u32, u32, u32, bool);

#[pymethods]
impl SimulatedDisk {
    #[new]
    #[pyo3(signature = (model, first_block, volume = None, last = None))]
    fn new(
        model: &DriveModel,
        first_block: u64,
        volume: Option<Volume>,
        last: Option<PyRef<'_, DriveModel>>,
    ) -> Self {
        let drive = model.parameters().clone();
        let layout = volume.map_or_else(VolumeLayout::default, |own| VolumeLayout {
            stripes: own.0,
            copies: own.1,
            chunk_sectors: own.2,
            balances_reads: own.3,
        });
        let last = last.map(|model| model.parameters().clone());
        let count = |parameters: &Parameters| Drive::new(parameters.clone()).blocks();
        let smallest = last.iter().map(count).fold(count(&drive), u64::min);
        let blocks = layout.capacity(smallest);
        Self {
            drive,
            last,
            layout,
            files: FileTable::new(first_block, blocks),
        }
    }

    fn size(&self, path: NativePath) -> Option<u64> {
        self.files.size(&path.0)
    }

    /// Make the files of a job in no time.
    fn lay_out(&mut self, py: Python<'_>, job: AnyJob<'_>) -> PyResult<Outcome> {
        job.lay_out(py, &mut self.files)
    }

    /// Make a file at a block, where a file of a real disk lies.
    fn place(&mut self, path: NativePath, start: u64, size_bytes: u64) -> PyResult<()> {
        let placed = self.files.place(&path.0, start, size_bytes);
        placed.map_err(value_error)
    }

    /// Let the scheduler of `setup` choose among recorded requests.
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
    fn check(&self, py: Python<'_>, setup: Setup) -> PyResult<()> {
        let mut experiment = self.experiment(&setup, Vec::new())?;
        let checked = experiment.run(&mut |_| true);
        checked.map(|_| ()).map_err(|error| to_python(py, &error))
    }

    #[pyo3(signature = (replay, setup, tick = None))]
    fn replay_trace(
        &self,
        py: Python<'_>,
        replay: PyRef<'_, TraceReplay>,
        setup: Setup,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<(TraceReplayResult, Counters)> {
        let replay = ClosedReplay {
            scheduler: setup.scheduler()?,
            settings: setup.settings(&self.drive)?,
            tunables: setup.tunables.clone(),
            drive: self.drive.clone(),
            threads: replay.threads(|thread| start(setup.seed, thread)),
        };
        let figures = run_job(py, tick.as_ref(), |tick| replay.run(tick))?;
        let counters = counters(&figures.device, figures.duration);
        Ok((TraceReplayResult::from(figures), counters))
    }

    #[pyo3(signature = (jobs, setup, *, repeat_others = false, tick = None))]
    fn run(
        &mut self,
        py: Python<'_>,
        jobs: Vec<AnyJob<'_>>,
        setup: Setup,
        repeat_others: bool,
        tick: Option<Py<PyAny>>,
    ) -> PyResult<(Vec<Rounds>, Counters, Vec<Counters>)> {
        let simulated = jobs.iter().enumerate().map(|(index, job)| {
            let own = job.simulate(&mut self.files, setup.seed)?;
            Ok(Job {
                repeats: repeat_others && index > 0,
                ..own
            })
        });
        let simulated = simulated.collect::<Result<Vec<Job>, String>>();
        let mut experiment = self.experiment(&setup, simulated.map_err(value_error)?)?;
        let figures = run_job(py, tick.as_ref(), |tick| experiment.run(tick))?;
        let fetched = (jobs.len() == 1).then_some(figures.device.read.sectors * 512);
        let rounds = jobs.iter().zip(&figures.jobs).map(|(job, own)| {
            let outcome = |round: &Round| job.outcome(py, round, &self.files, fetched);
            Rounds::of(own, outcome)
        });
        let drives = figures.drives.iter();
        Ok((
            rounds.collect::<PyResult<_>>()?,
            counters(&figures.device, figures.duration),
            drives.map(|own| counters(own, figures.duration)).collect(),
        ))
    }
}

/// Rounds of a job: the outcome of each complete one with its start and end in seconds, and start
/// and bytes of one that was stopped.
#[derive(IntoPyObject)]
struct Rounds(Vec<(Outcome, f64, f64)>, Option<(f64, u64)>);

impl Rounds {
    fn of(
        own: &JobFigures,
        mut outcome: impl FnMut(&Round) -> PyResult<Outcome>,
    ) -> PyResult<Self> {
        let rounds = own.rounds.iter().map(|round| {
            let outcome = outcome(round)?;
            Ok((outcome, seconds(round.began), seconds(round.ended)))
        });
        let stopped = own.stopped.map(|round| (seconds(round.began), round.moved));
        Ok(Self(rounds.collect::<PyResult<_>>()?, stopped))
    }
}

impl SimulatedDisk {
    fn experiment(&self, setup: &Setup, jobs: Vec<Job>) -> PyResult<Experiment> {
        Ok(Experiment {
            scheduler: setup.scheduler()?,
            settings: setup.settings(&self.drive)?,
            tunables: setup.tunables.clone(),
            drive: self.drive.clone(),
            last: self.last.clone(),
            layout: self.layout,
            host: setup.host(),
            files: self.files.all().to_vec(),
            jobs,
            seed: setup.seed,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "below 2^53")]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "below 2^53")]
fn counters(device: &DeviceCounters, duration: u64) -> Counters {
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
        ("seconds", seconds(duration)),
    ]
}

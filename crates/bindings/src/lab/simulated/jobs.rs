//! Jobs that a simulated disk knows, and their outcomes.

use iostudy_simulated_jobs::{
    FileTable, event_jobs, file_jobs, metadata as metadata_jobs, mrbench as tiny_jobs,
    terasort as tera_jobs, wordcount as word_jobs,
};
use iostudy_simulator::{Job, Round};
use pyo3::prelude::*;

use crate::errors::value_error;
use crate::events::{EventJobs, EventResult};
use crate::job::FileJob;
use crate::job_result::JobResult;
use crate::lab::mrbench::{self, MrBenchModel, PyJobTimes};
use crate::latencies::Phase;
use crate::metadata::{MetadataJob, phase_to_python};
use crate::terasort::{TeraGen, TeraResult, TeraSort, TeraSortResult, TeraValidate};
use crate::wordcount::{WordCount, WordCountResult, ZipfText};

#[derive(FromPyObject)]
pub enum AnyJob<'py> {
    Files(PyRef<'py, FileJob>),
    Events(PyRef<'py, EventJobs>),
    TeraGen(PyRef<'py, TeraGen>),
    TeraSort(PyRef<'py, TeraSort>),
    TeraValidate(PyRef<'py, TeraValidate>),
    Text(PyRef<'py, ZipfText>),
    Words(PyRef<'py, WordCount>),
    Metadata(PyRef<'py, MetadataJob>),
    MrBench(PyRef<'py, MrBenchModel>),
}

#[derive(IntoPyObject)]
pub enum Outcome {
    Files(Py<JobResult>),
    Events(Py<EventResult>),
    Tera(Py<TeraResult>),
    TeraSort(Py<TeraSortResult>),
    Text((u64, u64)),
    Words(Py<WordCountResult>),
    Metadata(Vec<Phase>),
    MrBench(Vec<PyJobTimes>),
}

/// A round of no time, for files that are there at once.
const NO_TIME: Round = Round {
    began: 0,
    ended: 0,
    threads: Vec::new(),
};

impl AnyJob<'_> {
    /// The job as threads of a simulation.
    pub fn simulate(&self, files: &mut FileTable, seed: u64) -> Result<Job, String> {
        match self {
            Self::Files(job) => file_jobs::simulate(job.job(), files, seed),
            Self::Events(job) => event_jobs::simulate(job.workload(), files, seed),
            Self::TeraGen(job) => tera_jobs::generate(job.job(), files, seed),
            Self::TeraSort(job) => tera_jobs::sort(job.job(), files, seed),
            Self::TeraValidate(job) => tera_jobs::validate(job.job(), files, seed),
            Self::Text(_) => Err("a text is made in no time; a run of it has no simulation".into()),
            Self::Words(job) => word_jobs::count(job.job(), files, seed),
            Self::Metadata(job) => metadata_jobs::simulate(job.job(), files, seed),
            Self::MrBench(job) => tiny_jobs::simulate(job.jobs(), files, seed),
        }
    }

    /// Make the files of the job, without running it.
    pub fn lay_out(&self, py: Python<'_>, files: &mut FileTable) -> PyResult<Outcome> {
        let made = match self {
            Self::Files(job) => file_jobs::lay_out(job.job(), files).map(drop),
            Self::TeraGen(job) => tera_jobs::lay_out_rows(job.job(), files).map(drop),
            Self::TeraSort(job) => tera_jobs::lay_out_sorted(job.job(), files).map(drop),
            Self::Text(job) => word_jobs::lay_out_text(job.job(), files).map(drop),
            Self::Metadata(job) => metadata_jobs::lay_out(job.job(), files).map(drop),
            Self::MrBench(job) => tiny_jobs::lay_out(job.jobs(), files).map(drop),
            Self::Events(_) | Self::TeraValidate(_) | Self::Words(_) => {
                Err("the job makes no files".into())
            }
        };
        made.map_err(value_error)?;
        self.outcome(py, &NO_TIME, files, None)
    }

    /// The measurements of a round, as the job itself gives them. The drive fetched as many bytes.
    pub fn outcome(
        &self,
        py: Python<'_>,
        round: &Round,
        files: &FileTable,
        fetched: Option<u64>,
    ) -> PyResult<Outcome> {
        Ok(match self {
            Self::Files(_) => {
                Outcome::Files(Py::new(py, JobResult::from(file_jobs::result(round)))?)
            }
            Self::Events(_) => {
                let result = event_jobs::result(round, fetched);
                Outcome::Events(Py::new(py, EventResult::from(result))?)
            }
            Self::TeraGen(job) => tera(py, job.job().rows, round)?,
            Self::TeraValidate(job) => {
                let rows = tera_jobs::validated_rows(job.job(), files).map_err(value_error)?;
                tera(py, rows, round)?
            }
            Self::TeraSort(job) => {
                let outcome = tera_jobs::sort_outcome(job.job(), round).map_err(value_error)?;
                Outcome::TeraSort(Py::new(py, TeraSortResult::from(outcome))?)
            }
            Self::Text(job) => {
                let words = word_jobs::expected_words(job.job()).map_err(value_error)?;
                Outcome::Text((words, 0))
            }
            Self::Words(job) => {
                let result = word_jobs::result(job.job(), files, round).map_err(value_error)?;
                Outcome::Words(WordCountResult::of(py, result)?)
            }
            Self::Metadata(job) => {
                let phases = metadata_jobs::result(job.job(), round);
                Outcome::Metadata(phases.iter().map(phase_to_python).collect())
            }
            Self::MrBench(job) => {
                let times = tiny_jobs::result(job.jobs(), round).into_iter();
                Outcome::MrBench(times.map(mrbench::to_python).collect())
            }
        })
    }
}

fn tera(py: Python<'_>, rows: u64, round: &Round) -> PyResult<Outcome> {
    Ok(Outcome::Tera(TeraResult::of(
        py,
        tera_jobs::outcome(rows, round),
    )?))
}

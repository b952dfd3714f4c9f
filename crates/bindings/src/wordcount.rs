//! Python classes `ZipfText`, `WordCount` and `WordCountResult`.

use iostudy_records::wordcount::{CountJob, CountResult, TextJob, WordSummary, count, generate};
use pyo3::prelude::*;

use crate::errors::{run_job, value_error};
use crate::getters::getters;
use crate::job_result::RecordsResult;
use crate::path::NativePath;

#[pyclass(frozen, module = "iostudy._native")]
pub struct ZipfText(TextJob);

impl ZipfText {
    pub const fn job(&self) -> &TextJob {
        &self.0
    }
}

#[pymethods]
impl ZipfText {
    #[new]
    #[pyo3(signature = (folder, *, text_bytes, files, vocabulary, exponent, seed, threads))]
    fn new(
        folder: NativePath,
        text_bytes: u64,
        files: u32,
        vocabulary: u64,
        exponent: f64,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let job = TextJob {
            folder: folder.0,
            bytes: text_bytes,
            files,
            vocabulary,
            exponent,
            seed,
            threads,
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
    }

    /// Number of words and their checksum.
    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<(u64, u64)> {
        let made = run_job(py, tick.as_ref(), |tick| generate(&self.0, tick))?;
        Ok((made.words, made.checksum))
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct WordCount(CountJob);

impl WordCount {
    pub const fn job(&self) -> &CountJob {
        &self.0
    }
}

#[pymethods]
impl WordCount {
    #[new]
    #[pyo3(signature = (
        inputs, output, *, memory_bytes, spill, reducers, threads, fsync, expected = None
    ))]
    fn new(
        inputs: Vec<NativePath>,
        output: NativePath,
        memory_bytes: usize,
        spill: Vec<NativePath>,
        reducers: usize,
        threads: usize,
        fsync: bool,
        expected: Option<(u64, u64)>,
    ) -> PyResult<Self> {
        let job = CountJob {
            inputs: inputs.into_iter().map(|path| path.0).collect(),
            output: output.0,
            spill: spill.into_iter().map(|path| path.0).collect(),
            memory_bytes,
            threads,
            reducers,
            fsync,
            expected: expected.map(|(words, checksum)| WordSummary { words, checksum }),
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<Py<WordCountResult>> {
        let counted = run_job(py, tick.as_ref(), |tick| count(&self.0, tick))?;
        WordCountResult::of(py, counted)
    }
}

#[pyclass(frozen, extends = RecordsResult, module = "iostudy._native")]
pub struct WordCountResult(CountResult);

impl WordCountResult {
    pub fn of(py: Python<'_>, counted: CountResult) -> PyResult<Py<Self>> {
        let result = RecordsResult::new(counted.wall, &counted.call_stats);
        Py::new(py, (Self(counted), result))
    }
}

getters!(WordCountResult, this {
    text_bytes: u64 = this.0.text_bytes;
    words: u64 = this.0.summary.words;
    distinct_words: u64 = this.0.distinct_words;
    spilled_bytes: u64 = this.0.spilled_bytes;
    memory_bytes: usize = this.0.memory_bytes;
    counting_seconds: f64 = this.0.counting.as_secs_f64();
});

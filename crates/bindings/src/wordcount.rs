//! `ZipfText` and `WordCount`, and what counting measures.

use iostudy_records::wordcount::{CountJob, CountResult, TextJob, WordSummary, count, generate};
use pyo3::prelude::*;

use crate::path::NativePath;
use crate::records_error::watched;
use crate::records_result::RecordsResult;
use crate::refuse::refuse;

#[pyclass(frozen, module = "iostudy._native")]
pub struct ZipfText(TextJob);

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
        job.validate().map_err(refuse)?;
        Ok(Self(job))
    }

    /// The number of words and their checksum.
    #[pyo3(signature = (tick = None))]
    #[allow(clippy::needless_pass_by_value)] // taken over from Python
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<(u64, u64)> {
        let made = watched(py, tick.as_ref(), |tick| generate(&self.0, tick))?;
        Ok((made.words, made.checksum))
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct WordCount(CountJob);

#[pymethods]
impl WordCount {
    #[new]
    #[pyo3(signature = (
        inputs, output, *, memory_bytes, spill, reducers, threads, fsync, expected = None
    ))]
    #[allow(clippy::too_many_arguments)] // keyword arguments, named by whoever calls
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
        job.validate().map_err(refuse)?;
        Ok(Self(job))
    }

    #[pyo3(signature = (tick = None))]
    #[allow(clippy::needless_pass_by_value)] // taken over from Python
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<Py<WordCounts>> {
        let counted = watched(py, tick.as_ref(), |tick| count(&self.0, tick))?;
        let measured = RecordsResult::new(counted.wall, &counted.call_stats);
        Py::new(py, (WordCounts(counted), measured))
    }
}

#[pyclass(frozen, extends = RecordsResult, module = "iostudy._native")]
pub struct WordCounts(CountResult);

#[pymethods]
impl WordCounts {
    #[getter]
    fn text_bytes(&self) -> u64 {
        self.0.text_bytes
    }

    #[getter]
    fn words(&self) -> u64 {
        self.0.summary.words
    }

    #[getter]
    fn distinct_words(&self) -> u64 {
        self.0.distinct_words
    }

    #[getter]
    fn spilled_bytes(&self) -> u64 {
        self.0.spilled_bytes
    }

    #[getter]
    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes
    }

    #[getter]
    fn counting_seconds(&self) -> f64 {
        self.0.counting.as_secs_f64()
    }
}

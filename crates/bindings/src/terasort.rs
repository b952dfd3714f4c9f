//! Python classes `TeraGen`, `TeraSort`, `TeraValidate` and their results.

use iostudy_records::terasort::{
    GenerateJob, Outcome, SortJob, SortOutcome, ValidateJob, generate, sort, validate,
};
use pyo3::prelude::*;

use crate::errors::{run_job, value_error};
use crate::getters::getters;
use crate::job_result::RecordsResult;
use crate::path::NativePath;

#[pyclass(frozen, module = "iostudy._native")]
pub struct TeraGen(GenerateJob);

impl TeraGen {
    pub const fn job(&self) -> &GenerateJob {
        &self.0
    }
}

#[pymethods]
impl TeraGen {
    #[new]
    #[pyo3(signature = (output, *, rows, parts, threads, direct, fsync))]
    fn new(
        output: NativePath,
        rows: u64,
        parts: usize,
        threads: usize,
        direct: bool,
        fsync: bool,
    ) -> PyResult<Self> {
        let job = GenerateJob {
            output: output.0,
            rows,
            parts,
            threads,
            direct,
            fsync,
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<Py<TeraResult>> {
        let outcome = run_job(py, tick.as_ref(), |tick| generate(&self.0, tick))?;
        TeraResult::of(py, outcome)
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct TeraSort(SortJob);

impl TeraSort {
    pub const fn job(&self) -> &SortJob {
        &self.0
    }
}

#[pymethods]
impl TeraSort {
    #[new]
    #[pyo3(signature = (
        source, output, *, rows, memory_bytes, spill, reducers, threads, direct, fsync
    ))]
    fn new(
        source: NativePath,
        output: NativePath,
        rows: u64,
        memory_bytes: u64,
        spill: Vec<NativePath>,
        reducers: usize,
        threads: usize,
        direct: bool,
        fsync: bool,
    ) -> PyResult<Self> {
        let job = SortJob {
            input: source.0,
            output: output.0,
            rows,
            memory: memory_bytes,
            spill: spill.into_iter().map(|path| path.0).collect(),
            reducers,
            threads,
            direct,
            fsync,
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
    }

    #[getter]
    fn descriptors(&self) -> PyResult<usize> {
        self.0.descriptors().map_err(value_error)
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<TeraSortResult> {
        run_job(py, tick.as_ref(), |tick| sort(&self.0, tick)).map(TeraSortResult)
    }
}

#[pyclass(frozen, module = "iostudy._native")]
pub struct TeraValidate(ValidateJob);

impl TeraValidate {
    pub const fn job(&self) -> &ValidateJob {
        &self.0
    }
}

#[pymethods]
impl TeraValidate {
    #[new]
    #[pyo3(signature = (source, *, threads, direct))]
    fn new(source: NativePath, threads: usize, direct: bool) -> PyResult<Self> {
        let job = ValidateJob {
            input: source.0,
            threads,
            direct,
        };
        job.validate().map_err(value_error)?;
        Ok(Self(job))
    }

    #[pyo3(signature = (tick = None))]
    fn run(&self, py: Python<'_>, tick: Option<Py<PyAny>>) -> PyResult<Py<TeraResult>> {
        let outcome = run_job(py, tick.as_ref(), |tick| validate(&self.0, tick))?;
        TeraResult::of(py, outcome)
    }
}

#[pyclass(frozen, extends = RecordsResult, module = "iostudy._native")]
pub struct TeraResult(Outcome);

impl TeraResult {
    pub fn of(py: Python<'_>, outcome: Outcome) -> PyResult<Py<Self>> {
        let result = RecordsResult::new(outcome.wall, &outcome.call_stats);
        Py::new(py, (Self(outcome), result))
    }
}

getters!(TeraResult, this {
    rows: u64 = this.0.rows;
    checksum: Option<String> = this.0.checksum.map(|checksum| checksum.to_string());
});

#[pyclass(frozen, module = "iostudy._native")]
pub struct TeraSortResult(SortOutcome);

impl From<SortOutcome> for TeraSortResult {
    fn from(outcome: SortOutcome) -> Self {
        Self(outcome)
    }
}

#[pymethods]
impl TeraSortResult {
    #[getter]
    fn result(&self, py: Python<'_>) -> PyResult<Py<TeraResult>> {
        TeraResult::of(py, self.0.outcome.clone())
    }

    #[getter]
    fn spill_seconds(&self) -> f64 {
        self.0.spill.as_secs_f64()
    }

    #[getter]
    fn merge_seconds(&self) -> f64 {
        self.0.merge.as_secs_f64()
    }

    #[getter]
    fn spilled_bytes(&self) -> Vec<u64> {
        self.0.spilled_bytes.clone()
    }

    #[getter]
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes
    }
}

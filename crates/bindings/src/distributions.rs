//! Python functions of the crate `distributions`.

use crate::errors::value_error;
use iostudy_distributions as distributions;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// P(T <= t) for each pair of values, as float64 bytes.
#[pyfunction]
pub fn t_cdf(
    py: Python<'_>,
    freedom: PyBuffer<f64>,
    t: PyBuffer<f64>,
) -> PyResult<Bound<'_, PyBytes>> {
    map_pairs(py, &freedom, &t, distributions::t_cdf)
}

/// The t with P(T <= t) = area for each pair of values, as float64 bytes.
#[pyfunction]
pub fn t_quantile(
    py: Python<'_>,
    freedom: PyBuffer<f64>,
    area: PyBuffer<f64>,
) -> PyResult<Bound<'_, PyBytes>> {
    map_pairs(py, &freedom, &area, distributions::t_quantile)
}

/// P(F > f).
#[pyfunction]
pub fn f_tail(numerator: f64, denominator: f64, f: f64) -> f64 {
    distributions::f_tail(numerator, denominator, f)
}

/// The x with P(X > x) = `upper_area` of the chi-squared distribution.
#[pyfunction]
pub fn chi_squared_quantile(freedom: f64, upper_area: f64) -> f64 {
    distributions::chi_squared_quantile(freedom, upper_area)
}

/// P(X <= x) of the beta distribution.
#[pyfunction]
pub fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    distributions::beta_cdf(a, b, x)
}

fn map_pairs<'py>(
    py: Python<'py>,
    first: &PyBuffer<f64>,
    second: &PyBuffer<f64>,
    function: fn(f64, f64) -> f64,
) -> PyResult<Bound<'py, PyBytes>> {
    let (first, second) = (first.to_vec(py)?, second.to_vec(py)?);
    if first.len() != second.len() {
        return Err(value_error("both arrays must have the same length"));
    }
    let pairs = first.iter().zip(&second);
    let bytes: Vec<u8> = pairs
        .flat_map(|(a, b)| function(*a, *b).to_ne_bytes())
        .collect();
    Ok(PyBytes::new(py, &bytes))
}

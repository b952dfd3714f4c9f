//! Numbers as the bytes of a numpy array.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Pack values into bytes, without a Python object for each.
pub fn packed<const N: usize>(
    py: Python<'_>,
    count: usize,
    values: impl Iterator<Item = [u8; N]>,
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, N * count, |room| {
        for (place, value) in room.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&value);
        }
        Ok(())
    })
}

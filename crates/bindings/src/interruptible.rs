//! Interruptible execution of native work with Python callbacks.

use pyo3::prelude::*;

/// Run `work` without the GIL. Its tick handles signals and calls `tick` with the progress. It
/// returns false once either raises or `tick` returns a false value.
///
/// # Errors
///
/// The exception of a signal handler or of `tick`, which has priority over the resulting stop.
pub fn run_interruptibly<R: Send>(
    py: Python<'_>,
    tick: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut (dyn FnMut(u64) -> bool + Send)) -> R + Send,
) -> PyResult<R> {
    let mut tick_result = Ok(true);
    let outcome = py.detach(|| {
        work(&mut |done| {
            // A stop is final: the next phase would otherwise call the tick again.
            if matches!(tick_result, Ok(true)) {
                tick_result = Python::attach(|py| call_tick(py, tick, done));
            }
            matches!(tick_result, Ok(true))
        })
    });
    tick_result.map(|_| outcome)
}

fn call_tick(py: Python<'_>, tick: Option<&Py<PyAny>>, done: u64) -> PyResult<bool> {
    py.check_signals()?;
    match tick {
        Some(tick) => tick.call1(py, (done,))?.is_truthy(py),
        None => Ok(true),
    }
}

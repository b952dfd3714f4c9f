//! How a long piece of native work is watched and stopped from Python.

use pyo3::prelude::*;

/// Do `work` without the GIL. The tick that it is given handles signals, and calls `tick` with what
/// is done so far; it says no once either raises, or `tick` returns something false.
///
/// # Errors
///
/// What a signal handler or `tick` raised, which goes before the stop that it caused.
pub fn ticking<R: Send>(
    py: Python<'_>,
    tick: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut (dyn FnMut(u64) -> bool + Send)) -> R + Send,
) -> PyResult<R> {
    let mut answer = Ok(true);
    let outcome = py.detach(|| {
        work(&mut |done| {
            // A no stands: it may come when a phase has just ended, and the next one asks again.
            if matches!(answer, Ok(true)) {
                answer = Python::attach(|py| asked(py, tick, done));
            }
            matches!(answer, Ok(true))
        })
    });
    answer.map(|_| outcome)
}

fn asked(py: Python<'_>, tick: Option<&Py<PyAny>>, done: u64) -> PyResult<bool> {
    py.check_signals()?;
    match tick {
        Some(tick) => tick.call1(py, (done,))?.is_truthy(py),
        None => Ok(true),
    }
}

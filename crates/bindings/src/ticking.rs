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
    let mut raised = Ok(());
    let outcome = py.detach(|| {
        work(&mut |done| {
            let answer = Python::attach(|py| asked(py, tick, done));
            match answer {
                Ok(go_on) => go_on,
                Err(error) => {
                    raised = Err(error);
                    false
                }
            }
        })
    });
    raised.map(|()| outcome)
}

fn asked(py: Python<'_>, tick: Option<&Py<PyAny>>, done: u64) -> PyResult<bool> {
    py.check_signals()?;
    match tick {
        Some(tick) => tick.call1(py, (done,))?.is_truthy(py),
        None => Ok(true),
    }
}

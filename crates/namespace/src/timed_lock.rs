//! Lock acquisition with measured wait time.

use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use std::time::{Duration, Instant};

/// Acquire a lock after a failed try, and add the wait time to `waited`.
///
/// A poisoned lock is acquired too: the panic ends the run.
pub(crate) fn timed_lock<G>(
    tried: TryLockResult<G>,
    wait: impl FnOnce() -> LockResult<G>,
    waited: &mut Duration,
) -> G {
    match tried {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            let began = Instant::now();
            let guard = wait().unwrap_or_else(PoisonError::into_inner);
            *waited += began.elapsed();
            guard
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;

    use super::*;

    #[test]
    fn only_the_wait_for_another_holder_is_measured() {
        let mutex = Mutex::new(());
        let held = Duration::from_millis(30);
        let mut waited = Duration::ZERO;
        drop(timed_lock(mutex.try_lock(), || mutex.lock(), &mut waited));
        assert_eq!(waited, Duration::ZERO);
        let guard = mutex.lock().unwrap();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut waited = Duration::ZERO;
                drop(timed_lock(mutex.try_lock(), || mutex.lock(), &mut waited));
                waited
            });
            thread::sleep(held);
            drop(guard);
            waited = other.join().unwrap();
        });
        assert!(waited > Duration::ZERO);
    }
}

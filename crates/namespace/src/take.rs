//! Locks that tell how long they were waited for.

use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use std::time::{Duration, Instant};

/// A lock that was tried, and is waited for if somebody else has it; `waited` grows by that time.
///
/// One whose holder has panicked is taken as well: the panic ends the run by itself.
pub(crate) fn take<G>(
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
    fn only_the_time_until_somebody_else_lets_go_counts() {
        let mutex = Mutex::new(());
        let held = Duration::from_millis(30);
        let mut waited = Duration::ZERO;
        drop(take(mutex.try_lock(), || mutex.lock(), &mut waited));
        assert_eq!(waited, Duration::ZERO);
        let guard = mutex.lock().unwrap();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut waited = Duration::ZERO;
                drop(take(mutex.try_lock(), || mutex.lock(), &mut waited));
                waited
            });
            thread::sleep(held);
            drop(guard);
            waited = other.join().unwrap();
        });
        assert!(waited > Duration::ZERO);
    }
}

//! Tests of the pool's barrier, progress and cancellation.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use iostudy_worker_pool::{Error, Halt, Worker, bounded_sleep, run};

#[test]
fn returns_outputs_in_worker_order() {
    let outputs = run(
        3,
        |worker: &Worker<Infallible>| Ok(worker.index() * 2),
        &mut |_| true,
    );
    assert_eq!(outputs.unwrap(), [0, 2, 4]);
}

#[test]
fn no_worker_starts_before_all_are_ready() {
    let prepared = AtomicUsize::new(0);
    let observed = run(
        4,
        |worker: &Worker<Infallible>| {
            std::thread::sleep(Duration::from_millis(5 * worker.index() as u64));
            prepared.fetch_add(1, Ordering::SeqCst);
            worker.wait_for_start();
            Ok(prepared.load(Ordering::SeqCst))
        },
        &mut |_| true,
    );
    assert_eq!(observed.unwrap(), [4; 4]);
}

#[test]
fn the_first_fault_stops_all_workers_and_names_its_worker() {
    let work = |worker: &Worker<_>| -> Result<(), Halt<&'static str>> {
        worker.wait_for_start();
        if worker.index() == 1 {
            return Err(Halt::Fault("broken"));
        }
        loop {
            worker.check_stop()?;
        }
    };
    let Err(Error::Fault { worker, fault }) = run(3, work, &mut |_| true) else {
        panic!("expected a fault");
    };
    assert_eq!((worker, fault), (1, "broken"));
}

#[test]
fn the_caller_gets_progress_and_can_stop_the_pool() {
    let mut last_progress = 0;
    let work = |worker: &Worker<_>| -> Result<(), Halt<Infallible>> {
        worker.wait_for_start();
        worker.report_progress(21);
        loop {
            worker.check_stop()?;
        }
    };
    let outcome = run(2, work, &mut |progress| {
        last_progress = progress;
        progress < 42
    });
    assert!(matches!(outcome, Err(Error::Stopped)));
    assert_eq!(last_progress, 42);
}

#[test]
fn a_fault_before_the_start_does_not_block_other_workers() {
    let work = |worker: &Worker<&'static str>| {
        if worker.index() == 0 {
            return Err(Halt::Fault("no memory"));
        }
        worker.wait_for_start();
        worker.check_stop()
    };
    assert!(matches!(
        run(2, work, &mut |_| true),
        Err(Error::Fault { worker: 0, .. })
    ));
}

#[test]
fn a_bounded_sleep_has_an_upper_limit() {
    let (started, short) = (Instant::now(), Duration::from_millis(5));
    bounded_sleep(short);
    assert!(started.elapsed() >= short);
    bounded_sleep(Duration::MAX);
}

#[test]
#[should_panic(expected = "panic of the test")]
fn a_panic_before_the_start_does_not_block_other_workers() {
    let work = |worker: &Worker<Infallible>| {
        assert_ne!(worker.index(), 0, "panic of the test");
        worker.wait_for_start();
        worker.check_stop()
    };
    let _ = run(2, work, &mut |_| true);
}

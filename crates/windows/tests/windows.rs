//! Counts of windows compared with the times of single operations.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use iostudy_latency::{IoStats, record};
use iostudy_windows::{InvalidWindow, Window, WindowCounts, WindowLog};
use proptest::prelude::*;

/// Start of a simulated clock, later than the real one: windows open only before their start.
fn simulated_start() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

fn window(start: Instant, from_ms: u64, to_ms: u64) -> Window {
    let at = |ms| start + Duration::from_millis(ms);
    Window {
        start: at(from_ms),
        end: at(to_ms),
    }
}

/// Run a worker that completes an operation of 10 bytes at each of these times.
fn run_worker(log: &WindowLog, times: impl IntoIterator<Item = Instant>) -> IoStats {
    let mut cursor = log.cursor();
    let mut stats = IoStats::new();
    for now in times {
        cursor.advance(now, || vec![stats.clone()]);
        stats.bytes += 10;
        record(&mut stats.latencies, Duration::from_micros(stats.bytes));
    }
    stats
}

fn operations(window: &WindowCounts) -> u64 {
    let [stats] = window.counts.as_slice() else {
        panic!("one kind of operation")
    };
    assert_eq!(stats.bytes, 10 * stats.latencies.len());
    stats.latencies.len()
}

fn within(times: &[Instant], window: &Window) -> u64 {
    let inside = |time: &&Instant| (window.start..window.end).contains(*time);
    times.iter().filter(inside).count() as u64
}

proptest! {
    #[test]
    fn a_window_has_exactly_the_operations_that_completed_in_it(
        gaps_and_widths in prop::collection::vec((0_u64..30, 1_u64..40), 1..12),
        workers in prop::collection::vec(prop::collection::vec(0_u64..12, 1..80), 1..4),
    ) {
        let start = simulated_start();
        let log = WindowLog::new();
        prop_assert!(log.claim(workers.len()));
        let mut at = 0;
        let windows: Vec<Window> = gaps_and_widths.iter().map(|(gap, width)| {
            let window = window(start, at + gap, at + gap + width);
            at += gap + width;
            window
        }).collect();
        for window in &windows {
            log.open(*window).unwrap();
        }
        let mut all = Vec::new();
        let mut last = Vec::new();
        for steps in &workers {
            let mut now = start;
            let times: Vec<Instant> = steps.iter().map(|step| {
                now += Duration::from_millis(*step);
                now
            }).collect();
            run_worker(&log, times.iter().copied());
            last.push(now);
            all.extend(times);
        }
        let passed = *last.iter().min().unwrap();
        let expected: Vec<(Window, u64)> = windows.iter()
            .take_while(|window| window.end <= passed)
            .map(|window| (*window, within(&all, window)))
            .collect();
        let found: Vec<(Window, u64)> = log.completed().iter()
            .map(|each| (each.window, operations(each)))
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert!(log.completed().is_empty());
    }
}

#[test]
fn windows_that_are_empty_overlap_or_are_past_are_refused() {
    let log = WindowLog::new();
    let start = simulated_start();
    assert_eq!(log.open(window(start, 5, 5)), Err(InvalidWindow::Empty));
    assert_eq!(log.open(window(start, 0, 10)), Ok(()));
    assert_eq!(log.open(window(start, 9, 20)), Err(InvalidWindow::Overlap));
    assert_eq!(log.open(window(start, 10, 20)), Ok(()));
    let past = Instant::now();
    let late = WindowLog::new().open(window(past, 0, 1000));
    assert_eq!(late, Err(InvalidWindow::Past));
}

#[test]
fn a_log_serves_one_job() {
    let log = WindowLog::new();
    assert!(log.claim(2));
    assert!(!log.claim(2));
}

/// Real threads, and windows that open shortly before they start.
#[test]
fn counts_are_exact_while_threads_run() {
    let log = WindowLog::new();
    let stop = AtomicBool::new(false);
    assert!(log.claim(2));
    let (windows, times): (Vec<Window>, Vec<Vec<Instant>>) = scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| run_until_stopped(&log, &stop)))
            .collect();
        let windows = open_windows(&log);
        sleep(Duration::from_millis(50));
        stop.store(true, Ordering::Relaxed);
        let times = workers.into_iter().map(|worker| worker.join().unwrap());
        (windows, times.collect())
    });
    let expected: Vec<(Window, u64)> = windows
        .iter()
        .map(|window| (*window, times.iter().map(|own| within(own, window)).sum()))
        .collect();
    let completed = log.completed();
    let found: Vec<_> = completed
        .iter()
        .map(|w| (w.window, operations(w)))
        .collect();
    assert!(found.len() > 10, "{} windows", found.len());
    assert_eq!(found, expected);
}

/// Windows of 2 ms that open 0.1 ms before their start; those that would be late are left out.
fn open_windows(log: &WindowLog) -> Vec<Window> {
    let mut opened = Vec::new();
    while opened.len() < 40 {
        let start = Instant::now() + Duration::from_micros(100);
        let next = window(start, 0, 2);
        if log.open(next).is_ok() {
            opened.push(next);
        }
        sleep(Duration::from_millis(3));
    }
    opened
}

fn run_until_stopped(log: &WindowLog, stop: &AtomicBool) -> Vec<Instant> {
    let mut times = Vec::new();
    let clock = std::iter::repeat_with(Instant::now);
    let until_stopped = clock.take_while(|_| !stop.load(Ordering::Relaxed));
    run_worker(log, until_stopped.inspect(|now| times.push(*now)));
    times
}

//! Windows of running jobs.

mod jobs;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use iostudy_engine::{
    Control, Job, Length, Method, Operation, Order, Pace, SharedShare, UringOptions, repeat, run,
};
use iostudy_windows::{Window, WindowCounts, WindowLog};
use jobs::{WRITE, in_folder, job};

const FILE_BYTES: u64 = 1 << 20;
const RECORD_BYTES: usize = 4 << 10;
const WIDTH: Duration = Duration::from_millis(50);

fn written(folder: &tempfile::TempDir, count: usize) -> Vec<PathBuf> {
    let paths = in_folder(folder.path(), count);
    run(&job(&paths, WRITE, FILE_BYTES, RECORD_BYTES), &mut |_| true).unwrap();
    paths
}

fn repeated(paths: &[PathBuf]) -> Job {
    Job {
        length: Length::Bytes(1),
        ramp: Duration::from_secs(60),
        order: Order::Random,
        ..job(paths, Operation::Read, FILE_BYTES, RECORD_BYTES)
    }
}

/// Run a job through `count` adjacent windows; `at_half` is called in the middle of them.
fn windows_of(job: &Job, share: &SharedShare, count: u32, at_half: impl Fn()) -> Vec<WindowCounts> {
    let log = WindowLog::new();
    assert!(log.claim(job.threads.len()));
    let start = Instant::now() + Duration::from_millis(100);
    for index in 0..count {
        let (start, end) = (start + WIDTH * index, start + WIDTH * (index + 1));
        log.open(Window { start, end }).unwrap();
    }
    let stop = AtomicBool::new(false);
    let control = Control {
        windows: &log,
        slow_down: share,
    };
    let mut completed = Vec::new();
    scope(|scope| {
        let running = scope.spawn(|| repeat(job, control, &mut |_| !stop.load(Ordering::Relaxed)));
        sleep(start + WIDTH * count / 2 - Instant::now());
        at_half();
        while completed.len() < count as usize {
            completed.extend(log.completed());
            sleep(Duration::from_millis(5));
        }
        stop.store(true, Ordering::Relaxed);
        running.join().unwrap().unwrap();
    });
    completed
}

fn reads(window: &WindowCounts) -> u64 {
    window.counts[0].latencies.len()
}

#[test]
fn a_rate_limit_gives_the_expected_count() {
    let folder = tempfile::tempdir().unwrap();
    let paths = written(&folder, 2);
    let ring = Method::IoUring(UringOptions {
        depth: 4,
        batch: 1,
        sqpoll: false,
        iopoll: false,
    });
    for method in [Method::Positioned, ring] {
        let limited = Job {
            method,
            pace: Pace::OpenLoop {
                per_second: 400.0,
                poisson: false,
            },
            ..repeated(&paths)
        };
        // Two threads, 20 records of each in a window; one may straddle each bound. A thread that
        // the kernel schedules late shifts records to the next window, so that the test retries.
        let off = |window: &WindowCounts| reads(window).abs_diff(40);
        let is_exact = || {
            let windows = windows_of(&limited, &SharedShare::new(0.0), 8, || ());
            let sum: u64 = windows.iter().map(reads).sum();
            windows.iter().all(|window| off(window) <= 2) && sum.abs_diff(8 * 40) <= 2
        };
        assert!((0..10).any(|_| is_exact()), "{method:?}");
    }
}

#[test]
fn bytes_and_latencies_of_a_window_belong_to_the_same_operations() {
    let folder = tempfile::tempdir().unwrap();
    let mix = Job {
        operation: Operation::Mix { read_percent: 30 },
        ..repeated(&written(&folder, 2))
    };
    for window in windows_of(&mix, &SharedShare::new(0.0), 4, || ()) {
        let [read, write, sync] = window.counts.as_slice() else {
            panic!("reads, writes and syncs")
        };
        for stats in [read, write] {
            assert_eq!(stats.bytes, stats.latencies.len() * RECORD_BYTES as u64);
        }
        assert!(!read.latencies.is_empty() && !write.latencies.is_empty());
        assert_eq!(sync.latencies.len(), 0);
    }
}

#[test]
fn a_slow_down_changes_while_the_job_runs() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let slowed = Job {
        direct: true,
        ..repeated(&written(&folder, 1))
    };
    let share = SharedShare::new(0.0);
    // The thread works for half of the time or for all of it; the storage may stall.
    let busy_shares = || {
        share.set(0.0);
        let windows = windows_of(&slowed, &share, 8, || share.set(0.5));
        [&windows[..3], &windows[5..]].map(busy_share)
    };
    let is_halved = |[before, after]: [f64; 2]| before > 0.9 && (0.4..0.6).contains(&after);
    assert!((0..10).any(|_| is_halved(busy_shares())));
}

#[allow(clippy::cast_precision_loss)]
fn busy_share(windows: &[WindowCounts]) -> f64 {
    let busy = |window: &WindowCounts| {
        let latencies = &window.counts[0].latencies;
        latencies.mean() * latencies.len() as f64 / 1e9
    };
    let busy: f64 = windows.iter().map(busy).sum();
    busy / (WIDTH.as_secs_f64() * windows.len() as f64)
}

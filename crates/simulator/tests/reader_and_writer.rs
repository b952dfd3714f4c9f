//! A sequential reader and a random writer on a disk: schedulers that idle for the reader serve it
//! better, and give up throughput of the writer.

#[path = "../../drive/tests/common/mod.rs"]
mod common;

use iostudy_drive::Parameters;
use iostudy_pattern::{Layout, Order, RecordSequence};
use iostudy_schedulers::{
    Anticipatory, Bfq, Cfq, Deadline, Kyber, MqDeadline, NoScheduler, Noop, Priority,
    SchedulerBuilder, Settings,
};
use iostudy_simulator::{
    Direction, Experiment, Figures, File, Host, Job, Length, Records, SimulationError, Thread,
    ThreadFigures, VolumeLayout,
};

const SECOND: u64 = 1_000_000_000;
const RECORD_BYTES: usize = 32 << 10;
const FILE_PAGES: u64 = 10_000;

fn records(file: usize, order: Order, direction: Direction) -> Records {
    let layout = Layout {
        files: 1,
        begin: 0,
        bytes: FILE_PAGES * 4096,
        record_bytes: RECORD_BYTES,
    };
    Records {
        length: Length::Time(40 * SECOND),
        ..Records::new(RecordSequence::new(layout, order, 1), vec![file], direction)
    }
}

fn thread(records: Records) -> Thread {
    Thread {
        source: Box::new(records),
        outstanding: 1,
        start: 0,
        priority: Priority::default(),
    }
}

/// A reader that thinks for half a millisecond.
fn reader() -> Thread {
    thread(Records {
        direct: true,
        think: 500_000,
        ..records(0, Order::Sequential, Direction::Read)
    })
}

/// A writer that fills the page cache faster than the disk writes.
fn writer() -> Thread {
    thread(records(1, Order::Random, Direction::Write))
}

fn experiment(scheduler: SchedulerBuilder, threads: Vec<Thread>) -> Experiment {
    let mut disk = common::disk();
    disk.cache.write_cache = false;
    Experiment {
        scheduler,
        settings: Settings::default(),
        tunables: Vec::new(),
        drive: Parameters::Disk(disk),
        last: None,
        layout: VolumeLayout::default(),
        host: Host {
            memory: 64 << 20,
            ..Host::default()
        },
        files: vec![
            File {
                start: 0,
                pages: FILE_PAGES,
                journal: None,
            },
            File {
                start: 400_000,
                pages: FILE_PAGES,
                journal: None,
            },
        ],
        jobs: vec![Job::once(threads, 12 * SECOND)],
        seed: 1,
    }
}

fn run(scheduler: SchedulerBuilder) -> Figures {
    experiment(scheduler, vec![reader(), writer()])
        .run(&mut |_| true)
        .expect("a complete simulation")
}

fn threads(figures: &Figures) -> &[ThreadFigures] {
    &figures.jobs[0].rounds[0].threads
}

#[test]
fn anticipation_and_idling_serve_a_reader_during_writes() {
    let fifo = run(Noop::build);
    for scheduler in [Anticipatory::build, Cfq::build, Bfq::build] {
        let idling = run(scheduler);
        let ratio = threads(&idling)[0].read.bytes / threads(&fifo)[0].read.bytes;
        assert!(ratio >= 4, "{ratio} times the bytes of noop");
        assert!(idling.device.idle > 0);
        assert!(threads(&idling)[1].write.bytes < threads(&fifo)[1].write.bytes);
        let median = |figures: &Figures| threads(figures)[0].read.latencies.value_at_quantile(0.5);
        assert!(median(&idling) < median(&fifo));
    }
}

#[test]
fn schedulers_without_idling_never_leave_the_disk_idle() {
    for scheduler in [
        Noop::build,
        NoScheduler::build,
        Deadline::build,
        MqDeadline::build,
        Kyber::build,
    ] {
        assert_eq!(run(scheduler).device.idle, 0);
    }
}

#[test]
fn equal_experiments_give_equal_figures() {
    let (first, second) = (run(Bfq::build), run(Bfq::build));
    assert_eq!(first.device, second.device);
    assert_eq!(
        threads(&first)[0].read.latencies,
        threads(&second)[0].read.latencies
    );
}

#[test]
fn a_buffered_stream_is_read_ahead_in_large_requests() {
    let stream = records(0, Order::Sequential, Direction::Read);
    let once = thread(Records {
        length: Length::Records(stream.sequence.pass()),
        ..stream
    });
    let figures = experiment(Noop::build, vec![once])
        .run(&mut |_| true)
        .expect("a complete simulation");
    let device = figures.device;
    assert_eq!(device.read.sectors, FILE_PAGES * 8);
    assert!(
        device.read.sectors / device.read.requests > 200,
        "{device:?}"
    );
    assert!(device.seeks < 3);
}

#[test]
fn a_sync_carries_every_dirty_page_to_the_medium() {
    let written = records(1, Order::Random, Direction::Write);
    let writer = thread(Records {
        length: Length::Records(100),
        sync_every: Some(0),
        ..written
    });
    let figures = experiment(Noop::build, vec![writer])
        .run(&mut |_| true)
        .expect("a complete simulation");
    assert_eq!(
        figures.device.write.sectors,
        100 * RECORD_BYTES as u64 / 512
    );
    assert_eq!(figures.device.flushes, 1);
}

#[test]
fn errors_name_what_is_wrong() {
    let mut beyond = experiment(Noop::build, vec![reader()]);
    beyond.files[0].start = u64::MAX / 2;
    assert!(matches!(
        beyond.run(&mut |_| true),
        Err(SimulationError::Drive(_))
    ));
    let mut unknown = experiment(Noop::build, vec![reader()]);
    unknown.tunables = vec![("quantum".to_owned(), "8".to_owned())];
    assert!(matches!(
        unknown.run(&mut |_| true),
        Err(SimulationError::Tunable(_))
    ));
    let mut stopped = experiment(Noop::build, vec![reader()]);
    assert!(matches!(
        stopped.run(&mut |_| false),
        Err(SimulationError::Stopped)
    ));
}

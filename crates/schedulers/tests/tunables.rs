//! Sections 2.4, 3.8, 4.11, 4.12, 6.4, 7.5 and 8.10: names, defaults and least values of all
//! tunables at 1000 ticks a second.

use iostudy_schedulers::{
    Anticipatory, Bfq, Cfq, Cfq2632, Deadline, Kyber, MqDeadline, NoScheduler, Noop, RequestQueue,
    SchedulerBuilder, Settings,
};

/// Name, default, and least value.
type Expected = (&'static str, &'static str, i64);

const INT_MIN: i64 = i32::MIN as i64;
const DEADLINE: [Expected; 5] = [
    ("read_expire", "500", 0),
    ("write_expire", "5000", 0),
    ("writes_starved", "2", INT_MIN),
    ("fifo_batch", "16", 0),
    ("front_merges", "1", 0),
];
const MQ_DEADLINE: [Expected; 2] = [("async_depth", "128", 1), ("prio_aging_expire", "10000", 0)];
const ANTICIPATORY: [Expected; 5] = [
    ("read_expire", "125", 0),
    ("write_expire", "250", 0),
    ("antic_expire", "6", 0),
    ("read_batch_expire", "500", 0),
    ("write_batch_expire", "125", 0),
];
const CFQ: [Expected; 12] = [
    ("quantum", "8", 1),
    ("fifo_expire_sync", "125", 1),
    ("fifo_expire_async", "250", 1),
    ("back_seek_max", "16384", 0),
    ("back_seek_penalty", "2", 1),
    ("slice_sync", "100", 1),
    ("slice_async", "40", 1),
    ("slice_async_rq", "2", 1),
    ("slice_idle", "8", 0),
    ("group_idle", "8", 0),
    ("low_latency", "1", 0),
    ("target_latency", "300", 1),
];
const KYBER: [Expected; 2] = [
    ("read_lat_nsec", "2000000", 0),
    ("write_lat_nsec", "10000000", 0),
];
const BFQ: [Expected; 10] = [
    ("slice_idle", "8", 0),
    ("slice_idle_us", "8000", 0),
    ("timeout_sync", "125", 1),
    ("max_budget", "0", 0),
    ("strict_guarantees", "0", 0),
    ("low_latency", "1", 0),
    ("fifo_expire_sync", "125", 1),
    ("fifo_expire_async", "250", 1),
    ("back_seek_max", "16384", 0),
    ("back_seek_penalty", "2", 1),
];

fn check(build: SchedulerBuilder, expected: &[Expected]) {
    let mut queue = RequestQueue::new(Settings::default(), 100_000_000_000, build);
    for &(name, default, least) in expected {
        let read = queue.read_tunable(name);
        assert_eq!(
            read.as_deref(),
            Ok(default),
            "{name} of {}",
            queue.scheduler()
        );
        let infos = queue.tunables();
        let info = infos.iter().find(|info| info.name == name);
        assert_eq!(info.map(|info| info.min), Some(least), "{name}");
        queue.write_tunable(name, default).expect("its own default");
        assert_eq!(queue.read_tunable(name).as_deref(), Ok(default), "{name}");
    }
}

#[test]
fn tunables_of_the_specification() {
    check(Deadline::build, &DEADLINE);
    check(MqDeadline::build, &DEADLINE);
    check(MqDeadline::build, &MQ_DEADLINE);
    check(Anticipatory::build, &ANTICIPATORY);
    check(Cfq::build, &CFQ);
    check(Kyber::build, &KYBER);
    check(Bfq::build, &BFQ);
}

#[test]
fn fifo_schedulers_have_no_tunables() {
    for build in [Noop::build, NoScheduler::build] {
        let queue = RequestQueue::new(Settings::default(), 100_000_000_000, build);
        assert!(queue.tunables().is_empty());
    }
}

#[test]
fn cfq_of_2_6_32_has_the_quantum_of_its_time() {
    let queue = RequestQueue::new(Settings::default(), 100_000_000_000, Cfq2632::build);
    assert_eq!(queue.read_tunable("quantum").as_deref(), Ok("4"));
}

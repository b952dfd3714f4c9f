//! Properties that hold for every scheduler (sections 2.6 and 9).

mod driver;

use std::collections::HashMap;

use driver::{Simulation, Stream};
use iostudy_schedulers::{
    Anticipatory, Bfq, Bio, Cfq, Deadline, Hz, Kyber, MergePolicy, MqDeadline, NoScheduler, Noop,
    Priority, PriorityClass, ProcessId, SchedulerBuilder, Settings,
};
use proptest::prelude::*;

/// Name, default at 1000 ticks a second, and least value (sections 2.4, 3.8, 4.11, 4.12, 6.4, 7.5
/// and 8.10).
type Tunable = (&'static str, i64, i64);

const INT_MIN: i64 = i32::MIN as i64;
const DEADLINE: &[Tunable] = &[
    ("read_expire", 500, 0),
    ("write_expire", 5000, 0),
    ("writes_starved", 2, INT_MIN),
    ("fifo_batch", 16, 0),
    ("front_merges", 1, 0),
];
const MQ_DEADLINE: &[Tunable] = &[
    ("read_expire", 500, 0),
    ("write_expire", 5000, 0),
    ("writes_starved", 2, INT_MIN),
    ("fifo_batch", 16, 0),
    ("front_merges", 1, 0),
    ("async_depth", 128, 1),
    ("prio_aging_expire", 10_000, 0),
];
const ANTICIPATORY: &[Tunable] = &[
    ("read_expire", 125, 0),
    ("write_expire", 250, 0),
    ("antic_expire", 6, 0),
    ("read_batch_expire", 500, 0),
    ("write_batch_expire", 125, 0),
];
const KYBER: &[Tunable] = &[
    ("read_lat_nsec", 2_000_000, 0),
    ("write_lat_nsec", 10_000_000, 0),
];
const BFQ: &[Tunable] = &[
    ("slice_idle", 8, 0),
    ("slice_idle_us", 8000, 0),
    ("timeout_sync", 125, 1),
    ("max_budget", 0, 0),
    ("strict_guarantees", 0, 0),
    ("low_latency", 1, 0),
    ("fifo_expire_sync", 125, 1),
    ("fifo_expire_async", 250, 1),
    ("back_seek_max", 16_384, 0),
    ("back_seek_penalty", 2, 1),
];
const CFQ: &[Tunable] = &[
    ("quantum", 8, 1),
    ("fifo_expire_sync", 125, 1),
    ("fifo_expire_async", 250, 1),
    ("back_seek_max", 16_384, 0),
    ("back_seek_penalty", 2, 1),
    ("slice_sync", 100, 1),
    ("slice_sync_us", 100_000, 1),
    ("slice_async", 40, 1),
    ("slice_async_us", 40_000, 1),
    ("slice_async_rq", 2, 1),
    ("slice_idle", 8, 0),
    ("slice_idle_us", 8000, 0),
    ("group_idle", 8, 0),
    ("group_idle_us", 8000, 0),
    ("low_latency", 1, 0),
    ("target_latency", 300, 1),
    ("target_latency_us", 300_000, 1),
];
const CFQ_2_6_32: &[Tunable] = &[
    ("quantum", 4, 1),
    ("fifo_expire_sync", 125, 1),
    ("fifo_expire_async", 250, 1),
    ("back_seek_max", 16_384, 0),
    ("back_seek_penalty", 2, 1),
    ("slice_sync", 100, 1),
    ("slice_async", 40, 1),
    ("slice_async_rq", 2, 1),
    ("slice_idle", 8, 0),
    ("low_latency", 1, 0),
];

const SCHEDULERS: &[(SchedulerBuilder, &[Tunable])] = &[
    (Noop::build, &[]),
    (NoScheduler::build, &[]),
    (Deadline::build, DEADLINE),
    (Anticipatory::build, ANTICIPATORY),
    (MqDeadline::build, MQ_DEADLINE),
    (Kyber::build, KYBER),
    (Bfq::build, BFQ),
    (Cfq::build, CFQ),
    (Cfq::build_2_6_32, CFQ_2_6_32),
];

/// Schedulers that dispatch whenever a request waits.
const WORK_CONSERVING: &[SchedulerBuilder] = &[
    Noop::build,
    NoScheduler::build,
    Deadline::build,
    MqDeadline::build,
    Kyber::build,
];

fn bio() -> impl Strategy<Value = Bio> {
    let kind = (any::<[bool; 4]>(), 0_u8..3, 0_u8..8);
    (kind, 0_u32..4, 0_u64..300, 1_u32..4).prop_map(|(kind, process, slot, length)| {
        let ([read, sync, metadata, no_idle], class, level) = kind;
        let process = ProcessId(process);
        let (start, sectors) = (slot * 8, length * 8);
        let bio = if read {
            Bio::read(process, start, sectors)
        } else {
            Bio::write(process, start, sectors)
        };
        let class = [
            PriorityClass::RealTime,
            PriorityClass::BestEffort,
            PriorityClass::Idle,
        ][usize::from(class)];
        Bio {
            sync: bio.sync || sync,
            metadata,
            no_idle,
            priority: Priority { class, level },
            ..bio
        }
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let hz = prop_oneof![Just(Hz::HZ_100), Just(Hz::HZ_250), Just(Hz::HZ_1000)];
    (hz, any::<[bool; 2]>(), 1_u32..9).prop_map(|(hz, [rotational, merging], queue_depth)| {
        let merges = if merging {
            MergePolicy::All
        } else {
            MergePolicy::Disabled
        };
        Settings {
            hz,
            rotational,
            queue_depth,
            nr_requests: 1000,
            merges,
            ..Settings::default()
        }
    })
}

/// Bios with their times of arrival in tenths of a millisecond.
fn arrivals() -> impl Strategy<Value = Vec<(u32, Bio)>> {
    prop::collection::vec((0_u32..3000, bio()), 1..80)
}

fn streams() -> impl Strategy<Value = Vec<(Bio, u64, u32)>> {
    prop::collection::vec((bio(), 0_u64..4, 0_u32..120), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_bio_completes_once(
        settings in settings(),
        arrivals in arrivals(),
        streams in streams(),
        service in 1_u32..200,
    ) {
        for &(build, _) in SCHEDULERS {
            let mut simulation = Simulation::new(build, settings, f64::from(service) / 10.0);
            let mut arrived = HashMap::new();
            for (index, &(at, bio)) in arrivals.iter().enumerate() {
                let at = f64::from(at) / 10.0;
                simulation.at(at, &format!("r{index}"), bio);
                arrived.insert(format!("r{index}"), at);
            }
            for &(bio, step, think) in &streams {
                let think_ms = f64::from(think) / 10.0;
                let step = step * 80;
                simulation.stream(0.0, Stream { name: "s", bio, step, think_ms, count: 20 });
            }
            for (at, name) in simulation.run(1e7) {
                prop_assert!(arrived.get(name).is_none_or(|&arrival| arrival <= at));
            }
            let scheduler = simulation.queue.scheduler();
            let total = arrivals.len() + 20 * streams.len();
            prop_assert_eq!(simulation.completed.len(), total, "{}", scheduler);
            prop_assert!(simulation.queue.state().requests.is_empty(), "{}", scheduler);
        }
    }

    #[test]
    fn work_conserving(arrivals in arrivals(), service in 1_u32..200) {
        for &build in WORK_CONSERVING {
            let mut simulation = Simulation::new(build, driver::settings(), f64::from(service));
            for &(at, bio) in &arrivals {
                simulation.at(f64::from(at) / 10.0, "r", bio);
            }
            let starts: Vec<f64> = simulation.run(1e7).into_iter().map(|(at, _)| at).collect();
            let mut times: Vec<u32> = arrivals.iter().map(|&(at, _)| at).collect();
            times.sort_unstable();
            let mut free = 0.0;
            for (start, arrival) in starts.into_iter().zip(times) {
                let earliest = f64::max(free, f64::from(arrival) / 10.0);
                prop_assert!((start - earliest).abs() < 1e-6);
                free = start + f64::from(service);
            }
        }
    }

    #[test]
    fn every_bio_completes_once_with_any_tunables(
        settings in settings(),
        arrivals in arrivals(),
        numbers in prop::collection::vec(0_u32..2000, 17),
    ) {
        for &(build, tunables) in SCHEDULERS {
            let mut simulation = Simulation::new(build, settings, 3.0);
            for (&(name, ..), number) in tunables.iter().zip(&numbers) {
                simulation.queue.write_tunable(name, &number.to_string()).expect("a number");
            }
            for &(at, bio) in &arrivals {
                simulation.at(f64::from(at) / 10.0, "r", bio);
            }
            simulation.run(1e9);
            let scheduler = simulation.queue.scheduler();
            prop_assert_eq!(simulation.completed.len(), arrivals.len(), "{}", scheduler);
        }
    }

    #[test]
    fn writes_are_passed_over_by_a_limited_number_of_read_batches(
        arrivals in arrivals(),
        starved in 0_usize..4,
        batch in 1_usize..5,
    ) {
        // All requests are present at the start, so a batch is a run of at most `batch` requests.
        let tunables = [("writes_starved", starved), ("fifo_batch", batch)];
        let mut simulation = Simulation::new(Deadline::build, driver::settings(), 5.0);
        for (name, number) in tunables {
            simulation.queue.write_tunable(name, &number.to_string()).expect("a number");
        }
        let mut writes = 0;
        for &(_, bio) in &arrivals {
            simulation.at(0.0, if bio.is_read() { "R" } else { "W" }, bio);
            writes += usize::from(!bio.is_read());
        }
        let mut reads_in_row = 0;
        for (_, name) in simulation.run(1e7) {
            if name == "R" {
                reads_in_row += usize::from(writes > 0);
                prop_assert!(reads_in_row <= starved * batch);
            } else {
                writes -= 1;
                reads_in_row = 0;
            }
        }
    }

    #[test]
    fn cfq_serves_real_time_first(settings in settings(), arrivals in arrivals()) {
        for build in [Cfq::build as SchedulerBuilder, Cfq::build_2_6_32] {
            let single = Settings { queue_depth: 1, merges: MergePolicy::Disabled, ..settings };
            let mut simulation = Simulation::new(build, single, 5.0);
            let mut real_time = 0;
            for &(_, bio) in &arrivals {
                // A process has one class.
                let classes = [
                    PriorityClass::RealTime,
                    PriorityClass::BestEffort,
                    PriorityClass::Idle,
                    PriorityClass::BestEffort,
                ];
                let class = classes[bio.process.index()];
                let priority = Priority { class, ..bio.priority };
                let name = ["RT", "BE", "IDLE"][class as usize];
                simulation.at(0.0, name, Bio { priority, sync: true, ..bio });
                real_time += usize::from(class == PriorityClass::RealTime);
            }
            let dispatched = simulation.run(1e7);
            let first: Vec<&str> = dispatched.iter().take(real_time).map(|&(_, name)| name).collect();
            // 2.6.32 dispatches a request at once when another with the same start arrives.
            let starts: std::collections::HashSet<(u32, u64)> =
                arrivals.iter().map(|(_, bio)| (bio.process.0, bio.start)).collect();
            if starts.len() == arrivals.len() {
                prop_assert!(first.iter().all(|&name| name == "RT"), "{:?}", dispatched);
            }
        }
    }

    #[test]
    fn idle_times_have_a_limit(arrivals in arrivals(), service in 1_u32..20) {
        let limits: [(SchedulerBuilder, f64); 3] =
            [(Anticipatory::build, 6.0), (Cfq::build, 8.0), (Cfq::build_2_6_32, 8.0)];
        for (build, limit) in limits {
            let mut simulation = Simulation::new(build, driver::settings(), f64::from(service));
            for &(at, bio) in &arrivals {
                simulation.at(f64::from(at) / 10.0, "r", bio);
            }
            let starts: Vec<f64> = simulation.run(1e7).into_iter().map(|(at, _)| at).collect();
            let mut times: Vec<u32> = arrivals.iter().map(|&(at, _)| at).collect();
            times.sort_unstable();
            let mut free = 0.0;
            for (start, arrival) in starts.into_iter().zip(times) {
                let idle = start - f64::max(free, f64::from(arrival) / 10.0);
                prop_assert!(idle <= limit + 1e-6, "{} {}", simulation.queue.scheduler(), idle);
                free = start + f64::from(service);
            }
        }
    }

    #[test]
    fn processes_do_not_matter(settings in settings(), arrivals in arrivals()) {
        for &build in WORK_CONSERVING {
            let orders = [0, 1].map(|factor| {
                let mut simulation = Simulation::new(build, settings, 5.0);
                for (index, &(at, bio)) in arrivals.iter().enumerate() {
                    let process = ProcessId(bio.process.0 * factor);
                    simulation.at(f64::from(at) / 10.0, &index.to_string(), Bio { process, ..bio });
                }
                simulation.run(1e7);
                simulation.completed
            });
            prop_assert_eq!(&orders[0], &orders[1]);
        }
    }

    #[test]
    fn expired_reads_wait_for_a_bounded_number_of_requests(arrivals in arrivals()) {
        // Every request is expired at once, so a read waits for older reads, a running batch and
        // the write batches between.
        let tunables = [("read_expire", "0"), ("write_expire", "0"), ("fifo_batch", "1")];
        let mut simulation =
            Simulation::new(Deadline::build, driver::settings(), 5.0).tune(&tunables);
        let mut reads = Vec::new();
        for (index, &(at, bio)) in arrivals.iter().enumerate() {
            simulation.at(f64::from(at) / 10.0, &index.to_string(), bio);
            if bio.is_read() {
                reads.push((at, index.to_string()));
            }
        }
        reads.sort_by_key(|&(at, _)| at);
        let dispatched = simulation.run(1e7);
        let order: Vec<&str> = dispatched
            .iter()
            .map(|&(_, name)| name)
            .filter(|name| reads.iter().any(|(_, read)| read == name))
            .collect();
        let expected: Vec<&str> = reads.iter().map(|(_, name)| name.as_str()).collect();
        prop_assert_eq!(order, expected);
    }
}

/// Tunables of BFQ that set its largest budget when they are written.
const BUDGET: [&str; 2] = ["timeout_sync", "max_budget"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The defaults are those of the specification, and numbers below the least value act as it.
    #[test]
    fn tunables_have_their_defaults_and_ranges(
        settings in settings(),
        arrivals in arrivals(),
        streams in streams(),
        chosen in any::<prop::sample::Index>(),
    ) {
        let settings = Settings { hz: Hz::HZ_1000, rotational: true, nr_requests: 128, ..settings };
        for &(build, tunables) in SCHEDULERS {
            let completed = |values: &[(&str, String)]| {
                let mut simulation = Simulation::new(build, settings, 3.0);
                for (name, text) in values {
                    simulation.queue.write_tunable(name, text).expect("a number");
                }
                for &(at, bio) in &arrivals {
                    simulation.at(f64::from(at) / 10.0, &bio.start.to_string(), bio);
                }
                for &(bio, step, think) in &streams {
                    let think_ms = f64::from(think) / 10.0;
                    let step = step * 80;
                    simulation.stream(0.0, Stream { name: "s", bio, step, think_ms, count: 20 });
                }
                simulation.run(1e9);
                simulation.completed
            };
            let defaults: Vec<(&str, String)> =
                tunables.iter()
                .filter(|(name, ..)| !BUDGET.contains(name))
                .map(|&(name, default, _)| (name, format!("{default}\n"))).collect();
            prop_assert_eq!(completed(&defaults), completed(&[]));
            if !tunables.is_empty() {
                let (name, _, least) = tunables[chosen.index(tunables.len())];
                let [below, at] = [least - 5, least].map(|number| [(name, number.to_string())]);
                prop_assert_eq!(completed(&below), completed(&at), "{}", name);
            }
        }
    }
}

#[test]
fn every_scheduler_names_its_tunables() {
    for &(build, tunables) in SCHEDULERS {
        let mut queue = Simulation::new(build, driver::settings(), 1.0).queue;
        let names: Vec<&str> = tunables.iter().map(|(name, ..)| *name).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        let error = queue
            .write_tunable("quantity", "1")
            .expect_err("no such tunable");
        assert!(
            error.to_string().ends_with(&format!("it has: {names}")),
            "{error}"
        );
        for (name, ..) in tunables {
            let error = queue.write_tunable(name, "soon").expect_err("no number");
            assert!(error.to_string().contains("needs an integer"), "{error}");
        }
    }
}

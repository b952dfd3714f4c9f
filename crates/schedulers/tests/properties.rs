//! Properties that hold for every scheduler (sections 2.6 and 9).

mod driver;

use std::collections::HashMap;

use driver::{Simulation, Stream};
use iostudy_schedulers::{
    Anticipatory, Bfq, Bio, Cfq, Cfq2632, Deadline, Hz, Kyber, MergePolicy, MqDeadline,
    NoScheduler, Noop, Priority, PriorityClass, ProcessId, SchedulerBuilder, Settings,
};
use proptest::prelude::*;

const SCHEDULERS: &[SchedulerBuilder] = &[
    Noop::build,
    NoScheduler::build,
    Deadline::build,
    Anticipatory::build,
    MqDeadline::build,
    MqDeadline::build_pointer_form,
    Kyber::build,
    Bfq::build,
    Cfq::build,
    Cfq2632::build,
];

/// Schedulers that dispatch whenever a request waits.
const WORK_CONSERVING: &[SchedulerBuilder] = &[
    Noop::build,
    NoScheduler::build,
    Deadline::build,
    MqDeadline::build,
    MqDeadline::build_pointer_form,
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
        for &build in SCHEDULERS {
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
        for &build in SCHEDULERS {
            let mut simulation = Simulation::new(build, settings, 3.0);
            for (info, number) in simulation.queue.tunables().iter().zip(&numbers) {
                let text = number.to_string();
                simulation.queue.write_tunable(info.name, &text).expect("a number");
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
        for build in [Cfq::build as SchedulerBuilder, Cfq2632::build] {
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
            [(Anticipatory::build, 6.0), (Cfq::build, 8.0), (Cfq2632::build, 8.0)];
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

    #[test]
    fn tunables_stay_in_their_ranges(number in any::<i64>(), settings in settings()) {
        for &build in SCHEDULERS {
            let mut simulation = Simulation::new(build, settings, 1.0);
            for info in simulation.queue.tunables() {
                let default = simulation.queue.read_tunable(info.name).expect("a tunable");
                simulation.queue.write_tunable(info.name, "x").expect_err("not a number");
                prop_assert_eq!(simulation.queue.read_tunable(info.name), Ok(default));
                simulation.queue.write_tunable(info.name, &format!("{number}\n")).expect("valid");
                let text = simulation.queue.read_tunable(info.name).expect("a tunable");
                let kept: i64 = text.parse().expect("a number");
                let clamped = number.clamp(info.min, info.max);
                let jiffy = if info.unit == iostudy_schedulers::Unit::Jiffies { 10 } else { 0 };
                prop_assert!((kept - clamped).abs() <= jiffy, "{} {} {}", info.name, kept, clamped);
            }
        }
    }
}

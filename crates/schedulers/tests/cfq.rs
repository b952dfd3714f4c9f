//! Worked examples of CFQ (section 4).

mod driver;

use driver::{A, B, C, Simulation, Stream, settings};
use iostudy_schedulers::{
    Bio, Cfq, Priority, PriorityClass, ProcessId, SchedulerBuilder, Settings,
};

fn stream(name: &'static str, bio: Bio, step: u64, count: u32) -> Stream {
    Stream {
        name,
        bio,
        step,
        think_ms: 0.5,
        count,
    }
}

fn simulation() -> Simulation {
    Simulation::new(Cfq::build, settings(), 10.0)
}

/// Both versions, for the examples in which they agree.
fn versions() -> [Simulation; 2] {
    [Cfq::build as SchedulerBuilder, Cfq::build_2_6_32]
        .map(|build| Simulation::new(build, settings(), 10.0))
}

/// Times of `count` requests of `name`, numbered from `first`.
fn run_of(name: &str, first: u32, count: u32, at: f64, gap: f64) -> Vec<(f64, String)> {
    (0..count)
        .map(|index| {
            (
                at + f64::from(index) * gap,
                format!("{name}{}", first + index),
            )
        })
        .collect()
}

fn owned(dispatched: Vec<(f64, &str)>) -> Vec<(f64, String)> {
    dispatched
        .into_iter()
        .map(|(at, name)| (at, name.to_owned()))
        .collect()
}

#[test]
fn e4_1_two_sequential_readers() {
    let expected = [
        run_of("A", 1, 11, 0.0, 10.5),
        run_of("B", 1, 11, 115.0, 10.5),
        run_of("A", 12, 1, 230.0, 0.0),
    ];
    for mut simulation in versions() {
        simulation.stream(0.0, stream("A", Bio::read(A, 0, 8), 8, 30));
        simulation.stream(0.0, stream("B", Bio::read(B, 1_000_000, 8), 8, 30));
        assert_eq!(owned(simulation.run(230.0)), expected.concat());
    }
}

#[test]
fn e4_2_sync_against_async() {
    let expected = [
        (0.0, "W1"),
        (10.0, "W2"),
        (20.0, "W3"),
        (30.0, "A1"),
        (48.0, "W4"),
    ];
    for mut simulation in versions() {
        for index in 0..20 {
            let write = Bio::write(B, 5000 + 8 * index, 8);
            simulation.at(0.0, &format!("W{}", index + 1), write);
        }
        simulation.at(25.0, "A1", Bio::read(A, 100, 8));
        assert_eq!(simulation.run(50.0), expected);
    }
}

#[test]
fn e4_3_seeky_readers_alternate_without_idling() {
    let mut simulation = simulation();
    simulation.stream(0.0, stream("A", Bio::read(A, 0, 8), 900_000, 100));
    simulation.stream(0.0, stream("B", Bio::read(B, 400_000, 8), 700_000, 100));
    let dispatched = simulation.run(1e5);
    // The seek histories are full after 32 requests of each.
    for pair in dispatched[100..190].windows(2) {
        let ((first, one), (second, other)) = (pair[0], pair[1]);
        assert!(
            (second - first - 10.0).abs() < 1e-9,
            "{one} {first} {other} {second}"
        );
        assert_ne!(one.as_bytes()[0], other.as_bytes()[0]);
    }
}

#[test]
fn e4_4_seeky_readers_keep_their_slices_in_2_6_32() {
    let mut simulation = Simulation::new(Cfq::build_2_6_32, settings(), 10.0);
    simulation.stream(0.0, stream("A", Bio::read(A, 0, 8), 900_000, 60));
    simulation.stream(0.0, stream("B", Bio::read(B, 400_000, 8), 700_000, 60));
    let expected = [
        run_of("A", 1, 11, 0.0, 10.5),
        run_of("B", 1, 11, 115.0, 10.5),
        run_of("A", 12, 1, 230.0, 0.0),
    ];
    assert_eq!(owned(simulation.run(230.0)), expected.concat());
}

#[test]
fn section_4_12_a_known_seeky_queue_is_waited_for_2_ms() {
    let mut simulation = Simulation::new(Cfq::build_2_6_32, settings(), 10.0);
    simulation.stream(0.0, stream("A", Bio::read(A, 0, 8), 900_000, 5));
    simulation.at(1.0, "B1", Bio::read(B, 90_000_000, 8));
    // A5 is dispatched at 42 and completes at 52.
    let expected = [run_of("A", 1, 5, 0.0, 10.5), vec![(54.0, "B1".to_owned())]];
    assert_eq!(owned(simulation.run(1e3)), expected.concat());
}

#[test]
fn e4_5_priorities() {
    let expected = [
        run_of("A", 1, 19, 0.0, 10.0),
        run_of("B", 1, 5, 190.0, 10.0),
        run_of("A", 20, 1, 240.0, 0.0),
    ];
    for mut simulation in versions() {
        for (name, process, level, start) in [("A", A, 0, 0), ("B", B, 7, 1_000_000)] {
            let priority = Priority {
                class: PriorityClass::BestEffort,
                level,
            };
            for index in 0..60 {
                let read = Bio::read(process, start + 8 * index, 8);
                simulation.at(
                    0.0,
                    &format!("{name}{}", index + 1),
                    Bio { priority, ..read },
                );
            }
        }
        assert_eq!(owned(simulation.run(240.0)), expected.concat());
    }
}

#[test]
fn section_4_14_classes() {
    let mut simulation = simulation();
    let classes = [
        ("idle", A, PriorityClass::Idle),
        ("be", B, PriorityClass::BestEffort),
        ("rt", C, PriorityClass::RealTime),
    ];
    for (name, process, class) in classes {
        let priority = Priority { class, level: 4 };
        for index in 0..3 {
            let read = Bio::read(process, 8 * index, 8);
            simulation.at(0.0, name, Bio { priority, ..read });
        }
    }
    let order: Vec<&str> = simulation
        .run(1e5)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let expected = ["rt", "rt", "rt", "be", "be", "be", "idle", "idle", "idle"];
    assert_eq!(order, expected);
}

#[test]
fn section_4_14_equal_queues_share_the_device() {
    for build in [Cfq::build as SchedulerBuilder, Cfq::build_2_6_32] {
        let large = Settings {
            nr_requests: 300,
            ..settings()
        };
        let mut simulation = Simulation::new(build, large, 10.0);
        let processes = [("A", A), ("B", B), ("C", C)];
        for (name, process) in processes {
            for index in 0..100 {
                let start = 1_000_000 * u64::from(process.0) + 8 * index;
                simulation.at(0.0, name, Bio::read(process, start, 8));
            }
        }
        let dispatched = simulation.run(2e3);
        let counts = processes.map(|(name, _)| {
            let own = dispatched.iter().filter(|&&(_, other)| other == name);
            own.count()
        });
        // One slice of 100 ms and one request of 10 ms.
        let (least, most) = (counts.iter().min(), counts.iter().max());
        assert!(most.unwrap() - least.unwrap() <= 11, "{counts:?}");
    }
}

#[test]
fn section_4_6_depth_of_a_queue() {
    let deep = Settings {
        queue_depth: 32,
        ..settings()
    };
    // Requests of one of two queues, and of a queue alone.
    for (build, expected) in [
        (Cfq::build as SchedulerBuilder, [4, 20]),
        (Cfq::build_2_6_32, [4, 16]),
    ] {
        for (processes, depth) in [(2, expected[0]), (1, expected[1])] {
            let mut simulation = Simulation::new(build, deep, 10.0);
            for process in 0..processes {
                for index in 0..20 {
                    let start = 1_000_000 * u64::from(process) + 8 * index;
                    simulation.at(0.0, "R", Bio::read(ProcessId(process), start, 8));
                }
            }
            assert_eq!(simulation.run(1.0).len(), depth);
        }
    }
}

#[test]
fn section_4_6_async_waits_for_sync_in_flight() {
    let two = Settings {
        queue_depth: 2,
        ..settings()
    };
    let no_idle = [("slice_idle", "0"), ("group_idle", "0")];
    for (build, count) in [(Cfq::build as SchedulerBuilder, 2), (Cfq::build_2_6_32, 1)] {
        let mut simulation = Simulation::new(build, two, 10.0).tune(&no_idle[..count]);
        simulation.at(0.0, "R", Bio::read(A, 0, 8));
        simulation.at(1.0, "W", Bio::write(B, 1000, 8));
        assert_eq!(simulation.run(1e3), [(0.0, "R"), (10.0, "W")]);
    }
}

#[test]
fn section_4_14_no_idling_without_idle_times() {
    let mut simulation = simulation().tune(&[("slice_idle", "0"), ("group_idle", "0")]);
    simulation.stream(0.0, stream("A", Bio::read(A, 0, 8), 8, 50));
    for index in 0..100 {
        simulation.at(0.0, "W", Bio::write(B, 500_000 + 8 * index, 8));
    }
    let dispatched = simulation.run(1e5);
    for pair in dispatched.windows(2) {
        assert!((pair[1].0 - pair[0].0 - 10.0).abs() < 1e-9);
    }
}

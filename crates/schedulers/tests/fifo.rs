//! Worked examples of noop (section 1) and none (section 5).

mod driver;

use driver::{A, B, C, Simulation, settings};
use iostudy_schedulers::{Bio, NoScheduler, Noop, Settings, Submission};

#[test]
fn e1_1_plain_fifo() {
    let mut simulation = Simulation::new(Noop::build, settings(), 10.0);
    simulation.at(0.0, "A1", Bio::read(A, 9000, 8));
    simulation.at(0.0, "B1", Bio::write(B, 10, 8));
    simulation.at(5.0, "C1", Bio::read(C, 9008, 8));
    assert_eq!(
        simulation.run(1e3),
        [(0.0, "A1"), (10.0, "B1"), (20.0, "C1")]
    );
}

#[test]
fn e1_2_merging_while_busy() {
    let mut simulation = Simulation::new(Noop::build, Settings::default(), 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    simulation.at(1.0, "q1", Bio::read(A, 100, 8));
    simulation.at(2.0, "back", Bio::read(A, 108, 8));
    simulation.at(3.0, "front", Bio::read(A, 92, 8));
    assert_eq!(simulation.run(1e3), [(0.0, "X"), (10.0, "q1")]);
    assert_eq!(simulation.lengths, [8, 24]);
    assert_eq!(simulation.completed, ["X", "q1", "back", "front"]);
}

#[test]
fn e1_3_front_merge_not_found() {
    let mut simulation = Simulation::new(Noop::build, Settings::default(), 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    simulation.at(1.0, "q1", Bio::read(A, 100, 8));
    simulation.at(2.0, "q2", Bio::read(A, 1000, 8));
    simulation.at(3.0, "q3", Bio::read(A, 992, 8));
    simulation.at(4.0, "back", Bio::read(A, 1008, 8));
    let expected = [(0.0, "X"), (10.0, "q1"), (20.0, "q2"), (30.0, "q3")];
    assert_eq!(simulation.run(1e3), expected);
    assert_eq!(simulation.lengths, [8, 8, 16, 8]);
}

#[test]
fn section_1_joined_requests() {
    let mut simulation = Simulation::new(Noop::build, Settings::default(), 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    simulation.at(1.0, "q1", Bio::read(A, 100, 8));
    simulation.at(2.0, "q2", Bio::read(A, 116, 8));
    simulation.at(3.0, "gap", Bio::read(A, 108, 8));
    assert_eq!(simulation.run(1e3), [(0.0, "X"), (10.0, "q1")]);
    assert_eq!(simulation.lengths, [8, 24]);
    assert_eq!(simulation.completed, ["X", "q1", "gap", "q2"]);
}

#[test]
fn section_0_5_largest_request() {
    let limit = Settings {
        max_sectors: 16,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(Noop::build, limit, 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    for (index, name) in ["a", "b", "c"].into_iter().enumerate() {
        simulation.at(1.0, name, Bio::read(A, 100 + 8 * index as u64, 8));
    }
    simulation.at(1.0, "write", Bio::write(A, 124, 8));
    let expected = [(0.0, "X"), (10.0, "a"), (20.0, "c"), (30.0, "write")];
    assert_eq!(simulation.run(1e3), expected);
    assert_eq!(simulation.lengths, [8, 16, 8, 8]);
}

#[test]
fn e5_1_depth_one() {
    let mut simulation = Simulation::new(NoScheduler::build, Settings::default(), 10.0);
    simulation.at(0.0, "R500", Bio::read(A, 500, 8));
    simulation.at(0.0, "W10", Bio::write(A, 10, 8));
    simulation.at(3.0, "R508", Bio::read(A, 508, 8));
    let expected = [(0.0, "R500"), (10.0, "W10"), (20.0, "R508")];
    assert_eq!(simulation.run(1e3), expected);
}

#[test]
fn e5_2_depth_two() {
    let depth = Settings {
        queue_depth: 2,
        ..settings()
    };
    let mut simulation = Simulation::new(NoScheduler::build, depth, 10.0);
    for (at, name) in [(0.0, "a"), (0.0, "b"), (0.0, "c"), (4.0, "d")] {
        simulation.at(at, name, Bio::read(A, 1000, 8));
    }
    let expected = [(0.0, "a"), (0.0, "b"), (10.0, "c"), (10.0, "d")];
    assert_eq!(simulation.run(1e3), expected);
}

#[test]
fn e5_3_merge_with_the_newest() {
    let mut simulation = Simulation::new(NoScheduler::build, Settings::default(), 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    simulation.at(0.0, "R100", Bio::read(A, 100, 8));
    simulation.at(0.0, "R300", Bio::read(A, 300, 8));
    simulation.at(1.0, "R108", Bio::read(A, 108, 8));
    let expected = [(0.0, "X"), (10.0, "R100"), (20.0, "R300")];
    assert_eq!(simulation.run(1e3), expected);
    assert_eq!(simulation.lengths, [8, 16, 8]);
}

#[test]
fn section_5_no_merge_beyond_the_newest_eight() {
    let mut simulation = Simulation::new(NoScheduler::build, Settings::default(), 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    simulation.at(1.0, "old", Bio::read(A, 100, 8));
    for index in 0..8 {
        simulation.at(1.0, "other", Bio::read(A, 10_000 + index * 100, 8));
    }
    simulation.at(2.0, "late", Bio::read(A, 108, 8));
    assert_eq!(simulation.run(1e3).len(), 11);
}

#[test]
fn section_5_busy_device_serves_the_cpus_in_turn() {
    let two_cpus = Settings {
        cpus: 2,
        ..settings()
    };
    let mut simulation = Simulation::new(NoScheduler::build, two_cpus, 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    for (name, cpu) in [("a1", 0), ("a2", 0), ("b1", 1), ("b2", 1)] {
        simulation.at(
            1.0,
            name,
            Bio {
                cpu,
                ..Bio::read(A, 100, 8)
            },
        );
    }
    let order: Vec<&str> = simulation
        .run(1e3)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(order, ["X", "b1", "a1", "b2", "a2"]);
}

#[test]
fn section_0_3_pools_of_sync_and_async_requests() {
    let limit = Settings {
        nr_requests: 2,
        ..settings()
    };
    let mut queue = Simulation::new(Noop::build, limit, 10.0).queue;
    let now = 100_000_000_000;
    for bio in [Bio::read(A, 0, 8), Bio::write(A, 0, 8)] {
        let results = [(); 3].map(|()| queue.submit(now, bio));
        assert!(
            results[..2]
                .iter()
                .all(|result| *result != Submission::Full)
        );
        assert_eq!(results[2], Submission::Full);
    }
    let first = queue.dispatch(now).expect("a request waits");
    assert_eq!(queue.dispatch(now), None);
    let mut tags = Vec::new();
    queue.complete(now, first, &mut tags);
    assert_eq!(tags, [0]);
    assert_ne!(queue.submit(now, Bio::read(A, 0, 8)), Submission::Full);
}

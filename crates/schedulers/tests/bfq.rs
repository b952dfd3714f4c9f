//! Worked examples of BFQ (section 8). The stamps of E8.1 and E8.2 are unit tests of its service
//! tree.

mod driver;

use driver::{A, B, Simulation, Stream, settings};
use iostudy_schedulers::{Bfq, Bio, Priority, PriorityClass, ProcessId, Settings};

const FAR: u64 = 100_000_000;

/// The conditions of section 8.11.
fn simulation() -> Simulation {
    let large = Settings {
        nr_requests: 2000,
        ..settings()
    };
    Simulation::new(Bfq::build, large, 10.0).tune(&[("low_latency", "0"), ("max_budget", "16384")])
}

/// Queue `count` sequential requests of 1024 sectors at the start.
fn backlog(simulation: &mut Simulation, name: &str, bio: Bio, count: u64) {
    for index in 0..count {
        let start = bio.start + index * 1024;
        simulation.at(
            0.0,
            name,
            Bio {
                start,
                sectors: 1024,
                ..bio
            },
        );
    }
}

/// Times at which the served name changes, with the name and its requests.
fn runs(simulation: &mut Simulation, end: f64) -> Vec<(f64, String, usize)> {
    let mut runs: Vec<(f64, String, usize)> = Vec::new();
    for (at, name) in simulation.run(end) {
        match runs.last_mut().filter(|run| run.1 == name) {
            Some(run) => run.2 += 1,
            None => runs.push((at, name.to_owned(), 1)),
        }
    }
    runs
}

fn expected(runs: &[(f64, &str, usize)]) -> Vec<(f64, String, usize)> {
    runs.iter()
        .map(|&(at, name, count)| (at, name.to_owned(), count))
        .collect()
}

#[test]
fn e8_1_equal_weights() {
    let mut simulation = simulation();
    backlog(&mut simulation, "A", Bio::read(A, 0, 8), 60);
    backlog(&mut simulation, "B", Bio::read(B, FAR, 8), 60);
    let slots = [
        (0.0, "A", 10),
        (100.0, "B", 10),
        (200.0, "A", 13),
        (330.0, "B", 13),
    ];
    assert_eq!(runs(&mut simulation, 455.0), expected(&slots));
}

#[test]
fn e8_2_weights_two_to_one() {
    let mut simulation = simulation();
    let best = Priority {
        class: PriorityClass::BestEffort,
        level: 0,
    };
    backlog(
        &mut simulation,
        "A",
        Bio {
            priority: best,
            ..Bio::read(A, 0, 8)
        },
        100,
    );
    backlog(&mut simulation, "B", Bio::read(B, FAR, 8), 100);
    let slots = [
        (0.0, "A", 10),
        (100.0, "B", 10),
        (200.0, "A", 13),
        (330.0, "B", 13),
        (460.0, "A", 26),
        (720.0, "B", 13),
        (850.0, "A", 26),
        (1110.0, "B", 13),
    ];
    assert_eq!(runs(&mut simulation, 1235.0), expected(&slots));
}

fn reader(count: u32) -> Stream {
    Stream {
        name: "A",
        bio: Bio::read(A, 0, 8),
        step: 8,
        think_ms: 1.0,
        count,
    }
}

#[test]
fn e8_3_slow_reader_is_charged_for_time() {
    let mut simulation = simulation();
    simulation.stream(0.0, reader(13));
    for index in 0..3 {
        let bio = Bio::read(B, FAR + index * 1024, 1024);
        simulation.at(0.0, &format!("B{}", index + 1), bio);
    }
    let dispatched = simulation.run(200.0);
    let readers: Vec<(f64, String)> = (0..12)
        .map(|index| (f64::from(index) * 11.0, format!("A{}", index + 1)))
        .collect();
    let first: Vec<(f64, String)> = dispatched[..12]
        .iter()
        .map(|(at, name)| (*at, (*name).to_owned()))
        .collect();
    assert_eq!(first, readers);
    let rest = [(132.0, "B1"), (142.0, "B2"), (152.0, "B3"), (170.0, "A13")];
    assert_eq!(dispatched[12..], rest);
}

#[test]
fn e8_4_new_process_is_raised() {
    let large = Settings {
        nr_requests: 2000,
        ..settings()
    };
    let mut simulation = Simulation::new(Bfq::build, large, 10.0).tune(&[("max_budget", "16384")]);
    // A streams from 0; its raising ends after 120000 sectors, and B comes at 10025.
    backlog(&mut simulation, "A", Bio::read(A, 0, 8), 1500);
    simulation.at(10_025.0, "B1", Bio::read(B, 5_000_000_000, 8));
    simulation.at(10_045.0, "B2", Bio::read(B, 5_000_000_008, 8));
    let dispatched = simulation.run(10_100.0);
    let start = dispatched
        .iter()
        .position(|(at, _)| *at >= 10_000.0)
        .unwrap();
    let expected = [
        (10_000.0, "A"),
        (10_010.0, "A"),
        (10_020.0, "A"),
        (10_030.0, "B1"),
        (10_045.0, "B2"),
        (10_075.0, "A"),
    ];
    assert_eq!(dispatched[start..start + 6], expected);
}

#[test]
fn section_8_6_no_idling_with_slice_idle_zero() {
    let mut simulation = simulation().tune(&[("slice_idle", "0")]);
    simulation.stream(0.0, reader(3));
    backlog(&mut simulation, "B", Bio::read(B, FAR, 8), 30);
    let times: Vec<f64> = simulation.run(300.0).iter().map(|(at, _)| *at).collect();
    let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(
        gaps.into_iter().all(|gap| (gap - 10.0).abs() < 1e-9),
        "{times:?}"
    );
}

#[test]
fn section_8_2_idle_class_is_served_once_in_200_ms() {
    let mut simulation = simulation();
    let idle = Priority {
        class: PriorityClass::Idle,
        level: 4,
    };
    backlog(&mut simulation, "A", Bio::read(A, 0, 8), 200);
    backlog(
        &mut simulation,
        "idle",
        Bio {
            priority: idle,
            ..Bio::read(B, FAR, 8)
        },
        20,
    );
    let idle_runs: Vec<(f64, String, usize)> = runs(&mut simulation, 1900.0)
        .into_iter()
        .filter(|run| run.1 == "idle")
        .collect();
    assert!((4..=9).contains(&idle_runs.len()), "{idle_runs:?}");
    assert!(idle_runs.iter().all(|run| run.2 == 1));
    assert!(
        idle_runs
            .windows(2)
            .all(|pair| pair[1].0 - pair[0].0 >= 200.0)
    );
}

#[test]
fn section_8_8_close_readers_share_a_queue() {
    let mut simulation = simulation();
    for index in 0..20 {
        simulation.at(0.0, "A", Bio::read(A, index * 16, 8));
        simulation.at(0.0, "B", Bio::read(B, index * 16 + 8, 8));
    }
    simulation.run(1e4);
    let names: String = simulation.completed.concat();
    assert_eq!(names, "AB".repeat(20));
}

#[test]
fn section_8_10_strict_guarantees() {
    let deep = Settings {
        queue_depth: 8,
        ..settings()
    };
    let tunables = [
        ("low_latency", "0"),
        ("slice_idle", "0"),
        ("strict_guarantees", "1"),
    ];
    let mut simulation = Simulation::new(Bfq::build, deep, 10.0).tune(&tunables);
    for index in 0..5 {
        simulation.at(0.0, "A", Bio::read(A, index * 8, 8));
    }
    simulation.at(0.0, "B", Bio::read(B, FAR, 8));
    let times: Vec<f64> = simulation.run(1e3).iter().map(|(at, _)| *at).collect();
    // B waits for 8 ms of idling, which strict guarantees need.
    assert_eq!(times, [0.0, 10.0, 20.0, 30.0, 40.0, 58.0]);
}

#[test]
fn section_8_9_tags_of_writes() {
    for (sync, limit) in [(false, 64), (true, 96)] {
        let mut queue = Simulation::new(Bfq::build, settings(), 10.0).queue;
        queue.write_tunable("low_latency", "0").unwrap();
        let write = |index: u64| Bio {
            sync,
            ..Bio::write(ProcessId(1), index * 100, 8)
        };
        let results = (0..128).map(|index| queue.submit(driver::nanos(0.0), write(index)));
        let accepted = results
            .filter(|r| *r != iostudy_schedulers::Submission::Full)
            .count();
        assert_eq!(accepted, limit);
    }
}

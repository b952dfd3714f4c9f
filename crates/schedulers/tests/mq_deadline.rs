//! Worked examples of mq-deadline (section 6).

mod driver;

use driver::{A, B, Simulation, settings};
use iostudy_schedulers::{Bio, MqDeadline, Priority, PriorityClass, Settings, Submission};

fn of_class(bio: Bio, class: PriorityClass) -> Bio {
    let priority = Priority { class, level: 4 };
    Bio { priority, ..bio }
}

/// Names in the order of their dispatch, of requests that each take 10 ms.
fn order(tunables: &[(&str, &str)], arrivals: &[(f64, Bio)]) -> Vec<u64> {
    let mut simulation = Simulation::new(MqDeadline::build, settings(), 10.0).tune(tunables);
    for (at, bio) in arrivals {
        simulation.at(*at, &bio.start.to_string(), *bio);
    }
    let dispatched = simulation.run(1e6);
    let times: Vec<f64> = dispatched.iter().map(|(at, _)| *at).collect();
    let expected = std::iter::successors(Some(0.0), |time| Some(time + 10.0));
    assert_eq!(times, expected.take(times.len()).collect::<Vec<_>>());
    dispatched
        .iter()
        .map(|(_, name)| name.parse().unwrap())
        .collect()
}

#[test]
fn e6_1_late_arrival_ahead_of_the_head() {
    let tunables = [("fifo_batch", "2"), ("read_expire", "20")];
    let read = |start| Bio::read(A, start, 8);
    let arrivals = [
        (0.0, read(1000)),
        (0.0, read(2000)),
        (0.0, read(3000)),
        (5.0, read(1500)),
    ];
    assert_eq!(order(&tunables, &arrivals), [1000, 1500, 2000, 3000]);
}

#[test]
fn e6_2_writes_first_at_the_start() {
    let bios = [
        Bio::read(A, 100, 8),
        Bio::read(A, 200, 8),
        Bio::write(A, 500, 8),
        Bio::write(A, 600, 8),
    ];
    let arrivals = bios.map(|bio| (0.0, bio));
    assert_eq!(order(&[], &arrivals), [500, 600, 100, 200]);
}

#[test]
fn e6_3_lower_class_waits_for_a_request_in_flight() {
    let depth = Settings {
        queue_depth: 2,
        ..settings()
    };
    let mut simulation = Simulation::new(MqDeadline::build, depth, 10.0);
    simulation.at(0.0, "BE1", Bio::read(A, 100, 8));
    simulation.at(
        0.0,
        "IDLE1",
        of_class(Bio::read(B, 200, 8), PriorityClass::Idle),
    );
    assert_eq!(simulation.run(1e3), [(0.0, "BE1"), (10.0, "IDLE1")]);
}

#[test]
fn e6_4_aging() {
    let mut simulation = Simulation::new(MqDeadline::build, settings(), 10.0);
    for index in 0..1200_u32 {
        let bio = Bio::read(B, u64::from(index) * 8, 8);
        simulation.at(
            f64::from(index) * 10.0,
            "RT",
            of_class(bio, PriorityClass::RealTime),
        );
    }
    simulation.at(0.0, "BE1", Bio::read(A, 1_000_000, 8));
    let dispatched = simulation.run(2e4);
    let aged = dispatched.iter().find(|(_, name)| *name == "BE1");
    assert_eq!(aged, Some(&(10_000.0, "BE1")));
}

#[test]
fn e6_5_a_batch_resumes() {
    let arrivals = [
        (0.0, Bio::read(A, 100, 8)),
        (1.0, Bio::write(B, 50, 8)),
        (9.0, Bio::read(A, 200, 8)),
    ];
    let tunables = [("writes_starved", "2")];
    assert_eq!(order(&tunables, &arrivals), [100, 200, 50]);
}

#[test]
fn section_6_2_merges_stay_within_class_and_direction() {
    let mut simulation = Simulation::new(MqDeadline::build, Settings::default(), 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    simulation.at(1.0, "q1", Bio::read(A, 100, 8));
    simulation.at(1.0, "far", Bio::read(A, 500, 8));
    simulation.at(2.0, "front", Bio::read(B, 492, 8));
    simulation.at(
        2.0,
        "idle",
        of_class(Bio::read(B, 108, 8), PriorityClass::Idle),
    );
    simulation.at(2.0, "write", Bio::write(B, 108, 8));
    let order: Vec<&str> = simulation.run(1e3).iter().map(|(_, name)| *name).collect();
    assert_eq!(order, ["X", "q1", "far", "write", "idle"]);
    assert_eq!(simulation.lengths, [8, 8, 16, 8, 8]);
}

#[test]
fn section_6_2_async_depth() {
    for (depth, refused) in [("5", 4), ("0", 8), ("999", 0)] {
        let mut queue = Simulation::new(MqDeadline::build, settings(), 10.0).queue;
        queue.write_tunable("async_depth", depth).unwrap();
        let writes =
            (0..9).map(|index| queue.submit(driver::nanos(0.0), Bio::write(A, index * 100, 8)));
        assert_eq!(
            writes.filter(|result| *result == Submission::Full).count(),
            refused
        );
        let reads =
            (0..130).map(|index| queue.submit(driver::nanos(0.0), Bio::read(A, index * 100, 8)));
        assert_eq!(
            reads.filter(|result| *result == Submission::Full).count(),
            130 - 128 + 9 - refused
        );
    }
}

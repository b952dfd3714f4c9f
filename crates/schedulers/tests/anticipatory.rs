//! Worked examples of the anticipatory scheduler (section 3).

mod driver;

use driver::{A, B, Simulation, Stream, settings};
use iostudy_schedulers::{Anticipatory, Bio, Noop, SchedulerBuilder};

/// Reader A of three requests with a think time, and B's far request at 1 ms; 8 ms of service.
fn reader(build: SchedulerBuilder, think_ms: f64) -> Vec<(f64, String)> {
    let mut simulation = Simulation::new(build, settings(), 8.0);
    let stream = Stream {
        name: "A",
        bio: Bio::read(A, 1000, 8),
        step: 8,
        think_ms,
        count: 3,
    };
    simulation.stream(0.0, stream);
    simulation.at(1.0, "B1", Bio::read(B, 900_000, 8));
    let dispatched = simulation.run(1e4).into_iter();
    dispatched.map(|(at, name)| (at, name.to_owned())).collect()
}

fn times(expected: &[(f64, &str)]) -> Vec<(f64, String)> {
    expected
        .iter()
        .map(|&(at, name)| (at, name.to_owned()))
        .collect()
}

#[test]
fn e3_1_sequential_reader() {
    let expected = [(0.0, "A1"), (10.0, "A2"), (20.0, "A3"), (34.0, "B1")];
    assert_eq!(reader(Anticipatory::build, 2.0), times(&expected));
    let expected = [(0.0, "A1"), (8.0, "B1"), (16.0, "A2"), (26.0, "A3")];
    assert_eq!(reader(Noop::build, 2.0), times(&expected));
}

#[test]
fn e3_2_warm_up() {
    let expected = [(0.0, "A1"), (11.0, "A2"), (19.0, "B1"), (33.0, "A3")];
    assert_eq!(reader(Anticipatory::build, 3.0), times(&expected));
}

#[test]
fn e3_3_close_request_of_another_process() {
    // The edge is 8192 sectors after the head at 1008.
    for (start, at) in [(1100, 9.0), (9200, 9.0), (9201, 14.0), (900_000, 14.0)] {
        let mut simulation = Simulation::new(Anticipatory::build, settings(), 8.0);
        simulation.at(0.0, "A1", Bio::read(A, 1000, 8));
        // The device waits once B1 has arrived, but its time counts from the completion at 8.
        simulation.at(9.0, "B1", Bio::read(B, start, 8));
        let expected = [(0.0, "A1"), (at, "B1")];
        assert_eq!(simulation.run(1e4), expected);
    }
}

#[test]
fn e3_4_batches() {
    let mut simulation = Simulation::new(Anticipatory::build, settings(), 10.0).tune(&[
        ("antic_expire", "0"),
        ("read_batch_expire", "20"),
        ("write_batch_expire", "20"),
    ]);
    for start in [100, 200, 300, 400, 500, 600] {
        simulation.at(0.0, &format!("R{start}"), Bio::read(A, start, 8));
    }
    for start in [5000, 5100, 5200] {
        simulation.at(0.0, &format!("W{start}"), Bio::write(B, start, 8));
    }
    let order: Vec<&str> = simulation
        .run(1e4)
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    let expected = [
        "R100", "R200", "R300", "R400", "W5000", "W5100", "W5200", "R500", "R600",
    ];
    assert_eq!(order, expected);
}

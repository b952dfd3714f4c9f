//! Worked examples of kyber (section 7). E7.2 and E7.4 are unit tests of its modules.

mod driver;

use driver::{A, Simulation, settings};
use iostudy_schedulers::{Bio, Kyber, Operation, Settings, Submission};

#[test]
fn e7_1_batches_of_domains() {
    let mut simulation = Simulation::new(Kyber::build, settings(), 10.0);
    for index in 1..=18 {
        simulation.at(0.0, &format!("R{index}"), Bio::read(A, index * 1000, 8));
    }
    for index in 1..=3 {
        simulation.at(0.0, &format!("W{index}"), Bio::write(A, index * 1000, 8));
    }
    let dispatched = simulation.run(1e3);
    let mut expected: Vec<String> = (1..=16).map(|index| format!("R{index}")).collect();
    expected.extend(["W1", "W2", "W3", "R17", "R18"].map(str::to_owned));
    let order: Vec<&str> = dispatched.iter().map(|(_, name)| *name).collect();
    assert_eq!(order, expected);
    let times: Vec<f64> = dispatched.iter().map(|(at, _)| *at).collect();
    assert_eq!(
        times,
        (0..21)
            .map(|index| f64::from(index) * 10.0)
            .collect::<Vec<_>>()
    );
}

/// The example with the initial 128 tokens of WRITE instead of one.
#[test]
fn e7_3_a_domain_without_tokens() {
    let deep = Settings {
        queue_depth: 1000,
        nr_requests: 1000,
        ..settings()
    };
    let mut simulation = Simulation::new(Kyber::build, deep, 10.0);
    for index in 1..=130 {
        simulation.at(0.0, &format!("W{index}"), Bio::write(A, index * 1000, 8));
    }
    simulation.at(0.0, "R1", Bio::read(A, 1, 8));
    let dispatched = simulation.run(1e3);
    assert_eq!(dispatched[0], (0.0, "R1"));
    assert_eq!(dispatched[128], (0.0, "W128"));
    assert_eq!(dispatched[129..], [(10.0, "W129"), (10.0, "W130")]);
}

#[test]
fn section_7_7_backlogged_domains_share_by_batch() {
    let mut simulation = Simulation::new(Kyber::build, settings(), 1.0);
    for (name, operation) in [("R", Operation::Read), ("W", Operation::Write)] {
        for index in 0..30 {
            simulation.at(
                0.0,
                name,
                Bio {
                    operation,
                    sync: true,
                    ..Bio::read(A, index * 100, 8)
                },
            );
        }
    }
    let dispatched = simulation.run(1e3);
    let round: Vec<&str> = dispatched[..24].iter().map(|(_, name)| *name).collect();
    let expected = ["R"; 16].into_iter().chain(["W"; 8]);
    assert_eq!(round, expected.collect::<Vec<_>>());
    assert_eq!(dispatched.len(), 60);
}

/// Writes that miss their target throttle reads that meet theirs.
#[test]
fn section_7_4_congestion_cuts_the_domain_that_meets_its_target() {
    let deep = Settings {
        queue_depth: 256,
        nr_requests: 1000,
        ..settings()
    };
    let tunables = [
        ("read_lat_nsec", "1000000000"),
        ("write_lat_nsec", "1000000"),
    ];
    let mut simulation = Simulation::new(Kyber::build, deep, 10.0).tune(&tunables);
    for step in 0..60 {
        for index in 0..16 {
            simulation.at(f64::from(step) * 10.0, "W", Bio::write(A, index * 100, 8));
            simulation.at(f64::from(step) * 10.0, "R", Bio::read(A, index * 100, 8));
        }
    }
    for index in 0..400 {
        simulation.at(900.0, "burst", Bio::read(A, index * 100, 8));
    }
    let dispatched = simulation.run(900.0);
    let at_once = dispatched
        .iter()
        .filter(|(_, name)| *name == "burst")
        .count();
    assert_eq!(at_once, 64);
}

#[test]
fn section_7_2_async_requests_use_three_quarters_of_the_tags() {
    let mut queue = Simulation::new(Kyber::build, settings(), 10.0).queue;
    let writes =
        (0..128).map(|index| queue.submit(driver::nanos(0.0), Bio::write(A, index * 100, 8)));
    assert_eq!(
        writes.filter(|result| *result == Submission::Full).count(),
        32
    );
}

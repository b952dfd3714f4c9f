//! Worked examples of deadline (section 2).

mod driver;

use driver::{A, Simulation, settings};
use iostudy_schedulers::{Bio, Deadline, Settings};

/// Requests with their times of arrival; names like `R100` or `W5000` give direction and start.
fn simulate(tunables: &[(&str, &str)], requests: &[(f64, &str)]) -> Vec<(f64, String)> {
    let mut simulation = Simulation::new(Deadline::build, settings(), 10.0).tune(tunables);
    for &(at, name) in requests {
        let start = name[1..].parse().expect("a sector");
        let bio = if name.starts_with('R') {
            Bio::read(A, start, 8)
        } else {
            Bio::write(A, start, 8)
        };
        simulation.at(at, name, bio);
    }
    let dispatched = simulation.run(1e5).into_iter();
    dispatched.map(|(at, name)| (at, name.to_owned())).collect()
}

fn every_ten(names: &[&str]) -> Vec<(f64, String)> {
    let times = (0..).map(|index| f64::from(index) * 10.0);
    times
        .zip(names.iter().map(|&name| name.to_owned()))
        .collect()
}

#[test]
fn e2_1_sweep() {
    let dispatched = simulate(&[], &[(0.0, "R1000"), (0.0, "R200"), (0.0, "R600")]);
    assert_eq!(dispatched, every_ten(&["R1000", "R200", "R600"]));
}

#[test]
fn e2_2_writes_starved() {
    let names = ["R100", "R200", "R300", "R400", "W5000", "W6000"];
    let dispatched = simulate(&[("fifo_batch", "1")], &names.map(|name| (0.0, name)));
    let order = ["R100", "R200", "W5000", "R300", "R400", "W6000"];
    assert_eq!(dispatched, every_ten(&order));
}

#[test]
fn e2_3_frozen_pointer() {
    let requests = [
        (0.0, "R1000"),
        (0.0, "R2000"),
        (0.0, "R3000"),
        (5.0, "R1500"),
    ];
    let dispatched = simulate(&[("fifo_batch", "2"), ("read_expire", "20")], &requests);
    assert_eq!(dispatched, every_ten(&["R1000", "R2000", "R3000", "R1500"]));
}

#[test]
fn e2_4_expiry_does_not_break_a_batch() {
    let requests = [(0.0, "R500"), (0.0, "R100"), (0.0, "R600"), (0.0, "R700")];
    let dispatched = simulate(&[("read_expire", "15"), ("fifo_batch", "3")], &requests);
    assert_eq!(dispatched, every_ten(&["R500", "R600", "R700", "R100"]));
}

#[test]
fn section_2_2_front_merge() {
    for (front_merges, lengths) in [("1", [8, 16]), ("0", [8, 8])] {
        let mut simulation = Simulation::new(Deadline::build, Settings::default(), 10.0)
            .tune(&[("front_merges", front_merges)]);
        simulation.at(0.0, "X", Bio::read(A, 0, 8));
        simulation.at(1.0, "other", Bio::write(A, 50, 8));
        simulation.at(1.0, "high", Bio::read(A, 116, 8));
        simulation.at(3.0, "low", Bio::read(A, 108, 8));
        simulation.run(15.0);
        assert_eq!(simulation.lengths, lengths);
    }
}

#[test]
fn section_2_2_joined_request_keeps_the_earlier_place() {
    let mut simulation = Simulation::new(Deadline::build, Settings::default(), 10.0);
    simulation.at(0.0, "X", Bio::read(A, 5000, 8));
    simulation.at(1.0, "high", Bio::read(A, 116, 8));
    simulation.at(2.0, "far", Bio::read(A, 1000, 8));
    simulation.at(3.0, "low", Bio::read(A, 100, 8));
    simulation.at(4.0, "gap", Bio::read(A, 108, 8));
    // The FIFO's head is the joined request, although `low` arrived after `far`.
    assert_eq!(
        simulation.run(1e3),
        [(0.0, "X"), (10.0, "low"), (20.0, "far")]
    );
    assert_eq!(simulation.lengths, [8, 24, 8]);
}

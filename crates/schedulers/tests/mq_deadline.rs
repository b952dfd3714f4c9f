//! Worked examples of mq-deadline (section 6).

mod driver;

use driver::{A, B, C, Simulation, settings};
use iostudy_schedulers::{
    Bio, MqDeadline, Operation, Priority, PriorityClass, SchedulerBuilder, Settings, Submission,
};

const FORMS: [SchedulerBuilder; 2] = [MqDeadline::build, MqDeadline::build_pointer_form];

fn of_class(bio: Bio, class: PriorityClass) -> Bio {
    let priority = Priority { class, level: 4 };
    Bio { priority, ..bio }
}

/// Names in the order of their dispatch, of requests that each take 10 ms.
fn order(build: SchedulerBuilder, tunables: &[(&str, &str)], arrivals: &[(f64, Bio)]) -> Vec<u64> {
    let mut simulation = Simulation::new(build, settings(), 10.0).tune(tunables);
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
    let [position, pointer] = FORMS.map(|form| order(form, &tunables, &arrivals));
    assert_eq!(position, [1000, 1500, 2000, 3000]);
    assert_eq!(pointer, [1000, 2000, 3000, 1500]);
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
    let [position, pointer] = FORMS.map(|form| order(form, &[], &arrivals));
    assert_eq!(position, [500, 600, 100, 200]);
    assert_eq!(pointer, [100, 200, 500, 600]);
}

#[test]
fn e6_3_lower_class_waits_for_a_request_in_flight() {
    for form in FORMS {
        let depth = Settings {
            queue_depth: 2,
            ..settings()
        };
        let mut simulation = Simulation::new(form, depth, 10.0);
        simulation.at(0.0, "BE1", Bio::read(A, 100, 8));
        simulation.at(
            0.0,
            "IDLE1",
            of_class(Bio::read(B, 200, 8), PriorityClass::Idle),
        );
        assert_eq!(simulation.run(1e3), [(0.0, "BE1"), (10.0, "IDLE1")]);
    }
}

#[test]
fn e6_4_aging() {
    for form in FORMS {
        let mut simulation = Simulation::new(form, settings(), 10.0);
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
}

#[test]
fn e6_5_a_batch_resumes() {
    let arrivals = [
        (0.0, Bio::read(A, 100, 8)),
        (1.0, Bio::write(B, 50, 8)),
        (9.0, Bio::read(A, 200, 8)),
    ];
    for form in FORMS {
        assert_eq!(
            order(form, &[("writes_starved", "2")], &arrivals),
            [100, 200, 50]
        );
    }
}

#[test]
fn section_6_3_other_commands_go_to_the_head() {
    let flush = Bio {
        operation: Operation::Other,
        ..Bio::write(C, 7, 8)
    };
    let arrivals = [
        (0.0, Bio::read(A, 100, 8)),
        (1.0, Bio::read(A, 200, 8)),
        (2.0, flush),
    ];
    for form in FORMS {
        assert_eq!(order(form, &[], &arrivals), [100, 7, 200]);
    }
}

#[test]
fn section_6_2_merges_stay_within_class_and_direction() {
    for form in FORMS {
        let mut simulation = Simulation::new(form, Settings::default(), 10.0);
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
}

#[test]
fn section_6_2_pointer_moves_when_its_request_is_joined() {
    let mut simulation = Simulation::new(MqDeadline::build_pointer_form, Settings::default(), 10.0);
    simulation.at(0.0, "X", Bio::read(A, 0, 8));
    simulation.at(0.0, "next", Bio::read(A, 116, 8));
    simulation.at(0.0, "last", Bio::read(A, 400, 8));
    simulation.at(1.0, "low", Bio::read(A, 100, 8));
    simulation.at(2.0, "gap", Bio::read(A, 108, 8));
    let order: Vec<&str> = simulation.run(1e3).iter().map(|(_, name)| *name).collect();
    assert_eq!(order, ["X", "last", "low"]);
    assert_eq!(simulation.lengths, [8, 8, 24]);
}

#[test]
fn section_6_2_async_depth() {
    for (form, limit) in FORMS.into_iter().zip([128, 96]) {
        let mut queue = Simulation::new(form, settings(), 10.0).queue;
        assert_eq!(queue.read_tunable("async_depth"), Ok(limit.to_string()));
        queue.write_tunable("async_depth", "5").unwrap();
        let writes =
            (0..9).map(|index| queue.submit(driver::nanos(0.0), Bio::write(A, index * 100, 8)));
        assert_eq!(
            writes.filter(|result| *result == Submission::Full).count(),
            4
        );
        let reads =
            (0..130).map(|index| queue.submit(driver::nanos(0.0), Bio::read(A, index * 100, 8)));
        assert_eq!(
            reads.filter(|result| *result == Submission::Full).count(),
            130 - 123
        );
    }
}

#[test]
fn section_6_4_tunables() {
    let mut queue = Simulation::new(MqDeadline::build, settings(), 10.0).queue;
    let defaults = [
        ("read_expire", "500"),
        ("write_expire", "5000"),
        ("writes_starved", "2"),
        ("fifo_batch", "16"),
        ("front_merges", "1"),
        ("async_depth", "128"),
        ("prio_aging_expire", "10000"),
    ];
    for (name, default) in defaults {
        assert_eq!(queue.read_tunable(name), Ok(default.to_owned()));
    }
    for (name, text, kept) in [
        ("async_depth", "0", "1"),
        ("async_depth", "999", "128"),
        ("front_merges", "7", "1"),
        ("writes_starved", "-3", "-3"),
        ("read_expire", "-1", "0"),
    ] {
        queue.write_tunable(name, text).unwrap();
        assert_eq!(queue.read_tunable(name), Ok(kept.to_owned()));
    }
    assert!(queue.write_tunable("read_expire", "soon").is_err());
    assert!(queue.read_tunable("quantum").is_err());
}

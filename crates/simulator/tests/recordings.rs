//! Times at which Linux 6.18 issued recorded requests, and those of the simulated scheduler.
//!
//! The recordings are direct random reads on the modelled drive `ultrastar-7k8` as a loop device,
//! of a kernel with two processors and 250 ticks a second: microseconds of insertion, issue and
//! completion, process, first sector, sectors, processor. 8 threads read under bfq, 48 otherwise.

use iostudy_schedulers::{Bfq, Bio, Hz, Kyber, MqDeadline, ProcessId, SchedulerBuilder, Settings};
use iostudy_simulator::{RecordedRequest, replay};

/// Microseconds.
const TOLERANCE: u64 = 1000;

fn parse(line: &str) -> (RecordedRequest, u64) {
    let values: Vec<u64> = line.split(',').map(|text| text.parse().unwrap()).collect();
    let process = ProcessId(values[3].try_into().unwrap());
    let request = RecordedRequest {
        inserted: values[0] * 1000,
        completed: values[2] * 1000,
        bio: Bio {
            cpu: values[6].try_into().unwrap(),
            ..Bio::read(process, values[4], values[5].try_into().unwrap())
        },
    };
    (request, values[1])
}

/// Requests that are dispatched at another time than they were issued.
fn unpunctual(scheduler: SchedulerBuilder, text: &str, takes_ahead: bool) -> usize {
    let (requests, issues): (Vec<_>, Vec<_>) = text.lines().map(parse).unzip();
    let settings = Settings {
        hz: Hz::HZ_250,
        queue_depth: 32,
        cpus: 2,
        takes_ahead,
        ..Settings::default()
    };
    let dispatches = replay(settings, scheduler, &[], &requests).unwrap();
    assert_eq!(dispatches.len(), requests.len());
    let is_late = |time: u64, issue: u64| (time / 1000).abs_diff(issue) > TOLERANCE;
    let late = dispatches
        .iter()
        .filter(|each| is_late(each.time, issues[each.request]));
    late.count()
}

#[test]
fn bfq_serves_random_readers_when_the_kernel_does() {
    let text = include_str!("recordings/bfq-random-readers.csv");
    assert_eq!(unpunctual(Bfq::build, text, true), 0);
}

#[test]
fn kyber_serves_random_readers_when_the_kernel_does() {
    let text = include_str!("recordings/kyber-random-readers.csv");
    assert_eq!(unpunctual(Kyber::build, text, true), 0);
}

#[test]
fn mq_deadline_serves_random_readers_when_the_kernel_does() {
    let text = include_str!("recordings/mq-deadline-random-readers.csv");
    assert_eq!(unpunctual(MqDeadline::build, text, true), 0);
    // A driver that takes no request ahead would choose later, and otherwise.
    assert!(unpunctual(MqDeadline::build, text, false) > 0);
}

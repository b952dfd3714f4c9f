//! Times at which Linux 6.18 issued recorded requests, and those of the simulated scheduler.
//!
//! The recordings are direct reads on the modelled drive `ultrastar-7k8` of a kernel with 250 ticks
//! a second: microseconds of insertion, issue and completion, process, first sector, sectors.

use iostudy_schedulers::{Bfq, Bio, Hz, ProcessId, SchedulerBuilder, Settings};
use iostudy_simulator::{RecordedRequest, replay};

const DEPTH: u32 = 32;
/// Microseconds.
const TOLERANCE: u64 = 1000;

fn parse(line: &str) -> (RecordedRequest, u64) {
    let values: Vec<u64> = line.split(',').map(|text| text.parse().unwrap()).collect();
    let process = ProcessId(values[3].try_into().unwrap());
    let request = RecordedRequest {
        inserted: values[0] * 1000,
        completed: values[2] * 1000,
        bio: Bio::read(process, values[4], values[5].try_into().unwrap()),
    };
    (request, values[1])
}

/// Percent of the requests that are dispatched when they were issued.
fn punctual(scheduler: SchedulerBuilder, text: &str) -> usize {
    let (requests, issues): (Vec<_>, Vec<_>) = text.lines().map(parse).unzip();
    let settings = Settings {
        hz: Hz::HZ_250,
        queue_depth: DEPTH,
        ..Settings::default()
    };
    let dispatches = replay(settings, scheduler, &[], &requests).unwrap();
    assert_eq!(dispatches.len(), requests.len());
    let is_punctual = |time: u64, issue: u64| (time / 1000).abs_diff(issue) <= TOLERANCE;
    let punctual = dispatches
        .iter()
        .filter(|each| is_punctual(each.time, issues[each.request]));
    punctual.count() * 100 / requests.len()
}

#[test]
fn bfq_serves_random_readers_when_the_kernel_does() {
    let text = include_str!("recordings/bfq-random-readers.csv");
    assert_eq!(punctual(Bfq::build, text), 100);
}

//! Property tests of the disk model on random requests, and tests of its queue and caches.

mod common;

use common::{MS, disk, drive, next, replay, request};
use iostudy_drive::disk::Disk;
use iostudy_drive::disk::parameters::{Shingling, WeakRegion};
use iostudy_drive::{Nanos, Operation, Request, SubmitError};
use proptest::prelude::*;

const BLOCKS: u64 = 900_000;

fn requests(count: usize, reads_only: bool) -> impl Strategy<Value = Vec<Request>> {
    let one = (0..10_u8, 0..BLOCKS, 1..256_u32, any::<bool>());
    prop::collection::vec(one, 1..count).prop_map(move |drawn| {
        let numbered = (0..).zip(drawn);
        numbered
            .map(|(id, (kind, block, blocks, fua))| {
                let operation = match kind {
                    0 if !reads_only => Operation::Flush,
                    1..=4 if !reads_only => Operation::Write,
                    _ => Operation::Read,
                };
                let blocks = if operation == Operation::Flush {
                    0
                } else {
                    blocks
                };
                Request {
                    fua,
                    ..request(id, operation, block, blocks)
                }
            })
            .collect()
    })
}

/// Lower bound of the response time of a request: its bus transfer.
fn minimum_response(request: &Request) -> Nanos {
    5_000 * u64::from(request.blocks)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_request_completes_after_its_minimum_response_time(
        requests in requests(200, false), depth in 1..33_usize,
    ) {
        let times = replay(&mut drive(disk()), &requests, depth);
        for (request, (submitted, completed)) in requests.iter().zip(times) {
            prop_assert!(completed >= submitted + minimum_response(request));
        }
    }

    #[test]
    fn a_random_read_takes_its_seek_and_transfer_time(from in 0..BLOCKS, to in 0..BLOCKS) {
        prop_assume!(from.abs_diff(to) > 20_000);
        let two = [request(0, Operation::Read, from, 1), request(1, Operation::Read, to, 8)];
        let times = replay(&mut drive(disk()), &two, 1);
        let response = times[1].1 - times[1].0;
        prop_assert!(response >= MS + 8 * 6 * MS / 300);
        prop_assert!(response <= 9 * MS + 6 * MS + 6 * MS + MS);
    }

    #[test]
    fn equal_requests_give_equal_times(requests in requests(100, false), depth in 1..33_usize) {
        let first = replay(&mut drive(disk()), &requests, depth);
        prop_assert_eq!(first, replay(&mut drive(disk()), &requests, depth));
    }

    #[test]
    fn a_flush_leaves_no_older_write_dirty(blocks in prop::collection::vec(0..BLOCKS, 1..60)) {
        let mut disk = Disk::new(disk());
        let mut now = 0;
        for (id, block) in (0..).zip(&blocks) {
            disk.submit(now, request(id, Operation::Write, *block, 8)).expect("a valid request");
            now = finish(&mut disk, id);
        }
        disk.submit(now, request(1000, Operation::Flush, 0, 0)).expect("a valid request");
        finish(&mut disk, 1000);
        prop_assert_eq!(disk.unflushed().count(), 0);
    }

    #[test]
    fn no_read_waits_longer_than_the_age_limit_and_32_services(requests in requests(400, true)) {
        let times = replay(&mut drive(disk()), &requests, 32);
        // An overdue read waits for older overdue reads, at most 32 of 23 ms each.
        let limit = 200 * MS + 32 * 23 * MS;
        for (submitted, completed) in times {
            prop_assert!(completed - submitted <= limit);
        }
    }

    #[test]
    fn no_command_waits_longer_than_the_age_limit_and_its_services(
        requests in requests(400, false),
    ) {
        let times = replay(&mut drive(disk()), &requests, 32);
        // Before an overdue command: 32 others, and write-back of 64 extents on 80 tracks.
        let limit = 200 * MS + (32 + 64 + 80) * 23 * MS;
        for (submitted, completed) in times {
            prop_assert!(completed - submitted <= limit);
        }
    }

    #[test]
    fn a_shingled_drive_completes_every_request(requests in requests(100, false)) {
        let mut parameters = disk();
        let shingling = Shingling { band_blocks: 20_000, cache_blocks: 60_000, idle: 50 * MS };
        parameters.shingling = Some(shingling);
        let times = replay(&mut drive(parameters), &requests, 4);
        prop_assert!(times.iter().all(|(submitted, completed)| completed >= submitted));
    }
}

fn finish(disk: &mut Disk, id: u64) -> Nanos {
    loop {
        let time = disk.next_event().expect("a request is in flight");
        if let Some(completion) = disk.complete(time) {
            assert_eq!(completion.id, id);
            return completion.at;
        }
    }
}

#[test]
fn a_full_queue_refuses_requests() {
    let mut drive = drive(disk());
    for id in 0..32 {
        drive
            .submit(0, request(id, Operation::Read, id * 1000, 8))
            .expect("room");
    }
    let refused = drive.submit(0, request(32, Operation::Read, 0, 8));
    assert_eq!(refused, Err(SubmitError::QueueFull { depth: 32 }));
    next(&mut drive);
    let now = drive.next_event().expect("31 are in flight");
    drive
        .submit(now.max(9 * MS), request(32, Operation::Read, 0, 8))
        .expect("room for one");
}

#[test]
fn sequential_reads_run_at_the_rate_of_the_zone() {
    let zones = [(0, 300), (700_000, 200)];
    let depths = [1, 2, 4, 8, 32];
    for ((start, sectors), depth) in zones
        .into_iter()
        .flat_map(|zone| depths.map(|depth| (zone, depth)))
    {
        let blocks = 200_000;
        let reads: Vec<Request> = (0..blocks / 100)
            .map(|id| request(id, Operation::Read, start + id * 100, 100))
            .collect();
        let times = replay(&mut drive(disk()), &reads, depth);
        let ends = || times.iter().map(|each| each.1);
        let measured = ends().max().expect("some") - ends().min().expect("some");
        let tracks = f64::from(u32::try_from(blocks).expect("small")) / f64::from(sectors);
        // Each track costs a revolution and its skew: 1/5 for a head, 1/4 for a cylinder. A queue
        // also has overdue reads, which the head had passed.
        let expected = tracks * 6.0 * (1.0 + (3.0 * 0.2 + 0.25) / 4.0);
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let measured = measured as f64 / 1e6;
        assert!(
            (measured / expected - 1.0).abs() < 0.05,
            "{measured} ms with {depth} in flight, expected {expected} ms"
        );
    }
}

#[test]
fn a_queue_shortens_random_reads() {
    let reads: Vec<Request> = (0..2000)
        .map(|id| request(id, Operation::Read, id * 7_919_317 % BLOCKS, 8))
        .collect();
    let end = |depth| {
        replay(&mut drive(disk()), &reads, depth)
            .iter()
            .map(|each| each.1)
            .max()
    };
    let (one, many) = (end(1).expect("some"), end(32).expect("some"));
    assert!(
        many * 2 < one,
        "{many} ns with 32 in flight, {one} ns with 1"
    );
}

#[test]
fn writes_that_wait_for_room_share_the_head_with_reads() {
    let mut drive = drive(disk());
    let reads =
        (0..600).map(|id| request(id, Operation::Read, 300_000 + id * 7_919_317 % 9_000, 8));
    let writes = (0..600).map(|id| request(1000 + id, Operation::Write, id * 200, 200));
    let (mut reads, mut writes) = (reads, writes);
    // Four readers and eight writers, each with one request in flight.
    for first in reads.by_ref().take(4).chain(writes.by_ref().take(8)) {
        drive.submit(0, first).expect("room");
    }
    let mut done = [0, 0];
    for _ in 0..600 {
        let completion = next(&mut drive);
        let own = usize::from(completion.id >= 1000);
        done[own] += 1;
        let following = if own == 0 {
            reads.next()
        } else {
            writes.next()
        };
        drive
            .submit(completion.at, following.expect("another one"))
            .expect("room");
    }
    assert!(
        done.iter().all(|count| *count > 100),
        "{done:?} reads and writes"
    );
}

#[test]
fn a_write_with_force_unit_access_waits_for_the_medium() {
    let mut cached = drive(disk());
    cached
        .submit(0, request(0, Operation::Write, 500_000, 8))
        .expect("room");
    let mut forced = drive(disk());
    let write = Request {
        fua: true,
        ..request(0, Operation::Write, 500_000, 8)
    };
    forced.submit(0, write).expect("room");
    assert!(next(&mut cached).at < MS);
    assert!(next(&mut forced).at > MS);
}

#[test]
fn written_blocks_are_read_from_the_cache() {
    let mut drive = drive(disk());
    drive
        .submit(0, request(0, Operation::Write, 500_000, 8))
        .expect("room");
    drive
        .submit(0, request(1, Operation::Read, 500_000, 8))
        .expect("room");
    assert_eq!(next(&mut drive).id, 0);
    let read = next(&mut drive);
    assert_eq!((read.id, read.at < MS), (1, true));
}

#[test]
fn a_weak_region_adds_its_retries() {
    let mut parameters = disk();
    let read = [request(0, Operation::Read, 500_000, 8)];
    let healthy = replay(&mut drive(parameters.clone()), &read, 1)[0].1;
    let region = WeakRegion {
        start: 490_000,
        end: 510_000,
        share: 1.0,
        retries: 3,
    };
    parameters.weak_regions.push(region);
    let weak = replay(&mut drive(parameters), &read, 1)[0].1;
    assert_eq!(weak, healthy + 18 * MS);
}

#[test]
fn a_shingled_drive_cleans_bands_only_when_it_is_idle() {
    let mut parameters = disk();
    let shingling = Shingling {
        band_blocks: 20_000,
        cache_blocks: 60_000,
        idle: 1000 * MS,
    };
    parameters.shingling = Some(shingling);
    let durable: Vec<Request> = (0..100)
        .flat_map(|id| {
            let write = request(2 * id, Operation::Write, id * 7_919_317 % 800_000, 8);
            [write, request(2 * id + 1, Operation::Flush, 0, 0)]
        })
        .collect();
    let times = replay(&mut drive(parameters), &durable, 1);
    // A band of 20,000 blocks takes 67 revolutions to read.
    let slowest = times
        .iter()
        .map(|(submitted, completed)| completed - submitted);
    assert!(slowest.max().expect("some") < 67 * 6 * MS);
}

#[test]
fn a_full_persistent_cache_stalls_writes() {
    let mut parameters = disk();
    let shingling = Shingling {
        band_blocks: 20_000,
        cache_blocks: 2_000,
        idle: 1000 * MS,
    };
    parameters.shingling = Some(shingling);
    parameters.cache.write_cache = false;
    let writes: Vec<Request> = (0..600)
        .map(|id| request(id, Operation::Write, id * 7_919_317 % 800_000, 8))
        .collect();
    let times = replay(&mut drive(parameters), &writes, 1);
    let response = |(submitted, completed): &(Nanos, Nanos)| completed - submitted;
    let before = times[..200].iter().map(response).max().expect("some");
    let after = times[200..].iter().map(response).max().expect("some");
    assert!(
        after > 10 * before,
        "{before} ns before the cache is full, {after} ns after"
    );
}

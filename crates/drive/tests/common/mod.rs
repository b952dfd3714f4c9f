//! Small drives and request replay for the tests.

#![allow(dead_code, reason = "each test file uses a part")]

use iostudy_drive::disk::parameters::{
    Bus, Cache, DiskParameters, Overhead, Overheads, Queue, ReadAheadEnd,
};
use iostudy_drive::disk::{Spares, Zone};
use iostudy_drive::{Completion, Drive, Nanos, Operation, Parameters, Request};

pub const MS: Nanos = 1_000_000;

fn zone(first_cylinder: u32, sectors: u32) -> Zone {
    Zone {
        first_cylinder,
        cylinders: 500,
        sectors,
        track_skew: f64::from(sectors) / 5.0,
        cylinder_skew: f64::from(sectors) / 4.0,
        offset: 0.0,
        reserved: 0,
        spares: Spares {
            sectors: 10,
            tracks: 8,
        },
    }
}

/// A drive of two zones, 1000 cylinders and 4 surfaces, at 10000 revolutions a minute.
pub fn disk() -> DiskParameters {
    DiskParameters {
        surfaces: 4,
        period: 6 * MS,
        capacity: u64::MAX,
        serpentine: false,
        zones: vec![zone(0, 300), zone(500, 200)],
        seek: vec![(1, MS), (100, 3 * MS), (999, 9 * MS)],
        head_switch: MS / 2,
        write_settle: 200_000,
        overheads: Overheads {
            read_miss: Overhead {
                after_read: 100_000,
                after_write: 100_000,
            },
            ..Overheads::default()
        },
        bus: Bus {
            block_time: 5_000,
            read_watermark: 0.0,
            holds_for_write: false,
        },
        cache: Cache {
            read_segments: 8,
            segment_blocks: 512,
            read_ahead: ReadAheadEnd::Segment,
            read_ahead_blocks: 512,
            read_ahead_replaces_request: true,
            read_ahead_after_hit: true,
            keep_passing_sectors: false,
            zero_latency_reads: false,
            zero_latency_writes: false,
            write_cache: true,
            write_blocks: 2048,
            write_extents: 64,
            written_segments: 0,
        },
        queue: Queue {
            depth: 32,
            age_limit: 200 * MS,
        },
        weak_regions: Vec::new(),
        shingling: None,
    }
}

pub fn drive(parameters: DiskParameters) -> Drive {
    Drive::new(Parameters::Disk(parameters))
}

pub const fn request(id: u64, operation: Operation, block: u64, blocks: u32) -> Request {
    Request {
        id,
        operation,
        block,
        blocks,
        fua: false,
    }
}

/// Next completion, at any time.
pub fn next(drive: &mut Drive) -> Completion {
    loop {
        let time = drive.next_event().expect("a request is in flight");
        if let Some(completion) = drive.complete(time) {
            return completion;
        }
    }
}

/// Submission and completion time of each request, with `depth` in flight.
pub fn replay(drive: &mut Drive, requests: &[Request], depth: usize) -> Vec<(Nanos, Nanos)> {
    let mut times = vec![(0, 0); requests.len()];
    let mut now = 0;
    let complete = |drive: &mut Drive, times: &mut Vec<(Nanos, Nanos)>| {
        let completion = next(drive);
        times[usize::try_from(completion.id).expect("small")].1 = completion.at;
        completion.at
    };
    for (index, request) in requests.iter().enumerate() {
        while drive.in_flight() >= depth {
            now = complete(drive, &mut times).max(now);
        }
        drive.submit(now, *request).expect("a valid request");
        times[index].0 = now;
    }
    while drive.in_flight() > 0 {
        complete(drive, &mut times);
    }
    times
}

//! Behaviour of a flash drive: latencies, the SLC cache and steady state.

mod common;

use common::{MS, replay, request};
use iostudy_drive::flash::parameters::{FlashParameters, SlcCache};
use iostudy_drive::{Drive, Nanos, Operation, Parameters, Request};

const US: Nanos = 1_000;

fn flash() -> FlashParameters {
    FlashParameters {
        capacity: 131_072,
        channels: 2,
        dies: 2,
        page_bytes: 16_384,
        pages: 64,
        unit_bytes: 4096,
        over_provisioning: 0.07,
        read: 60 * US,
        program: 600 * US,
        erase: 3 * MS,
        page_transfer: 14 * US,
        block_transfer: 160,
        command: 8 * US,
        buffer_bytes: 1 << 20,
        protected_buffer: false,
        slc: None,
        depth: 64,
    }
}

fn writes(count: u64, stride: u64) -> Vec<Request> {
    (0..count)
        .map(|id| request(id, Operation::Write, id * stride * 8 % 131_072, 8))
        .collect()
}

fn run(parameters: FlashParameters, requests: &[Request], depth: usize) -> Vec<(Nanos, Nanos)> {
    replay(
        &mut Drive::new(Parameters::Flash(parameters)),
        requests,
        depth,
    )
}

/// Writes of random units: the multiplier is that of Knuth's MMIX generator.
fn random_writes(count: u64) -> Vec<Request> {
    let drawn = |id: u64| id.wrapping_mul(6_364_136_223_846_793_005) >> 33;
    (0..count)
        .map(|id| request(id, Operation::Write, drawn(id * id + 1) % 16_384 * 8, 8))
        .collect()
}

#[test]
fn a_read_costs_command_page_and_transfers() {
    let two = [
        request(0, Operation::Write, 0, 32),
        request(1, Operation::Read, 0, 8),
    ];
    let mut drive = Drive::new(Parameters::Flash(flash()));
    drive.submit(0, two[0]).expect("room");
    drive.submit(100 * MS, two[1]).expect("room");
    drive.complete(99 * MS).expect("the write");
    let read = drive.complete(200 * MS).expect("the read").at - 100 * MS;
    assert_eq!(read, 8 * US + 60 * US + 14 * US + 8 * 160);
}

#[test]
fn a_read_of_unwritten_blocks_skips_the_flash() {
    let times = run(flash(), &[request(0, Operation::Read, 0, 8)], 1);
    assert_eq!(times[0].1, 8 * US + 8 * 160);
}

#[test]
fn random_writes_slow_down_when_erased_blocks_run_out() {
    let count = 60_000;
    let times = run(flash(), &random_writes(count), 32);
    let first = times[9_999].1;
    let last = times[59_999].1 - times[49_999].1;
    assert!(
        last > 2 * first,
        "{first} ns for the first 10000 writes, {last} ns for the last"
    );
}

#[test]
fn writes_slow_down_when_the_slc_cache_is_full() {
    let slc = SlcCache {
        bytes: 16 << 20,
        program: 200 * US,
        idle: 100 * MS,
    };
    let parameters = FlashParameters {
        slc: Some(slc),
        ..flash()
    };
    let times = run(parameters, &writes(12_288, 1), 32);
    let first = times[4_000].1 - times[1_000].1;
    let last = times[12_000].1 - times[9_000].1;
    assert!(
        last > 2 * first,
        "{first} ns in the cache, {last} ns after it"
    );
}

#[test]
fn a_flush_waits_for_programs_unless_the_buffer_is_protected() {
    let requests = [
        request(0, Operation::Write, 0, 32),
        request(1, Operation::Flush, 0, 0),
    ];
    let response = |protected_buffer| {
        let parameters = FlashParameters {
            protected_buffer,
            ..flash()
        };
        let times = run(parameters, &requests, 1);
        times[1].1 - times[1].0
    };
    assert!(response(false) > 500 * US);
    assert_eq!(response(true), 8 * US);
}

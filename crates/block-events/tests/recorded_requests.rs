//! Test with pages that Linux 6.18 recorded for a loop device on two CPUs, against the device's
//! counters in `/sys/block/loop1/stat`.

use std::collections::BTreeMap;

use iostudy_block_events::decoder::{Decoder, TraceEntry};
use iostudy_block_events::event::{EVENTS, Layout, Operation};
use iostudy_block_events::matching::{Matcher, RequestStatistics, Requests};
use iostudy_block_events::page::PageFormat;

const LOOP1: u32 = (7 << 20) | 1;
const SECTOR_BYTES: u64 = 512;
const READS: u64 = 136;
const SECTORS_READ: u64 = 5008;
/// Including one request per pure flush.
const WRITES: u64 = 49;
const SECTORS_WRITTEN: u64 = 2816;
const DISCARDS: u64 = 1;
const SECTORS_DISCARDED: u64 = 2048;
const FLUSHES: u64 = 10;

fn decoder() -> Decoder<Layout> {
    let texts = [
        include_str!("recorded/block_rq_issue.format"),
        include_str!("recorded/block_rq_requeue.format"),
        include_str!("recorded/block_rq_complete.format"),
    ];
    let layouts = EVENTS
        .iter()
        .zip(texts)
        .map(|((_, step), text)| Layout::parse(*step, text).unwrap());
    let format = PageFormat::parse(include_str!("recorded/header_page")).unwrap();
    Decoder::new(format, layouts.collect())
}

fn result() -> RequestStatistics {
    let decoder = decoder();
    let mut entries = Vec::new();
    let processors: [&[u8]; 2] = [
        include_bytes!("recorded/cpu0.pages"),
        include_bytes!("recorded/cpu1.pages"),
    ];
    for page in processors
        .iter()
        .flat_map(|pages| pages.chunks(decoder.page_bytes()))
    {
        decoder.decode(page, 0, &mut entries).unwrap();
    }
    entries.sort_by_key(TraceEntry::at);
    let mut matcher = Matcher::default();
    for entry in entries {
        match entry {
            TraceEntry::Event(event) => matcher.add(&event),
            TraceEntry::Lost(at) => panic!("nothing was lost before {at}"),
        }
    }
    matcher.finish()
}

fn count_and_sectors(requests: &Requests) -> (u64, u64) {
    let bytes = |sizes: &BTreeMap<u64, u64>| sizes.iter().map(|(bytes, count)| bytes * count).sum();
    let total: u64 = bytes(&requests.sizes);
    (requests.latencies.len(), total / SECTOR_BYTES)
}

#[test]
fn requests_and_sectors_are_those_that_the_kernel_has_counted() {
    let found = result();
    let of = |operation| count_and_sectors(&found.requests[&(LOOP1, operation)]);
    assert_eq!(of(Operation::Read), (READS, SECTORS_READ));
    assert_eq!(of(Operation::Write), (WRITES - FLUSHES, SECTORS_WRITTEN));
    assert_eq!(of(Operation::Discard), (DISCARDS, SECTORS_DISCARDED));
    assert_eq!(of(Operation::Flush), (FLUSHES, 0));
    assert_eq!(found.requests.len(), 4);
}

#[test]
fn every_request_has_both_its_ends() {
    let found = result();
    assert_eq!(
        (found.unmatched_completions, found.unmatched_issues),
        (0, 0)
    );
}

/// First two reads and first write of the recording, according to the kernel's text trace.
#[test]
fn times_are_those_that_the_kernel_prints() {
    let decoder = decoder();
    let mut entries = Vec::new();
    let page = &include_bytes!("recorded/cpu0.pages")[..decoder.page_bytes()];
    decoder.decode(page, 0, &mut entries).unwrap();
    let microseconds: Vec<u64> = entries
        .iter()
        .take(3)
        .map(|entry| (entry.at() + 500) / 1000)
        .collect();
    assert_eq!(microseconds, [1_537_214_835, 1_537_218_345, 1_537_218_366]);
}

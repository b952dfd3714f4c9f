//! Tests of content generation and verification.

use std::collections::HashSet;

use iostudy_pattern::{Content, Layout, Order, Record, RecordSequence};
use proptest::prelude::*;

const BLOCK: usize = 4096;
const MIB: usize = 1 << 20;

/// The records of a file from start to end.
fn sequential(bytes: u64, record_bytes: usize) -> impl Iterator<Item = Record> {
    let layout = Layout {
        files: 1,
        begin: 0,
        bytes,
        record_bytes,
    };
    let record_sequence = RecordSequence::new(layout, Order::Sequential, 0);
    (0..record_sequence.pass()).map(move |index| record_sequence.at(index).1)
}

/// A whole file, made record by record.
fn file(seed: u64, index: u64, file_bytes: usize, record_bytes: usize) -> Vec<u8> {
    let mut content = Content::new(seed, 0.0, record_bytes).unwrap();
    let records = sequential(file_bytes as u64, record_bytes);
    records
        .flat_map(|record| content.record(index, record).to_vec())
        .collect()
}

fn first_difference(seed: u64, index: u64, data: &[u8]) -> Option<u64> {
    Content::new(seed, 0.0, 0)
        .unwrap()
        .first_difference(index, 0, data)
}

#[test]
fn records_at_page_boundaries_lie_at_page_boundaries_in_memory() {
    let mut content = Content::new(1, 0.0, 3 * BLOCK).unwrap();
    for record in sequential(5 * MIB as u64, 3 * BLOCK) {
        assert_eq!(content.record(0, record).as_ptr().addr() % BLOCK, 0);
    }
}

#[test]
fn no_two_blocks_are_equal_in_a_file_or_among_files_and_seeds() {
    let files = [
        file(1, 0, 4 * MIB, MIB),
        file(1, 1, 4 * MIB, MIB),
        file(2, 0, 4 * MIB, MIB),
    ];
    let blocks: HashSet<&[u8]> = files.iter().flat_map(|file| file.chunks(BLOCK)).collect();
    assert_eq!(blocks.len(), 3 * 4 * MIB / BLOCK);
}

#[test]
fn a_record_longer_than_the_pool_is_one_piece() {
    let whole = file(7, 3, 5 * MIB + 123, 5 * MIB + 123);
    assert_eq!(whole, file(7, 3, 5 * MIB + 123, MIB));
}

#[test]
fn data_of_another_seed_or_file_differ_from_the_first_byte() {
    let data = file(1, 0, 4 * BLOCK, BLOCK);
    assert_eq!(first_difference(1, 0, &data), None);
    assert_eq!(first_difference(2, 0, &data), Some(0));
    assert_eq!(first_difference(1, 1, &data), Some(0));
}

#[test]
fn a_swapped_block_is_found_where_it_begins() {
    let mut data = file(1, 0, 8 * BLOCK, BLOCK);
    let (head, tail) = data.split_at_mut(5 * BLOCK);
    head[3 * BLOCK..4 * BLOCK].swap_with_slice(&mut tail[..BLOCK]);
    assert_eq!(first_difference(1, 0, &data), Some(3 * BLOCK as u64));
}

#[test]
fn a_block_in_its_place_in_the_pool_but_not_in_the_file_is_found() {
    let mut data = file(1, 0, 2 * MIB, MIB);
    data.copy_within(..BLOCK, MIB);
    assert_eq!(first_difference(1, 0, &data), Some(MIB as u64));
}

#[test]
fn every_64th_block_is_compared_in_full() {
    let mut data = file(1, 0, MIB, MIB);
    data[64 * BLOCK + 4095] ^= 1;
    assert_eq!(
        first_difference(1, 0, &data),
        Some(64 * BLOCK as u64 + 4095)
    );
}

#[test]
fn a_share_of_every_block_is_zeros_and_still_no_two_are_equal() {
    let mut content = Content::new(1, 0.75, MIB).unwrap();
    let data = content
        .record(
            0,
            Record {
                offset: 0,
                len: MIB,
            },
        )
        .to_vec();
    for block in data.chunks(BLOCK) {
        assert!(block[BLOCK / 4..].iter().all(|byte| *byte == 0));
        assert!(!block[..BLOCK / 4].windows(8).any(|bytes| bytes == [0; 8]));
    }
    let blocks: HashSet<&[u8]> = data.chunks(BLOCK).collect();
    assert_eq!(blocks.len(), MIB / BLOCK);
    assert_eq!(content.first_difference(0, 0, &data), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_bytes_of_a_range_do_not_depend_on_the_record_size(
        seed: u64,
        index in 0_u64..5,
        start in 0_u64..3 * MIB as u64,
        len in 1_usize..40_000,
        record_bytes in 1_usize..30_000,
    ) {
        let whole = Content::new(seed, 0.0, len).unwrap().record(index, Record { offset: start, len }).to_vec();
        let mut content = Content::new(seed, 0.0, record_bytes).unwrap();
        let mut pieces = Vec::new();
        for Record { offset, len } in sequential(len as u64, record_bytes) {
            pieces.extend_from_slice(content.record(index, Record { offset: start + offset, len }));
        }
        prop_assert_eq!(&whole, &pieces);
        prop_assert_eq!(content.first_difference(index, start, &whole), None);
    }

    #[test]
    fn any_flipped_byte_of_a_stamp_is_found_whatever_the_record_size(
        seed: u64,
        block in 0_usize..100,
        byte in 0_usize..16,
        bit in 0_u8..8,
        record_bytes in 1_usize..9000,
    ) {
        let mut data = file(seed, 0, 100 * BLOCK, BLOCK);
        let flipped = block * BLOCK + byte;
        data[flipped] ^= 1 << bit;
        let content = Content::new(seed, 0.0, 0).unwrap();
        let found = data
            .chunks(record_bytes)
            .zip((0_u64..).step_by(record_bytes))
            .find_map(|(record, offset)| content.first_difference(0, offset, record));
        prop_assert_eq!(found, Some(flipped as u64));
    }

    #[test]
    fn a_zeroed_block_is_found(seed: u64, block in 0_usize..32) {
        let mut data = file(seed, 0, 32 * BLOCK, BLOCK);
        data[block * BLOCK..][..BLOCK].fill(0);
        let found = first_difference(seed, 0, &data).unwrap();
        let start = (block * BLOCK) as u64;
        // A stamp may begin with a byte that is zero anyway.
        prop_assert!((start..start + 16).contains(&found));
    }
}

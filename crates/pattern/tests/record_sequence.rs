//! Tests of access orders.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;

use iostudy_pattern::{Layout, Order, Record, RecordSequence};
use proptest::prelude::*;

const STEP: NonZeroU64 = NonZeroU64::new(3).unwrap();

fn layout(files: usize, bytes: u64, record_bytes: usize) -> Layout {
    Layout {
        files,
        begin: 0,
        bytes,
        record_bytes,
    }
}

fn offsets(order: Order, bytes: u64) -> Vec<u64> {
    let record_sequence = RecordSequence::new(layout(1, bytes, 1), order, 7);
    (0..record_sequence.pass())
        .map(|index| record_sequence.at(index).1.offset)
        .collect()
}

#[test]
fn orders_are_what_their_names_say() {
    assert_eq!(offsets(Order::Sequential, 5), [0, 1, 2, 3, 4]);
    assert_eq!(offsets(Order::Reverse, 5), [4, 3, 2, 1, 0]);
    assert_eq!(
        offsets(Order::Strided { step: STEP }, 8),
        [0, 3, 6, 1, 4, 7, 2, 5]
    );
    assert_eq!(offsets(Order::Skip { step: STEP }, 8), [0, 3, 6]);
}

#[test]
fn the_last_record_is_short_and_every_file_has_its_turn() {
    let record_sequence = RecordSequence::new(
        Layout {
            begin: 100,
            ..layout(2, 10, 4)
        },
        Order::Sequential,
        0,
    );
    let found: Vec<_> = (0..record_sequence.pass())
        .map(|index| record_sequence.at(index))
        .collect();
    let record = |offset, len| Record { offset, len };
    let file = [record(100, 4), record(104, 4), record(108, 2)];
    let expected: Vec<_> = [0, 1].iter().flat_map(|f| file.map(|r| (*f, r))).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_pass_of_random_records_is_another_one_each_time() {
    let record_sequence = RecordSequence::new(layout(1, 1000, 1), Order::Random, 7);
    let pass = |number: u64| -> Vec<u64> {
        (0..1000)
            .map(|index| record_sequence.at(number * 1000 + index).1.offset)
            .collect()
    };
    assert_ne!(pass(0), pass(1));
    assert_eq!(pass(0).iter().collect::<HashSet<_>>().len(), 1000);
    let neighbours = pass(0)
        .windows(2)
        .filter(|pair| pair[1] == pair[0] + 1)
        .count();
    assert!(
        neighbours < 20,
        "{neighbours} of 1000 follow their neighbour"
    );
}

#[test]
fn random_records_are_spread_evenly_over_the_file_at_every_moment() {
    let record_sequence = RecordSequence::new(layout(1, 1 << 20, 1), Order::Random, 11);
    let mut counts = [0_u32; 16];
    for index in 0..16_000 {
        counts[usize::try_from(record_sequence.at(index).1.offset >> 16).unwrap()] += 1;
    }
    // Each is a hypergeometric count with mean 1000 and a standard deviation of about 30.
    assert!(
        counts.iter().all(|count| (850..1150).contains(count)),
        "{counts:?}"
    );
}

#[test]
fn zipf_takes_the_most_frequent_as_often_as_the_law_has_it() {
    let record_sequence = RecordSequence::new(layout(1, 1000, 1), Order::Zipf { exponent: 1.0 }, 3);
    let mut counts: HashMap<u64, f64> = HashMap::new();
    let draws = 200_000;
    for index in 0..draws {
        *counts
            .entry(record_sequence.at(index).1.offset)
            .or_default() += 1.0;
    }
    let mut sorted: Vec<f64> = counts.into_values().collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let harmonic: f64 = (1..=1000).map(|rank| 1.0 / f64::from(rank)).sum();
    let expected = 200_000.0 / harmonic;
    assert!(
        (sorted[0] / expected - 1.0).abs() < 0.05,
        "{} {expected}",
        sorted[0]
    );
    assert!((sorted[9] / (expected / 10.0) - 1.0).abs() < 0.1);
}

proptest! {
    #[test]
    fn a_pass_takes_every_byte_once(
        files in 1_usize..4,
        bytes in 1_u64..5000,
        record_bytes in 1_usize..300,
        seed: u64,
        order in prop_oneof![
            Just(Order::Sequential),
            Just(Order::Reverse),
            Just(Order::Random),
            (1_u64..50).prop_map(|step| Order::Strided { step: NonZeroU64::new(step).unwrap() }),
        ],
    ) {
        let record_sequence = RecordSequence::new(layout(files, bytes, record_bytes), order, seed);
        let mut covered = vec![vec![false; usize::try_from(bytes).unwrap()]; files];
        for index in 0..record_sequence.pass() {
            let (file, Record { offset, len }) = record_sequence.at(index);
            let start = usize::try_from(offset).unwrap();
            for byte in &mut covered[file][start..start + len] {
                prop_assert!(!*byte);
                *byte = true;
            }
        }
        prop_assert!(covered.iter().flatten().all(|byte| *byte));
    }

    #[test]
    fn the_records_of_zipf_are_records(bytes in 1_u64..500, exponent in 0.1_f64..3.0, index: u64) {
        let record_sequence = RecordSequence::new(layout(1, bytes, 1), Order::Zipf { exponent }, 5);
        prop_assert!(record_sequence.at(index).1.offset < bytes);
    }
}

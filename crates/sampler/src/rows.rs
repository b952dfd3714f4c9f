//! Delta-encoded rows within bounded memory.

use std::iter::repeat;

use integer_encoding::VarInt;

use crate::process::Process;

/// Maximum encoded size before thinning. With 40 active devices a row takes about 1.5 KB, so the
/// first thinning comes after about five minutes at 10 Hz.
const MAX_ENCODED_BYTES: usize = 4 << 20;

/// Samples of a [`crate::Reader`] as columns of equal length.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Samples {
    /// `CLOCK_MONOTONIC` at each sample, in nanoseconds.
    pub at: Vec<u64>,
    /// Columns by name; `None` where the value was missing.
    pub columns: Vec<(String, Vec<Option<u64>>)>,
    /// Busiest processes of the workload and others, bounded in number.
    pub processes: Vec<Process>,
}

/// Rows with bounded size. When they exceed the limit, every second row is dropped and the sampling
/// stride doubles. The resolution is halved, but both ends are kept, unlike in a ring buffer.
#[derive(Debug)]
pub(crate) struct Rows {
    encoded: Vec<u8>,
    count: usize,
    /// Last encoded row, with its time first.
    last: Vec<u64>,
    stride: u32,
    max_bytes: usize,
}

impl Default for Rows {
    fn default() -> Self {
        Self::with_max_bytes(MAX_ENCODED_BYTES)
    }
}

impl Rows {
    fn with_max_bytes(max_bytes: usize) -> Self {
        Self {
            encoded: Vec::new(),
            count: 0,
            last: Vec::new(),
            stride: 1,
            max_bytes,
        }
    }

    /// Thinning factor: one in this many samples is kept.
    pub(crate) fn stride(&self) -> u32 {
        self.stride
    }

    /// Append a row with its time in nanoseconds. Later rows may be longer.
    pub(crate) fn push(&mut self, at: u64, row: &[Option<u64>]) {
        self.encode(at, row);
        while self.encoded.len() > self.max_bytes && self.count > 2 {
            self.thin();
        }
    }

    fn encode(&mut self, at: u64, row: &[Option<u64>]) {
        self.last.resize(self.last.len().max(row.len() + 1), 0);
        put(&mut self.encoded, row.len() as u64);
        put_difference(&mut self.encoded, &mut self.last[0], at);
        for values in row.chunks(8) {
            let there = (0..)
                .zip(values)
                .map(|(bit, value)| u8::from(value.is_some()) << bit);
            self.encoded.push(there.sum());
        }
        for (last, value) in self.last[1..].iter_mut().zip(row) {
            if let Some(value) = value {
                put_difference(&mut self.encoded, last, *value);
            }
        }
        self.count += 1;
    }

    /// Drop every second row. The newest one always stays.
    ///
    /// Values of infrequent sources may exist only in dropped rows. They move to the next row where
    /// it has none. This delays them by less than one row, and counters still never decrease.
    fn thin(&mut self) {
        let mut thinned = Self {
            stride: 2 * self.stride,
            ..Self::with_max_bytes(self.max_bytes)
        };
        let newest = self.count - 1;
        let mut index = 0;
        let mut given_up = Vec::new();
        self.each(|at, row| {
            if index % 2 == 0 || index == newest {
                thinned.encode(at, &merged_row(row, &given_up));
                given_up.clear();
            } else {
                given_up.extend_from_slice(row);
            }
            index += 1;
        });
        *self = thinned;
    }

    /// Return the rows as columns.
    pub(crate) fn samples(&self, names: &[String]) -> Samples {
        let column = |name: &String| (name.clone(), Vec::with_capacity(self.count));
        let mut samples = Samples {
            at: Vec::with_capacity(self.count),
            columns: names.iter().map(column).collect(),
            processes: Vec::new(),
        };
        self.each(|at, row| {
            samples.at.push(at);
            for (index, (_, column)) in samples.columns.iter_mut().enumerate() {
                column.push(row.get(index).copied().flatten());
            }
        });
        samples
    }

    fn each(&self, mut take: impl FnMut(u64, &[Option<u64>])) {
        let mut rest = self.encoded.as_slice();
        let mut last = vec![0; self.last.len()];
        let mut row = Vec::new();
        while !rest.is_empty() {
            let width = usize::try_from(next(&mut rest)).expect("the encoding is valid");
            let at = next_difference(&mut rest, &mut last[0]);
            let (there, values) = rest.split_at(width.div_ceil(8));
            rest = values;
            row.clear();
            for index in 0..width {
                let is_there = there[index / 8] >> (index % 8) & 1 == 1;
                row.push(is_there.then(|| next_difference(&mut rest, &mut last[index + 1])));
            }
            take(at, &row);
        }
    }
}

/// Fill the missing values of a row from an earlier, possibly shorter one.
fn merged_row(row: &[Option<u64>], before: &[Option<u64>]) -> Vec<Option<u64>> {
    let before = before.iter().copied().chain(repeat(None));
    row.iter()
        .zip(before)
        .map(|(own, before)| own.or(before))
        .collect()
}

fn put(encoded: &mut Vec<u8>, value: u64) {
    let mut buffer = [0; 10];
    let len = value.encode_var(&mut buffer);
    encoded.extend_from_slice(&buffer[..len]);
}

fn next(rest: &mut &[u8]) -> u64 {
    let (value, len) = u64::decode_var(rest).expect("the encoding is valid");
    *rest = &rest[len..];
    value
}

/// Differences use zigzag encoding, so that decreasing gauges are cheap too.
fn put_difference(encoded: &mut Vec<u8>, last: &mut u64, value: u64) {
    let mut buffer = [0; 10];
    let difference = i64::from_ne_bytes(value.wrapping_sub(*last).to_ne_bytes());
    let len = difference.encode_var(&mut buffer);
    encoded.extend_from_slice(&buffer[..len]);
    *last = value;
}

fn next_difference(rest: &mut &[u8], last: &mut u64) -> u64 {
    let (difference, len) = i64::decode_var(rest).expect("the encoding is valid");
    *rest = &rest[len..];
    *last = last.wrapping_add_signed(difference);
    *last
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|index| index.to_string()).collect()
    }

    fn found(rows: &Rows, width: usize) -> Vec<(u64, Vec<Option<u64>>)> {
        let samples = rows.samples(&names(width));
        let row = |index: usize| samples.columns.iter().map(|(_, all)| all[index]).collect();
        (0..samples.at.len())
            .map(|index| (samples.at[index], row(index)))
            .collect()
    }

    #[test]
    fn beyond_the_room_every_second_row_goes_but_neither_first_nor_last() {
        let mut rows = Rows::with_max_bytes(200);
        let mut at = 0;
        while at < 1000 {
            rows.push(at, &[Some(at * at), None]);
            let kept = found(&rows, 2);
            assert_eq!(kept[0], (0, vec![Some(0), None]));
            assert_eq!(*kept.last().unwrap(), (at, vec![Some(at * at), None]));
            at += u64::from(rows.stride());
        }
        assert!(rows.stride() > 1);
        assert!(rows.encoded.len() <= 200);
    }

    #[test]
    fn values_of_dropped_rows_move_to_the_next_row_unless_it_has_one() {
        let mut rows = Rows::default();
        rows.push(0, &[Some(0)]);
        rows.push(1, &[Some(1), Some(10)]);
        rows.push(2, &[Some(2), None]);
        rows.push(3, &[Some(3), Some(30)]);
        rows.push(4, &[Some(4), Some(40)]);
        rows.push(5, &[Some(5), None]);
        rows.thin();
        let expected = [
            (0, vec![Some(0), None]),
            (2, vec![Some(2), Some(10)]),
            (4, vec![Some(4), Some(40)]),
            (5, vec![Some(5), None]),
        ];
        assert_eq!(found(&rows, 2), expected);
    }

    #[test]
    fn what_is_read_now_and_then_is_known_in_the_older_half_too() {
        let mut rows = Rows::with_max_bytes(400);
        for at in 0..200 {
            let reading = (at % 10 == 9).then_some(at);
            rows.push(at, &[Some(at), reading]);
        }
        assert!(rows.stride() > 1);
        let kept = found(&rows, 2);
        let known = kept.iter().filter_map(|(at, row)| Some((at, row[1]?)));
        let lags: Vec<u64> = known.clone().map(|(at, reading)| at - reading).collect();
        assert!(
            lags.iter().all(|lag| *lag < u64::from(rows.stride())),
            "{lags:?}"
        );
        let older = known.filter(|(at, _)| **at < 100).count();
        assert!(older >= 6, "{kept:?}");
    }

    proptest! {
        #[test]
        fn earlier_rows_lack_the_columns_added_later(
            pushed in proptest::collection::vec(
                (any::<u64>(), proptest::collection::vec(any::<Option<u64>>(), 0..20)), 0..20),
        ) {
            let mut pushed = pushed;
            pushed.sort_by_key(|(_, row)| row.len());
            let mut rows = Rows::default();
            for (at, row) in &pushed {
                rows.push(*at, row);
            }
            for (_, row) in &mut pushed {
                row.resize(20, None);
            }
            prop_assert_eq!(found(&rows, 20), pushed);
        }
    }
}

//! Order of the calls of a merge of sorted runs.

use iostudy_pattern::{Record, nth};
use iostudy_schedulers::Nanos;
use iostudy_simulator::{Kind, Operation};

/// Number of uniform numbers in a nearly normal sum.
const UNIFORMS: u64 = 12;

/// A run to merge.
pub struct Run {
    /// Its file.
    pub file: usize,
    /// Read calls, in their order.
    pub calls: Vec<Record>,
    /// Rows or words.
    pub items: u64,
}

/// A merge of runs with keys of the same distribution into one file.
pub struct Merge {
    /// The runs.
    pub runs: Vec<Run>,
    /// File of the output.
    pub output: usize,
    /// Write calls, in their order.
    pub writes: Vec<Record>,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Processor time of the whole merge.
    pub compute: Nanos,
    /// Seed of the differences between the runs.
    pub seed: u64,
}

impl Merge {
    /// All calls in their order, with the processor time after each.
    ///
    /// A run is read again when its rows are used up. Of runs with keys of one distribution, the
    /// share that is used up at a time differs as the order statistics of uniform numbers do.
    pub fn operations(&self) -> Vec<Operation> {
        let mut calls: Vec<(f64, Operation)> = Vec::new();
        for (number, run) in self.runs.iter().enumerate() {
            let seed = nth(self.seed, number as u64);
            let times = used_up(run, seed);
            let reads = run.calls.iter().zip(times);
            calls.extend(reads.map(|(call, at)| (at, self.call(Kind::Read, run.file, *call))));
        }
        let ends = shares(&self.writes);
        let writes = self.writes.iter().zip(ends);
        calls.extend(writes.map(|(call, at)| (at, self.call(Kind::Write, self.output, *call))));
        calls.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        self.compute_between(calls)
    }

    fn call(&self, kind: Kind, file: usize, record: Record) -> Operation {
        Operation {
            direct: self.direct,
            ..Operation::call(kind, file, record)
        }
    }

    fn compute_between(&self, calls: Vec<(f64, Operation)>) -> Vec<Operation> {
        let times: Vec<f64> = calls.iter().map(|(at, _)| *at).collect();
        let next = times.iter().skip(1).chain([&1.0]);
        let pauses = times.iter().zip(next).map(|(at, next)| next - at);
        let pauses: Vec<Nanos> = pauses.map(|share| part(self.compute, share)).collect();
        let operations = calls.into_iter().zip(pauses);
        operations
            .map(|((_, operation), then)| Operation { then, ..operation })
            .collect()
    }
}

/// Part of a time.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares of times of hours"
)]
fn part(time: Nanos, share: f64) -> Nanos {
    (time as f64 * share.max(0.0)) as Nanos
}

/// Share of all bytes at the end of each call.
#[expect(clippy::cast_precision_loss, reason = "below 2^52")]
fn shares(calls: &[Record]) -> Vec<f64> {
    let all: usize = calls.iter().map(|call| call.len).sum();
    let mut done = 0;
    let share = |call: &Record| {
        done += call.len;
        done as f64 / all as f64
    };
    calls.iter().map(share).collect()
}

/// Share of the merge at which each call of a run is made.
#[expect(clippy::cast_precision_loss, reason = "below 2^52")]
fn used_up(run: &Run, seed: u64) -> Vec<f64> {
    let mut latest = 0.0;
    let begins = [0.0].into_iter().chain(shares(&run.calls));
    let at = |(call, share): (usize, f64)| {
        let spread = (share * (1.0 - share) / run.items.max(1) as f64).sqrt();
        let moved = share + spread * normal(nth(seed, call as u64));
        latest = moved.clamp(latest, 1.0);
        latest
    };
    begins.take(run.calls.len()).enumerate().map(at).collect()
}

/// A number of mean 0 and standard deviation 1.
#[expect(clippy::cast_precision_loss, reason = "random numbers")]
fn normal(seed: u64) -> f64 {
    let uniform = |index| nth(seed, index) as f64 / u64::MAX as f64;
    (0..UNIFORMS).map(uniform).sum::<f64>() - UNIFORMS as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(number: u64) -> Vec<Record> {
        let call = |index| Record {
            offset: index * 1000,
            len: 1000,
        };
        (0..number).map(call).collect()
    }

    #[test]
    fn every_call_is_made_once_and_runs_are_used_up_together() {
        let merge = Merge {
            runs: (1..=3)
                .map(|file| Run {
                    file,
                    calls: calls(10),
                    items: 10_000,
                })
                .collect(),
            output: 0,
            writes: calls(30),
            direct: false,
            compute: 1_000_000,
            seed: 1,
        };
        let operations = merge.operations();
        for file in 0..4 {
            let own: Vec<u64> = operations
                .iter()
                .filter(|operation| operation.file == file)
                .map(|operation| operation.pieces[0].offset)
                .collect();
            assert_eq!(own.len(), if file == 0 { 30 } else { 10 });
            assert!(own.is_sorted());
        }
        // The first call of every run comes first, and the last one is not before 85 % of the writes.
        assert!(operations[..3].iter().all(|call| call.kind == Kind::Read));
        let last = operations.iter().rposition(|call| call.kind == Kind::Read);
        let written = operations[..last.unwrap()].iter();
        assert!(written.filter(|call| call.kind == Kind::Write).count() >= 26);
        let compute: u64 = operations.iter().map(|call| call.then).sum();
        assert!((999_000..=1_000_000).contains(&compute), "{compute}");
    }
}

//! /proc/loadavg: number of runnable and blocked tasks; see proc(5).

use crate::columns::Source;
use crate::columns::{Column, Columns};
use crate::proc_file::{ProcFile, fields, number};

/// One-minute load in hundredths, running tasks, and all tasks.
const COUNTERS: [&str; 3] = ["one_hundredths", "running", "tasks"];

/// `load.COUNTER`.
pub(super) struct Loadavg {
    file: ProcFile,
    counters: [Column; COUNTERS.len()],
}

impl Loadavg {
    pub(super) fn open(columns: &mut Columns) -> Option<Self> {
        Some(Self {
            file: ProcFile::open("/proc/loadavg").ok()?,
            counters: columns.group("load", &COUNTERS),
        })
    }
}

impl Source for Loadavg {
    fn sample(&mut self, columns: &mut Columns) {
        if let Some(values) = self.file.read_lines().ok().and_then(parse) {
            columns.put_all(&self.counters, &values);
        }
    }
}

/// `None` if the format is unknown.
fn parse(text: &[u8]) -> Option<[u64; COUNTERS.len()]> {
    let mut fields = fields(text);
    let (whole, hundredths) = halves(fields.next()?, b'.')?;
    let one_hundredths = whole.checked_mul(100)?.checked_add(hundredths)?;
    let (running, tasks) = halves(fields.nth(2)?, b'/')?;
    (hundredths < 100).then_some([one_hundredths, running, tasks])
}

fn halves(field: &[u8], separator: u8) -> Option<(u64, u64)> {
    let at = field.iter().position(|&byte| byte == separator)?;
    Some((number(&field[..at])?, number(&field[at + 1..])?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_column_has_a_value_on_this_machine() {
        let mut columns = Columns::default();
        Loadavg::open(&mut columns).unwrap().sample(&mut columns);
        assert!(columns.row().iter().all(Option::is_some));
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(
            load in 0..u64::MAX / 100, part in 0_u64..100, running: u32, tasks: u32,
        ) {
            let text = format!("{load}.{part:02} 0.10 0.05 {running}/{tasks} 11206\n");
            let expected = [load * 100 + part, running.into(), tasks.into()];
            prop_assert_eq!(parse(text.as_bytes()), Some(expected));
        }

        #[test]
        fn nothing_makes_it_panic(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = parse(&text);
        }
    }
}

//! /proc/stat: CPU time per state, of each CPU and in total; see proc(5).

use crate::columns::Source;
use crate::columns::{Column, Columns};
use crate::line_cache::LineCache;
use crate::proc_file::{ProcFile, fields, number};

/// CPU states in the kernel's order.
const STATES: [&str; 8] = [
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
];
const IDLE: usize = 3;
const IOWAIT: usize = 4;
const STEAL: usize = 7;

/// Columns per CPU: busy, idle, stolen by the hypervisor.
const SHARES: [&str; 3] = ["busy", "idle", "steal"];

/// Clock ticks of [`STATES`].
type Ticks = [u64; STATES.len()];

/// Parsed line.
#[derive(Debug, PartialEq, Eq)]
enum Line<'a> {
    All(Ticks),
    One(&'a str, Ticks),
    Running(u64),
    Blocked(u64),
}

/// Totals as `cpu.STATE`, CPUs as `cpu.N.SHARE`, in clock ticks; running and blocked tasks as
/// `tasks.running` and `tasks.blocked`.
pub(super) struct Stat {
    file: ProcFile,
    all: [Column; STATES.len()],
    tasks: [Column; 2],
    each: LineCache<[Column; SHARES.len()]>,
}

impl Stat {
    pub(super) fn open(columns: &mut Columns) -> Option<Self> {
        Some(Self {
            file: ProcFile::open("/proc/stat").ok()?,
            all: columns.group("cpu", &STATES),
            tasks: columns.group("tasks", &["running", "blocked"]),
            each: LineCache::new(),
        })
    }
}

impl Source for Stat {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read_lines() else {
            return;
        };
        let mut index = 0;
        for line in text.split(|&byte| byte == b'\n').filter_map(parse) {
            match line {
                Line::All(ticks) => columns.put_all(&self.all, &ticks),
                Line::Running(tasks) => columns.put(self.tasks[0], tasks),
                Line::Blocked(tasks) => columns.put(self.tasks[1], tasks),
                Line::One(name, ticks) => {
                    let new = || columns.group(&format!("cpu.{name}"), &SHARES);
                    let shares_of_one = self.each.at(index, name.as_bytes(), new);
                    columns.put_all(shares_of_one, &shares(&ticks));
                    index += 1;
                }
            }
        }
    }
}

/// `None` for other lines and unknown formats.
fn parse(line: &[u8]) -> Option<Line<'_>> {
    let mut fields = fields(line);
    let name = std::str::from_utf8(fields.next()?).ok()?;
    match name {
        "procs_running" => Some(Line::Running(number(fields.next()?)?)),
        "procs_blocked" => Some(Line::Blocked(number(fields.next()?)?)),
        _ => {
            let processor = name.strip_prefix("cpu")?;
            let mut ticks = Ticks::default();
            for tick in &mut ticks {
                *tick = number(fields.next()?)?;
            }
            Some(if processor.is_empty() {
                Line::All(ticks)
            } else {
                Line::One(processor, ticks)
            })
        }
    }
}

fn shares(ticks: &Ticks) -> [u64; SHARES.len()] {
    let idle = ticks[IDLE].wrapping_add(ticks[IOWAIT]);
    let steal = ticks[STEAL];
    let all = ticks
        .iter()
        .fold(0, |sum: u64, more| sum.wrapping_add(*more));
    [all.wrapping_sub(idle).wrapping_sub(steal), idle, steal]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_all_processors_and_each() {
        let all = b"cpu  10132153 290696 3084719 46828483 16683 0 25195 7 175628 0";
        let expected = [
            10_132_153, 290_696, 3_084_719, 46_828_483, 16683, 0, 25195, 7,
        ];
        assert_eq!(parse(all), Some(Line::All(expected)));
        let one = b"cpu12 1 2 3 4 5 6 7 8 9 10";
        assert_eq!(parse(one), Some(Line::One("12", [1, 2, 3, 4, 5, 6, 7, 8])));
        assert_eq!(shares(&[1, 2, 3, 4, 5, 6, 7, 8]), [19, 9, 8]);
    }

    #[test]
    fn reads_how_many_tasks_run_and_wait() {
        assert_eq!(parse(b"procs_running 3"), Some(Line::Running(3)));
        assert_eq!(parse(b"procs_blocked 1"), Some(Line::Blocked(1)));
        assert_eq!(parse(b"intr 1462898 0 0"), None);
        assert_eq!(parse(b"cpu0 1 2 3"), None);
    }

    #[test]
    fn every_processor_of_this_machine_has_its_columns() {
        let mut columns = Columns::default();
        Stat::open(&mut columns).unwrap().sample(&mut columns);
        assert!(columns.names().iter().any(|name| name == "cpu.0.busy"));
        assert!(columns.row().iter().all(Option::is_some));
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(ticks: [u64; 8], guest: u64) {
            let printed: Vec<String> = ticks.iter().map(ToString::to_string).collect();
            let line = format!("cpu  {} {guest} 0", printed.join(" "));
            prop_assert_eq!(parse(line.as_bytes()), Some(Line::All(ticks)));
        }

        #[test]
        fn nothing_makes_it_panic(line in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse(&line);
        }
    }
}

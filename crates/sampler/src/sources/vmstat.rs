//! /proc/vmstat: free, cached, dirty, written, reclaimed and swapped pages; see mm/vmstat.c.

use rustix::param::page_size;

use crate::columns::Source;
use crate::columns::{Column, Columns};
use crate::named_values::NamedValues;
use crate::proc_file::ProcFile;

/// The first six are current page counts, the others counters since boot.
const COUNTERS: [&str; 17] = [
    "nr_free_pages",
    "nr_file_pages",
    "nr_dirty",
    "nr_writeback",
    "nr_dirty_threshold",
    "nr_dirty_background_threshold",
    "nr_dirtied",
    "nr_written",
    "pgscan_direct",
    "pgscan_kswapd",
    "pgsteal_direct",
    "pgsteal_kswapd",
    "allocstall",
    "pswpin",
    "pswpout",
    "pgmajfault",
    "oom_kill",
];

/// Memory zones: some counters have a line per zone, depending on the kernel.
const ZONES: [&str; 6] = ["dma", "dma32", "normal", "high", "movable", "device"];

/// `vm.COUNTER` in pages or times, and the size of a page as `vm.page_kb`.
pub(super) struct Vmstat {
    file: ProcFile,
    counters: NamedValues<{ COUNTERS.len() }>,
    page_kb: Column,
}

impl Vmstat {
    pub(super) fn open(columns: &mut Columns) -> Option<Self> {
        Some(Self {
            file: ProcFile::open("/proc/vmstat").ok()?,
            counters: NamedValues::new(columns.group("vm", &COUNTERS), counter),
            page_kb: columns.get_or_add("vm.page_kb"),
        })
    }
}

impl Source for Vmstat {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read_lines() else {
            return;
        };
        let counters = self.counters.sums(text);
        self.counters.put(&counters, columns);
        columns.put(self.page_kb, page_size() as u64 / 1024);
    }
}

/// Index of the counter of a line, possibly for one zone.
fn counter(name: &[u8]) -> Option<usize> {
    let name = std::str::from_utf8(name).ok()?;
    COUNTERS.iter().position(|counter| {
        name.strip_prefix(counter).is_some_and(|rest| {
            rest.is_empty()
                || rest
                    .strip_prefix('_')
                    .is_some_and(|zone| ZONES.contains(&zone))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], spec: [&str; 6]) -> [Option<u64>; 6] {
        let mut columns = Columns::default();
        let mut named_values = NamedValues::new(columns.group("vm", &COUNTERS), counter);
        let counters = named_values.sums(text);
        named_values.put(&counters, &mut columns);
        spec.map(|name| {
            let index = columns.names().iter().position(|own| own[3..] == *name);
            columns.row()[index.expect("a counter")]
        })
    }

    const WANTED: [&str; 6] = [
        "nr_free_pages",
        "nr_dirty",
        "nr_dirty_threshold",
        "pgscan_direct",
        "allocstall",
        "oom_kill",
    ];

    #[test]
    fn what_several_kernels_show_is_read() {
        let rhel_6 = include_bytes!("../../../../tests/host/samples/vmstat-2.6.32");
        let rhel_7 = include_bytes!("../../../../tests/host/samples/vmstat-3.10");
        let rhel_8 = include_bytes!("../../../../tests/host/samples/vmstat-4.18");
        let newest = include_bytes!("../../../../tests/host/samples/vmstat-6.18");
        assert_eq!(
            read(rhel_6, WANTED),
            [
                Some(3_164_202),
                Some(310),
                Some(779_101),
                Some(40 + 2000),
                Some(17),
                None
            ]
        );
        assert_eq!(
            read(rhel_7, WANTED),
            [
                Some(1_120_447),
                Some(56),
                Some(382_131),
                Some(1 + 20 + 300),
                Some(5),
                None
            ]
        );
        assert_eq!(
            read(rhel_8, WANTED),
            [
                Some(6_120_331),
                Some(12),
                Some(801_423),
                Some(4711),
                Some(1 + 2 + 3),
                Some(4)
            ]
        );
        assert!(read(newest, WANTED).iter().all(Option::is_some));
    }

    #[test]
    fn counters_of_similar_names_are_distinguished() {
        assert_eq!(counter(b"pgscan_direct_throttle"), None);
        assert_eq!(counter(b"nr_free_pages_blocks"), None);
        assert_eq!(counter(b"nr_dirty"), Some(2));
        assert_eq!(counter(b"nr_dirty_threshold"), Some(4));
        assert_eq!(counter(b"pgsteal_kswapd_dma32"), counter(b"pgsteal_kswapd"));
    }

    #[test]
    fn every_column_has_a_value_on_this_machine() {
        let mut columns = Columns::default();
        Vmstat::open(&mut columns).unwrap().sample(&mut columns);
        assert!(columns.row().iter().all(Option::is_some));
    }
}

//! /proc/meminfo: memory size and use; see proc(5).

use crate::columns::Columns;
use crate::columns::Source;
use crate::named_values::NamedValues;
use crate::proc_file::ProcFile;

/// Column names and kernel names; `MemAvailable` came with 3.14.
const SIZES: [&str; 4] = ["total_kb", "available_kb", "cached_kb", "swap_free_kb"];
const LINES: [&[u8]; SIZES.len()] = [b"MemTotal", b"MemAvailable", b"Cached", b"SwapFree"];

/// `memory.SIZE`, in kB of 1024 bytes.
pub(super) struct Meminfo {
    file: ProcFile,
    sizes: NamedValues<{ SIZES.len() }>,
}

impl Meminfo {
    pub(super) fn open(columns: &mut Columns) -> Option<Self> {
        Some(Self {
            file: ProcFile::open("/proc/meminfo").ok()?,
            sizes: NamedValues::new(columns.group("memory", &SIZES), size),
        })
    }
}

impl Source for Meminfo {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read_lines() else {
            return;
        };
        let found = self.sizes.sums(text);
        self.sizes.put(&found, columns);
    }
}

fn size(name: &[u8]) -> Option<usize> {
    LINES.iter().position(|line| *line == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<Option<u64>> {
        let mut columns = Columns::default();
        let mut named_values = NamedValues::new(columns.group("memory", &SIZES), size);
        let found = named_values.sums(text);
        named_values.put(&found, &mut columns);
        columns.row().to_vec()
    }

    #[test]
    fn what_several_kernels_show_is_read() {
        let rhel_6 = include_bytes!("../../../../tests/host/samples/meminfo-2.6.32");
        let newest = include_bytes!("../../../../tests/host/samples/meminfo-6.18");
        assert_eq!(
            read(rhel_6),
            [Some(32_829_136), None, Some(19_472_060), Some(16_383_992)]
        );
        assert_eq!(
            read(newest),
            [Some(24_684_092), Some(22_740_868), Some(1_298_772), Some(0)]
        );
    }

    #[test]
    fn every_column_has_a_value_on_this_machine() {
        let mut columns = Columns::default();
        Meminfo::open(&mut columns).unwrap().sample(&mut columns);
        assert!(columns.row().iter().all(Option::is_some));
    }
}

//! Current CPU frequencies; see Documentation/admin-guide/pm/cpufreq.rst.

use std::path::{Path, PathBuf};

use super::numbered_entries::{number_in, numbered_entries};
use crate::columns::Source;
use crate::columns::{Column, Columns};

const PROCESSORS: &str = "devices/system/cpu";
const CURRENT: &str = "cpufreq/scaling_cur_freq";

/// `frequency.N.khz` of each processor with a frequency driver.
pub(super) struct Frequency {
    processors: Vec<(PathBuf, Column)>,
}

impl Frequency {
    /// `None` without a frequency driver, as in most virtual machines; `root` is /sys.
    pub(super) fn open(root: &Path, columns: &mut Columns) -> Option<Self> {
        let mut processors = Vec::new();
        for processor in numbered_entries(&root.join(PROCESSORS), "cpu") {
            let file = processor.join(CURRENT);
            if let Some(name) = processor.file_name()
                && number_in(&file).is_some()
            {
                let number = &name.to_string_lossy()["cpu".len()..];
                let column = columns.get_or_add(&format!("frequency.{number}.khz"));
                processors.push((file, column));
            }
        }
        (!processors.is_empty()).then_some(Self { processors })
    }
}

impl Source for Frequency {
    fn sample(&mut self, columns: &mut Columns) {
        for (file, column) in &self.processors {
            if let Some(khz) = number_in(file) {
                columns.put(*column, khz);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_processor_with_a_driver_is_sampled() {
        let root = tempfile::tempdir().unwrap();
        for (name, khz) in [("cpu0", "2400000\n"), ("cpu11", "3600000\n"), ("cpu2", "")] {
            let folder = root.path().join(PROCESSORS).join(name).join("cpufreq");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("scaling_cur_freq"), khz).unwrap();
        }
        let mut columns = Columns::default();
        let mut source = Frequency::open(root.path(), &mut columns).unwrap();
        source.sample(&mut columns);
        let mut found: Vec<_> = columns.names().iter().zip(columns.row()).collect();
        found.sort();
        assert_eq!(
            found,
            [
                (&"frequency.0.khz".to_owned(), &Some(2_400_000)),
                (&"frequency.11.khz".to_owned(), &Some(3_600_000)),
            ]
        );
    }

    #[test]
    fn a_machine_without_a_driver_has_no_source() {
        let root = tempfile::tempdir().unwrap();
        assert!(Frequency::open(root.path(), &mut Columns::default()).is_none());
    }
}

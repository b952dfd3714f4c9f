//! Temperatures and processors that were slowed because of them; see
//! Documentation/driver-api/thermal/sysfs-api.rst and the kernel's
//! `drivers/thermal/intel/therm_throt.c`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::columns::{Column, Columns};
use crate::source::Source;

const ZONES: &str = "class/thermal";
const PROCESSORS: &str = "devices/system/cpu";

/// `thermal.ZONE.millicelsius`, `thermal.core_throttles` and `thermal.package_throttles`, of what is
/// there when it is opened: to look for it takes longer than to read it.
pub(super) struct Thermal {
    zones: Vec<(PathBuf, Column)>,
    counters: Vec<Counter>,
}

/// How often a processor says that a core or package was slowed.
struct Counter {
    file: PathBuf,
    /// What it counts, the package and the core: its twin tells the same of them.
    of: (&'static str, Option<u64>, Option<u64>),
}

impl Thermal {
    /// None where there is neither; `root` is /sys.
    pub(super) fn open(root: &Path, columns: &mut Columns) -> Option<Self> {
        let mut zones = Vec::new();
        for zone in entries(&root.join(ZONES), "thermal_zone") {
            let file = zone.join("temp");
            if let Some(name) = zone.file_name().filter(|_| file.exists()) {
                let name = format!("thermal.{}.millicelsius", name.to_string_lossy());
                zones.push((file, columns.named(&name)));
            }
        }
        let counters = counters(&root.join(PROCESSORS));
        (!zones.is_empty() || !counters.is_empty()).then_some(Self { zones, counters })
    }
}

impl Source for Thermal {
    fn sample(&mut self, columns: &mut Columns) {
        for (file, column) in &self.zones {
            if let Some(millicelsius) = value(file) {
                columns.put(*column, millicelsius);
            }
        }
        for (name, sum) in throttles(&self.counters) {
            let column = columns.named(&format!("thermal.{name}"));
            columns.put(column, sum);
        }
    }
}

fn counters(processors: &Path) -> Vec<Counter> {
    const EACH: [(&str, &str, &str); 2] = [
        ("core_throttles", "core_throttle_count", "core_id"),
        ("package_throttles", "package_throttle_count", ""),
    ];
    let mut found = Vec::new();
    for processor in entries(processors, "cpu") {
        let package = value(&processor.join("topology/physical_package_id"));
        for (name, file, core) in EACH {
            let file = processor.join("thermal_throttle").join(file);
            if file.exists() {
                let core = value(&processor.join("topology").join(core));
                let of = (name, package, core);
                found.push(Counter { file, of });
            }
        }
    }
    found
}

/// How often cores, and packages, were slowed: each of them once.
fn throttles(counters: &[Counter]) -> BTreeMap<&'static str, u64> {
    let mut most = BTreeMap::new();
    for counter in counters {
        if let Some(count) = value(&counter.file) {
            let of = most.entry(counter.of).or_insert(0);
            *of = count.max(*of);
        }
    }
    let mut sums = BTreeMap::new();
    for ((name, ..), count) in most {
        *sums.entry(name).or_insert(0) += count;
    }
    sums
}

/// Those called `start` and a number.
fn entries(folder: &Path, start: &str) -> impl Iterator<Item = PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).filter(move |path| {
        let name = path.file_name().map(std::ffi::OsStr::to_string_lossy);
        let number = name.as_deref().and_then(|name| name.strip_prefix(start));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    })
}

/// None for one that cannot be read now, or is below zero.
fn value(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim_end().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(files: &[(&str, &str)]) -> BTreeMap<String, u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut columns = Columns::default();
        if let Some(mut thermal) = Thermal::open(root.path(), &mut columns) {
            thermal.sample(&mut columns);
        }
        let row = columns.row().iter().copied().flatten();
        columns.names().iter().cloned().zip(row).collect()
    }

    #[test]
    fn zones_are_told_by_their_numbers_as_types_may_be_alike() {
        let told = sampled(&[
            ("class/thermal/thermal_zone0/type", "x86_pkg_temp\n"),
            ("class/thermal/thermal_zone0/temp", "61000\n"),
            ("class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
            ("class/thermal/thermal_zone1/temp", "-273200\n"),
            ("class/thermal/cooling_device0/cur_state", "3\n"),
        ]);
        let expected = [("thermal.thermal_zone0.millicelsius".to_owned(), 61_000)];
        assert_eq!(told, BTreeMap::from(expected));
    }

    #[test]
    fn a_core_and_a_package_count_once() {
        let mut files = Vec::new();
        for (processor, package, core, cores_count, packages_count) in [
            (0, 0, 0, 5, 9),
            (1, 0, 0, 5, 9),
            (2, 0, 1, 2, 9),
            (3, 1, 0, 1, 4),
        ] {
            let folder = format!("devices/system/cpu/cpu{processor}");
            let mut put = |file: &str, value: i32| {
                files.push((format!("{folder}/{file}"), format!("{value}\n")));
            };
            put("topology/physical_package_id", package);
            put("topology/core_id", core);
            put("thermal_throttle/core_throttle_count", cores_count);
            put("thermal_throttle/package_throttle_count", packages_count);
        }
        files.push(("devices/system/cpu/cpufreq/x".to_owned(), String::new()));
        let borrowed: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        let expected = [
            ("thermal.core_throttles".to_owned(), 5 + 2 + 1),
            ("thermal.package_throttles".to_owned(), 9 + 4),
        ];
        assert_eq!(sampled(&borrowed), BTreeMap::from(expected));
    }

    #[test]
    fn a_machine_without_them_has_no_columns() {
        assert_eq!(sampled(&[]), BTreeMap::new());
    }
}

//! CPU temperatures and thermal throttling; see Documentation/driver-api/thermal/sysfs-api.rst and
//! the kernel's `drivers/thermal/intel/therm_throt.c`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::hwmon::{self, Sensor};
use super::numbered_entries::{number_in, numbered_entries};
use crate::columns::Source;
use crate::columns::{Column, Columns};

const ZONES: &str = "class/thermal";
const PROCESSORS: &str = "devices/system/cpu";

/// `thermal.SENSOR.millicelsius`, `thermal.core_throttles` and `thermal.package_throttles`. Files
/// are found once, because the search takes longer than a read.
pub(super) struct Thermal {
    sensors: Vec<(PathBuf, Column)>,
    counters: Vec<Counter>,
}

/// Throttle counter of a CPU's core or package.
struct Counter {
    file: PathBuf,
    /// Kind, package and core: hyper-threads of a core share them.
    of: (&'static str, Option<u64>, Option<u64>),
}

impl Thermal {
    /// `None` without sensors and counters; `root` is /sys.
    pub(super) fn open(root: &Path, columns: &mut Columns) -> Option<Self> {
        let mut sensors = cpu_zones(&root.join(ZONES));
        if sensors.is_empty() {
            sensors = hwmon::cpu_sensors(root);
        }
        let mut column = |name| columns.get_or_add(&format!("thermal.{name}.millicelsius"));
        let sensors = sensors.into_iter().map(|(name, file)| (file, column(name)));
        let sensors: Vec<_> = sensors.collect();
        let counters = counters(&root.join(PROCESSORS));
        (!sensors.is_empty() || !counters.is_empty()).then_some(Self { sensors, counters })
    }
}

impl Source for Thermal {
    fn sample(&mut self, columns: &mut Columns) {
        for (file, column) in &self.sensors {
            if let Some(millicelsius) = number_in(file) {
                columns.put(*column, millicelsius);
            }
        }
        for (name, sum) in throttles(&self.counters) {
            let column = columns.get_or_add(&format!("thermal.{name}"));
            columns.put(column, sum);
        }
    }
}

/// CPU zones, selected by type, which drivers choose. Other zones are of mainboards, WLANs, disks
/// or batteries.
fn cpu_zones(zones: &Path) -> Vec<Sensor> {
    let mut found = Vec::new();
    for zone in numbered_entries(zones, "thermal_zone") {
        let of = fs::read_to_string(zone.join("type")).unwrap_or_default();
        let file = zone.join("temp");
        if let Some(name) = zone.file_name()
            && is_cpu_zone(of.trim_end())
            && number_in(&file).is_some()
        {
            found.push((name.to_string_lossy().into_owned(), file));
        }
    }
    found
}

/// Intel's driver has one type for all packages; device trees and firmware include the CPU in
/// theirs: `cpu-thermal`, `cpu0_thermal`, `TCPU`.
fn is_cpu_zone(zone: &str) -> bool {
    zone == "x86_pkg_temp" || zone.to_ascii_lowercase().contains("cpu")
}

fn counters(processors: &Path) -> Vec<Counter> {
    const EACH: [(&str, &str, &str); 2] = [
        ("core_throttles", "core_throttle_count", "core_id"),
        ("package_throttles", "package_throttle_count", ""),
    ];
    let mut found = Vec::new();
    for processor in numbered_entries(processors, "cpu") {
        let package = number_in(&processor.join("topology/physical_package_id"));
        for (name, file, core) in EACH {
            let file = processor.join("thermal_throttle").join(file);
            if file.exists() {
                let core = number_in(&processor.join("topology").join(core));
                let of = (name, package, core);
                found.push(Counter { file, of });
            }
        }
    }
    found
}

/// Throttle counts of cores and packages, each counted once.
fn throttles(counters: &[Counter]) -> BTreeMap<&'static str, u64> {
    let mut most = BTreeMap::new();
    for counter in counters {
        if let Some(count) = number_in(&counter.file) {
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
    fn zones_are_named_by_number_as_types_may_repeat() {
        let found = sampled(&[
            ("class/thermal/thermal_zone0/type", "x86_pkg_temp\n"),
            ("class/thermal/thermal_zone0/temp", "61000\n"),
            ("class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
            ("class/thermal/thermal_zone1/temp", "-273200\n"),
            ("class/thermal/cooling_device0/cur_state", "3\n"),
        ]);
        let expected = [("thermal.thermal_zone0.millicelsius".to_owned(), 61_000)];
        assert_eq!(found, BTreeMap::from(expected));
    }

    #[test]
    fn what_is_not_the_cpu_is_no_heat_of_it() {
        let others = [
            ("class/thermal/thermal_zone0/type", "acpitz\n"),
            ("class/thermal/thermal_zone0/temp", "27800\n"),
            ("class/thermal/thermal_zone1/type", "iwlwifi_1\n"),
            ("class/thermal/thermal_zone1/temp", "99000\n"),
            ("class/thermal/thermal_zone2/type", "nvme\n"),
            ("class/thermal/thermal_zone2/temp", "80000\n"),
        ];
        assert_eq!(sampled(&others), BTreeMap::new());
        let amd = [
            ("class/hwmon/hwmon1/name", "k10temp\n"),
            ("class/hwmon/hwmon1/temp1_input", "71250\n"),
        ];
        let expected = [("thermal.hwmon1.temp1.millicelsius".to_owned(), 71_250)];
        assert_eq!(sampled(&[&others[..], &amd].concat()), expected.into());
        let arm = [
            ("class/thermal/thermal_zone3/type", "cpu-thermal\n"),
            ("class/thermal/thermal_zone3/temp", "52000\n"),
        ];
        let expected = [("thermal.thermal_zone3.millicelsius".to_owned(), 52_000)];
        assert_eq!(
            sampled(&[&others[..], &amd, &arm].concat()),
            expected.into()
        );
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

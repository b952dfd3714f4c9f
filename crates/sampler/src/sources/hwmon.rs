//! CPU temperature sensors: /sys/class/hwmon/hwmonN with temp*_input and temp*_label; see
//! Documentation/hwmon/sysfs-interface.rst, coretemp.rst and k10temp.rst.

use std::fs;
use std::path::{Path, PathBuf};

use super::numbered_entries::numbered_entries;

const CHIPS: &str = "class/hwmon";
/// Drivers of Intel and AMD CPUs; the last one is out of tree.
const CPU_DRIVERS: [&str; 3] = ["coretemp", "k10temp", "zenpower"];

/// Package labels of coretemp, on current and older kernels.
const PACKAGES: [&str; 2] = ["Package id", "Physical id"];

/// File with millidegrees Celsius, and its name `hwmonN.tempN`.
pub(super) type Sensor = (String, PathBuf);

/// Temperature input of a chip, with its optional label.
struct Input {
    name: String,
    file: PathBuf,
    label: String,
}

/// Sensors of all CPUs; `root` is /sys.
pub(super) fn cpu_sensors(root: &Path) -> Vec<Sensor> {
    let folder = root.join(CHIPS);
    numbered_entries(&folder, "hwmon")
        .flat_map(|chip| chip_sensors(&chip))
        .collect()
}

/// Sensors of one chip, which old kernels have at its device; none if it is not a CPU.
fn chip_sensors(chip: &Path) -> Vec<Sensor> {
    let Some(number) = chip.file_name() else {
        return Vec::new();
    };
    for folder in [chip.to_owned(), chip.join("device")] {
        if let Ok(driver) = fs::read_to_string(folder.join("name")) {
            let is_cpu = CPU_DRIVERS.contains(&driver.trim_end());
            let inputs = if is_cpu { inputs(&folder) } else { Vec::new() };
            let number = number.to_string_lossy();
            let with_name = |input: Input| (format!("{number}.{}", input.name), input.file);
            return select_inputs(inputs).into_iter().map(with_name).collect();
        }
    }
    Vec::new()
}

fn inputs(folder: &Path) -> Vec<Input> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let input = |file: fs::DirEntry| {
        let name = file.file_name();
        let name = name.to_str()?.strip_suffix("_input")?;
        let is_temperature = name.starts_with("temp");
        let label = fs::read_to_string(folder.join(format!("{name}_label")));
        is_temperature.then(|| Input {
            name: name.to_owned(),
            file: file.path(),
            label: label.unwrap_or_default().trim_end().to_owned(),
        })
    };
    files.filter_map(input).collect()
}

/// Select the package of a package and its cores, because it is as hot as the hottest core. Prefer
/// measured values to `Tctl`, which is for fan control and up to tens of degrees higher.
fn select_inputs(mut inputs: Vec<Input>) -> Vec<Input> {
    let is_package = |input: &Input| PACKAGES.iter().any(|of| input.label.starts_with(of));
    if inputs.iter().any(is_package) {
        inputs.retain(is_package);
    }
    if inputs.iter().any(|input| input.label == "Tdie") {
        inputs.retain(|input| input.label != "Tctl");
    }
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(CHIPS).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let sensors = cpu_sensors(root.path());
        assert!(sensors.iter().all(|(_, file)| file.exists()));
        let mut names: Vec<String> = sensors.into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }

    #[test]
    fn an_amd_cpu_gives_measured_temperatures_not_the_control_value() {
        let names = found(&[
            ("hwmon0/name", "nvme\n"),
            ("hwmon0/temp1_input", "48850\n"),
            ("hwmon3/name", "k10temp\n"),
            ("hwmon3/temp1_input", "95000\n"),
            ("hwmon3/temp1_label", "Tctl\n"),
            ("hwmon3/temp2_input", "68000\n"),
            ("hwmon3/temp2_label", "Tdie\n"),
            ("hwmon3/temp3_input", "66000\n"),
            ("hwmon3/temp3_label", "Tccd1\n"),
            ("hwmon3/temp2_max", "70000\n"),
        ]);
        assert_eq!(names, ["hwmon3.temp2", "hwmon3.temp3"]);
    }

    #[test]
    fn a_lone_temperature_is_used() {
        let newer = [
            ("hwmon0/name", "k10temp\n"),
            ("hwmon0/temp1_input", "60000\n"),
            ("hwmon0/temp1_label", "Tctl\n"),
        ];
        assert_eq!(found(&newer), ["hwmon0.temp1"]);
        let without_labels = [
            ("hwmon0/device/name", "k10temp\n"),
            ("hwmon0/device/temp1_input", "60000\n"),
        ];
        assert_eq!(found(&without_labels), ["hwmon0.temp1"]);
    }

    #[test]
    fn an_intel_cpu_gives_the_temperature_of_its_package() {
        let names = found(&[
            ("hwmon1/name", "coretemp\n"),
            ("hwmon1/temp1_input", "60000\n"),
            ("hwmon1/temp1_label", "Package id 0\n"),
            ("hwmon1/temp2_input", "60000\n"),
            ("hwmon1/temp2_label", "Core 0\n"),
            ("hwmon2/name", "coretemp\n"),
            ("hwmon2/temp2_input", "60000\n"),
            ("hwmon2/temp2_label", "Core 0\n"),
            ("hwmon2/temp3_input", "60000\n"),
            ("hwmon2/temp3_label", "Core 1\n"),
        ]);
        assert_eq!(names, ["hwmon1.temp1", "hwmon2.temp2", "hwmon2.temp3"]);
        let older = found(&[
            ("hwmon0/device/name", "coretemp\n"),
            ("hwmon0/device/temp1_input", "60000\n"),
            ("hwmon0/device/temp1_label", "Physical id 0\n"),
            ("hwmon0/device/temp2_input", "60000\n"),
            ("hwmon0/device/temp2_label", "Core 0\n"),
        ]);
        assert_eq!(older, ["hwmon0.temp1"]);
    }
}

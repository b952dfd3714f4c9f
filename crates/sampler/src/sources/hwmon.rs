//! Sensors of the CPU's own: /sys/class/hwmon/hwmonN with temp*_input and temp*_label; see
//! Documentation/hwmon/sysfs-interface.rst, coretemp.rst and k10temp.rst.

use std::fs;
use std::path::{Path, PathBuf};

use super::thermal::entries;

const CHIPS: &str = "class/hwmon";
/// Intel's, AMD's, and AMD's by a driver that is no part of the kernel.
const OF_CPUS: [&str; 3] = ["coretemp", "k10temp", "zenpower"];

/// What coretemp calls a package, and what it did on older kernels.
const PACKAGES: [&str; 2] = ["Package id", "Physical id"];

/// A file with millidegrees Celsius, and what it is called: `hwmonN.tempN`.
pub(super) type Sensor = (String, PathBuf);

/// A temperature of a chip, with its label if it has one.
struct Input {
    name: String,
    file: PathBuf,
    label: String,
}

/// The sensors of all CPUs; `root` is /sys.
pub(super) fn of_cpus(root: &Path) -> Vec<Sensor> {
    let folder = root.join(CHIPS);
    entries(&folder, "hwmon")
        .flat_map(|chip| of_cpu(&chip))
        .collect()
}

/// Those of one chip, which on old kernels has them at its device; none if it is no CPU.
fn of_cpu(chip: &Path) -> Vec<Sensor> {
    let Some(number) = chip.file_name() else {
        return Vec::new();
    };
    for folder in [chip.to_owned(), chip.join("device")] {
        if let Ok(driver) = fs::read_to_string(folder.join("name")) {
            let is_cpu = OF_CPUS.contains(&driver.trim_end());
            let inputs = if is_cpu { inputs(&folder) } else { Vec::new() };
            let number = number.to_string_lossy();
            let named = |input: Input| (format!("{number}.{}", input.name), input.file);
            return telling(inputs).into_iter().map(named).collect();
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

/// Of a package and its cores the package, which is as hot as the hottest of them; and what was
/// measured, not `Tctl`, where both are told: that is for fans, and on some CPUs tens of degrees
/// above it.
fn telling(mut inputs: Vec<Input>) -> Vec<Input> {
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
        let sensors = of_cpus(root.path());
        assert!(sensors.iter().all(|(_, file)| file.exists()));
        let mut names: Vec<String> = sensors.into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }

    #[test]
    fn of_an_amd_cpu_what_was_measured_is_told() {
        let told = found(&[
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
        assert_eq!(told, ["hwmon3.temp2", "hwmon3.temp3"]);
    }

    #[test]
    fn what_is_told_alone_counts() {
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
    fn of_each_intel_cpu_the_package_is_told() {
        let told = found(&[
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
        assert_eq!(told, ["hwmon1.temp1", "hwmon2.temp2", "hwmon2.temp3"]);
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

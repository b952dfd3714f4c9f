//! One sample after the other, from files that stay open.

use std::io;

use rustix::time::{ClockId, clock_gettime};

use crate::diskstats::{DiskCounters, parse_diskstats};
use crate::pressure::{Pressures, Stall, parse_stall};
use crate::proc_file::ProcFile;
use crate::proc_stat::{CpuTicks, parse_cpu};

/// Samples for which room is made beforehand: over a quarter of an hour at four a second.
const USUAL_SAMPLES: usize = 4096;

/// Samples as columns of equal length.
#[derive(Debug, Clone)]
pub struct Samples {
    /// `CLOCK_MONOTONIC` at each sample.
    pub seconds: Vec<f64>,
    /// Each device by name; None where it was missing at that moment.
    pub disks: Vec<(String, Vec<Option<DiskCounters>>)>,
    /// All processors together.
    pub cpu: Vec<CpuTicks>,
    /// Pressure, where the kernel has it.
    pub pressures: Vec<Pressures>,
}

impl Samples {
    fn of(devices: &[String]) -> Self {
        let column = |name: &String| (name.clone(), Vec::with_capacity(USUAL_SAMPLES));
        Self {
            seconds: Vec::with_capacity(USUAL_SAMPLES),
            disks: devices.iter().map(column).collect(),
            cpu: Vec::with_capacity(USUAL_SAMPLES),
            pressures: Vec::with_capacity(USUAL_SAMPLES),
        }
    }
}

/// The open files and what has been read from them so far. Only /proc/stat must be there.
pub(crate) struct Reader {
    stat: ProcFile,
    diskstats: Option<ProcFile>,
    /// Of the processor, I/O and memory.
    pressure: [Option<ProcFile>; 3],
    samples: Samples,
}

impl Reader {
    pub(crate) fn open(devices: &[String]) -> io::Result<Self> {
        let pressure = |resource| ProcFile::open(&format!("/proc/pressure/{resource}")).ok();
        Ok(Self {
            stat: ProcFile::open("/proc/stat")?,
            diskstats: ProcFile::open("/proc/diskstats").ok(),
            pressure: ["cpu", "io", "memory"].map(pressure),
            samples: Samples::of(devices),
        })
    }

    /// Take a sample now.
    pub(crate) fn sample(&mut self) -> io::Result<()> {
        let cpu = parse_cpu(self.stat.read()?).ok_or_else(|| {
            io::Error::other("/proc/stat does not begin with the line of all cpus")
        })?;
        let diskstats = self.diskstats.as_mut().and_then(|file| file.read().ok());
        self.samples.seconds.push(monotonic_seconds());
        for (name, column) in &mut self.samples.disks {
            column.push(diskstats.and_then(|text| parse_diskstats(text, name)));
        }
        self.samples.cpu.push(cpu);
        let stalls = self.pressure.each_mut().map(stall);
        self.samples.pressures.push(in_order(stalls));
        Ok(())
    }

    pub(crate) fn into_samples(self) -> Samples {
        self.samples
    }
}

/// Kernels with pressure switched off have the files but refuse to read them: unknown as well.
fn stall(file: &mut Option<ProcFile>) -> Stall {
    file.as_mut()
        .and_then(|file| file.read().ok())
        .map(parse_stall)
        .unwrap_or_default()
}

fn in_order([cpu, io, memory]: [Stall; 3]) -> Pressures {
    [cpu.some, io.some, io.full, memory.some, memory.full]
}

#[allow(clippy::cast_precision_loss)] // nanoseconds are exact for the first months of uptime
fn monotonic_seconds() -> f64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

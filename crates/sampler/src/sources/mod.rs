//! Sample sources, one per kind of file; see proc(5) and the kernel's documentation.

mod cgroup;
mod diskstats;
mod frequency;
mod hwmon;
mod loadavg;
mod meminfo;
mod mountstats;
mod net_dev;
mod numbered_entries;
mod pressure;
mod processes;
mod stat;
mod tcp;
mod thermal;
mod vmstat;

use std::path::Path;

pub(crate) use self::processes::Processes;
use crate::columns::Columns;
use crate::columns::Source;
use crate::reader::SamplingScope;

/// Sources of every sample: device and CPU counters.
pub(crate) fn unthrottled(scope: &SamplingScope, columns: &mut Columns) -> Vec<Box<dyn Source>> {
    let sources: [Option<Box<dyn Source>>; 3] = [
        boxed(diskstats::Diskstats::open(scope)),
        boxed(stat::Stat::open(columns)),
        boxed(vmstat::Vmstat::open(columns)),
    ];
    sources.into_iter().flatten().collect()
}

/// Sources that are read once a second or within their CPU budget: totals stay exact.
pub(crate) fn throttled(scope: &SamplingScope, columns: &mut Columns) -> Vec<Box<dyn Source>> {
    let sources: [Option<Box<dyn Source>>; 8] = [
        boxed(pressure::Pressure::open(columns)),
        boxed(meminfo::Meminfo::open(columns)),
        boxed(loadavg::Loadavg::open(columns)),
        boxed(net_dev::NetDev::open()),
        boxed(tcp::Tcp::open(columns)),
        boxed(mountstats::Mountstats::open()),
        boxed(thermal::Thermal::open(Path::new("/sys"), columns)),
        boxed(frequency::Frequency::open(Path::new("/sys"), columns)),
    ];
    let mut sources: Vec<_> = sources.into_iter().flatten().collect();
    sources.extend(cgroup::open(scope, columns));
    sources
}

fn boxed<S: Source + 'static>(source: Option<S>) -> Option<Box<dyn Source>> {
    source.map(|source| Box::new(source) as Box<dyn Source>)
}

//! Each kind of file that is sampled; see proc(5) and the kernel's documentation of each.

mod cgroup;
mod diskstats;
mod hwmon;
mod loadavg;
mod meminfo;
mod mountstats;
mod net_dev;
mod net_speed;
mod pressure;
mod processes;
mod stat;
mod tcp;
mod thermal;
mod vmstat;

use std::path::Path;

pub(crate) use self::processes::Processes;
use crate::columns::Columns;
use crate::source::Source;
use crate::watched::Watched;

/// What is read in every sample: what a device or a processor did between two of them.
pub(crate) fn cheap(watched: &Watched, columns: &mut Columns) -> Vec<Box<dyn Source>> {
    let sources: [Option<Box<dyn Source>>; 3] = [
        boxed(diskstats::Diskstats::open(watched)),
        boxed(stat::Stat::open(columns)),
        boxed(vmstat::Vmstat::open(columns)),
    ];
    sources.into_iter().flatten().collect()
}

/// What is read once a second, or as often as their cost together allows: totals lose nothing by it.
pub(crate) fn dear(watched: &Watched, columns: &mut Columns) -> Vec<Box<dyn Source>> {
    let sources: [Option<Box<dyn Source>>; 7] = [
        boxed(pressure::Pressure::open(columns)),
        boxed(meminfo::Meminfo::open(columns)),
        boxed(loadavg::Loadavg::open(columns)),
        boxed(net_dev::NetDev::open()),
        boxed(tcp::Tcp::open(columns)),
        boxed(mountstats::Mountstats::open()),
        boxed(thermal::Thermal::open(Path::new("/sys"), columns)),
    ];
    let mut sources: Vec<_> = sources.into_iter().flatten().collect();
    sources.extend(cgroup::open(watched, columns));
    sources
}

fn boxed<S: Source + 'static>(source: Option<S>) -> Option<Box<dyn Source>> {
    source.map(|source| Box::new(source) as Box<dyn Source>)
}

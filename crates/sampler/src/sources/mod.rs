//! Each kind of file that is sampled; see proc(5) and the kernel's documentation of each.

mod cgroup;
mod diskstats;
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

pub(crate) use self::processes::Processes;
use crate::columns::Columns;
use crate::source::Source;
use crate::watched::Watched;

/// What is read in every sample.
pub(crate) fn cheap(watched: &Watched, columns: &mut Columns) -> Vec<Box<dyn Source>> {
    let sources: [Option<Box<dyn Source>>; 7] = [
        boxed(diskstats::Diskstats::open(watched)),
        boxed(stat::Stat::open(columns)),
        boxed(pressure::Pressure::open(columns)),
        boxed(vmstat::Vmstat::open(columns)),
        boxed(meminfo::Meminfo::open(columns)),
        boxed(loadavg::Loadavg::open(columns)),
        boxed(net_dev::NetDev::open()),
    ];
    sources.into_iter().flatten().collect()
}

/// What is read as often as its cost allows.
pub(crate) fn dear(watched: &Watched, columns: &mut Columns) -> Vec<Box<dyn Source>> {
    let mut sources = cgroup::open(watched, columns);
    sources.extend(boxed(tcp::Tcp::open(columns)));
    sources.extend(boxed(mountstats::Mountstats::open()));
    sources.push(Box::new(net_speed::NetSpeed));
    sources.push(Box::new(thermal::Thermal::open()));
    sources
}

fn boxed<S: Source + 'static>(source: Option<S>) -> Option<Box<dyn Source>> {
    source.map(|source| Box::new(source) as Box<dyn Source>)
}

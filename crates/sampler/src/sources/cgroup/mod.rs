//! Control group of the workload: I/O, limits, throttling and stall times.
//!
//! See Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/ and scheduler/sched-bwc.rst.

mod cpu_quota;
mod group;
mod group_io;
mod io_limits;
mod reclaim;

use self::group::Group;
use super::pressure::Pressure;
use crate::columns::Columns;
use crate::columns::Source;
use crate::reader::SamplingScope;

/// Open a source for each controller of the group of the workload's first process.
pub(super) fn open(scope: &SamplingScope, columns: &mut Columns) -> Vec<Box<dyn Source>> {
    let Some(&process) = scope.workload.first() else {
        return Vec::new();
    };
    let found: [Option<Box<dyn Source>>; 5] = [
        super::boxed(group_io::GroupIo::open(process)),
        super::boxed(io_limits::IoLimits::open(process)),
        super::boxed(cpu_quota::CpuQuota::open(process, columns)),
        super::boxed(reclaim::Reclaim::open(process, columns)),
        super::boxed(Group::v2(process).and_then(|group| Pressure::of_group(&group.own, columns))),
    ];
    found.into_iter().flatten().collect()
}

/// Set a value of a device with its device number.
fn put(columns: &mut Columns, device: &str, counter: &str, value: u64) {
    let column = columns.get_or_add(&format!("cgroup.{device}.{counter}"));
    columns.put(column, value);
}

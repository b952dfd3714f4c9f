//! The control group of the workload: what it has moved, its limits, how they held it back, and for
//! what it stood still.
//!
//! See Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/ and scheduler/sched-bwc.rst.

mod caps;
mod group;
mod moved;
mod quota;
mod reclaim;

use self::group::Group;
use super::pressure::Pressure;
use crate::columns::Columns;
use crate::source::Source;
use crate::watched::Watched;

/// A source for each controller that the group of the first process of the workload has.
pub(super) fn open(watched: &Watched, columns: &mut Columns) -> Vec<Box<dyn Source>> {
    let Some(&process) = watched.workload.first() else {
        return Vec::new();
    };
    let found: [Option<Box<dyn Source>>; 5] = [
        super::boxed(moved::Moved::open(process)),
        super::boxed(caps::Caps::open(process)),
        super::boxed(quota::Quota::open(process, columns)),
        super::boxed(reclaim::Reclaim::open(process, columns)),
        super::boxed(
            Group::apart(process).and_then(|group| Pressure::of_group(&group.own, columns)),
        ),
    ];
    found.into_iter().flatten().collect()
}

/// The value of a device that is told by its numbers.
fn put(columns: &mut Columns, device: &str, counter: &str, value: u64) {
    let column = columns.named(&format!("cgroup.{device}.{counter}"));
    columns.put(column, value);
}

//! Host and request queue of a simulation.

use iostudy_drive::Parameters;
use iostudy_schedulers::{
    Anticipatory, Bfq, Cfq, Deadline, Hz, Kyber, MergePolicy, MqDeadline, NoScheduler, Noop,
    SchedulerBuilder, Settings,
};
use iostudy_simulator::Host;
use pyo3::prelude::*;

use crate::errors::unknown_value;

const SCHEDULERS: [(&str, SchedulerBuilder); 9] = [
    ("none", NoScheduler::build),
    ("mq-deadline", MqDeadline::build),
    ("kyber", Kyber::build),
    ("bfq", Bfq::build),
    ("noop", Noop::build),
    ("deadline", Deadline::build),
    ("cfq", Cfq::build),
    ("cfq-2.6.32", Cfq::build_2_6_32),
    ("anticipatory", Anticipatory::build),
];

/// Attributes of a `SimulationSetup`, which documents them.
#[derive(FromPyObject)]
pub struct Setup {
    scheduler: String,
    pub tunables: Vec<(String, String)>,
    nr_requests: u32,
    max_sectors_kb: u32,
    read_ahead_kb: u64,
    nomerges: u8,
    rotational: bool,
    memory_bytes: u64,
    dirty_background_ratio: u64,
    dirty_ratio: u64,
    hz: u32,
    takes_ahead: bool,
    cpus: u16,
    pub seed: u64,
}

impl Setup {
    pub fn scheduler(&self) -> PyResult<SchedulerBuilder> {
        let found = SCHEDULERS.iter().find(|(name, _)| *name == self.scheduler);
        found.map(|(_, build)| *build).ok_or_else(|| {
            let names = SCHEDULERS.map(|(name, _)| name).join(", ");
            unknown_value("scheduler", &self.scheduler, &names)
        })
    }

    pub fn settings(&self, drive: &Parameters) -> PyResult<Settings> {
        let merges = match self.nomerges {
            0 => MergePolicy::All,
            1 => MergePolicy::CacheOnly,
            2 => MergePolicy::Disabled,
            other => return Err(unknown_value("nomerges", &other.to_string(), "0, 1, 2")),
        };
        let hz = Hz::from_rate(self.hz)
            .ok_or_else(|| unknown_value("hz", &self.hz.to_string(), "100, 250, 300, 1000"))?;
        let depth = match drive {
            Parameters::Disk(disk) => disk.queue.depth,
            Parameters::Flash(flash) => flash.depth,
        };
        Ok(Settings {
            hz,
            rotational: self.rotational,
            queue_depth: u32::try_from(depth).unwrap_or(u32::MAX),
            cpus: self.cpus,
            nr_requests: self.nr_requests,
            max_sectors: self.max_sectors_kb * 2,
            merges,
            takes_ahead: self.takes_ahead,
        })
    }

    pub fn host(&self) -> Host {
        Host {
            memory: self.memory_bytes,
            dirty_background_ratio: self.dirty_background_ratio,
            dirty_ratio: self.dirty_ratio,
            read_ahead: self.read_ahead_kb << 10,
            ..Host::default()
        }
    }
}

//! Scope of sampling: devices and workload processes.

/// Devices and processes to sample, in addition to machine-wide counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplingScope {
    /// Kernel names of block devices as in /proc/diskstats (`dm-2`); `None` for all.
    pub devices: Option<Vec<String>>,
    /// Root processes of the workload, which includes their descendants.
    pub workload: Vec<u32>,
}

impl SamplingScope {
    /// Whether `device` is sampled.
    #[must_use]
    pub fn device(&self, device: &str) -> bool {
        match &self.devices {
            Some(named_values) => named_values.iter().any(|name| name == device),
            None => true,
        }
    }
}

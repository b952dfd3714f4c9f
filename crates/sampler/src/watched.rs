//! What is to be watched.

/// What of the machine is sampled, beside what it has but once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// Kernel names of block devices as in /proc/diskstats (`dm-2`); None for all of them.
    pub devices: Option<Vec<String>>,
    /// Processes whose descendants are the workload, with themselves.
    pub workload: Vec<u32>,
}

impl Watched {
    /// Whether `device` is one of those watched.
    #[must_use]
    pub fn device(&self, device: &str) -> bool {
        match &self.devices {
            Some(named) => named.iter().any(|name| name == device),
            None => true,
        }
    }
}

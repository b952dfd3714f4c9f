//! Simulated processes.

use iostudy_schedulers::{Bio, Nanos, Priority, ProcessId};

/// Order of a process's requests on the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Each request follows the previous one, and the first one follows the last one.
    Sequential,
    /// Pseudorandom positions from a seed.
    Random(u64),
}

/// A process that keeps a number of requests outstanding.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// Whether it writes; it reads otherwise.
    pub writes: bool,
    /// Whether it waits for its writes.
    pub sync: bool,
    /// Order of its requests.
    pub pattern: Pattern,
    /// First sector of its file.
    pub start: u64,
    /// Sectors of its file: a multiple of `sectors`.
    pub length: u64,
    /// Sectors of a request.
    pub sectors: u32,
    /// Requests that it keeps outstanding.
    pub outstanding: u32,
    /// Time from a completion to the next submission.
    pub think: Nanos,
    /// I/O priority.
    pub priority: Priority,
}

impl Process {
    /// Request `number` of process `id`.
    pub(crate) fn bio(&self, id: ProcessId, number: u64, tag: u64) -> Bio {
        let slots = (self.length / u64::from(self.sectors)).max(1);
        let slot = match self.pattern {
            Pattern::Sequential => number,
            Pattern::Random(seed) => mix(seed.wrapping_add(number)),
        } % slots;
        let start = self.start + slot * u64::from(self.sectors);
        let bio = if self.writes {
            Bio::write(id, start, self.sectors)
        } else {
            Bio::read(id, start, self.sectors)
        };
        Bio {
            tag,
            sync: bio.sync || self.sync,
            priority: self.priority,
            ..bio
        }
    }
}

/// Pseudorandom number: the finalizer of `SplitMix64`.
const fn mix(number: u64) -> u64 {
    let mut value = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

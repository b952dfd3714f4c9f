//! Drive models, the simulator and the replay of traces: what the feature `lab` adds.

mod drive;
mod mrbench;
mod simulated;
mod trace_replay;

use iostudy_simulator::SimulationError;

use crate::errors::{ErrorKind, NativeError};

pub use drive::{DriveModel, RunningDrive, serve_drive};
pub use mrbench::MrBenchModel;
pub use simulated::SimulatedDisk;
pub use trace_replay::{TraceReplay, TraceReplayResult};

impl NativeError for SimulationError {
    fn kind(&self) -> ErrorKind<'_> {
        match self {
            Self::Stopped => ErrorKind::Stopped,
            Self::Drive(_) | Self::Tunable(_) | Self::Stalled { .. } => ErrorKind::Value,
        }
    }
}

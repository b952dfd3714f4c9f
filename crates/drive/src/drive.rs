//! Parameters and interface common to disk and flash drives.

use serde::Deserialize;

use crate::disk::Disk;
use crate::disk::parameters::DiskParameters;
use crate::flash::Flash;
use crate::flash::parameters::FlashParameters;
use crate::request::SubmitError;
use crate::request::{Completion, Nanos, Request};

/// Parameters of a drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "family", rename_all = "kebab-case")]
pub enum Parameters {
    /// A disk drive.
    Disk(DiskParameters),
    /// A flash drive.
    Flash(FlashParameters),
}

/// A drive that serves requests on the virtual clock.
#[derive(Clone, Debug)]
pub enum Drive {
    /// A disk drive.
    Disk(Box<Disk>),
    /// A flash drive.
    Flash(Box<Flash>),
}

impl Drive {
    /// A drive at time 0.
    pub fn new(parameters: Parameters) -> Self {
        match parameters {
            Parameters::Disk(disk) => Self::Disk(Box::new(Disk::new(disk))),
            Parameters::Flash(flash) => Self::Flash(Box::new(Flash::new(flash))),
        }
    }

    /// Blocks of the drive.
    pub fn blocks(&self) -> u64 {
        match self {
            Self::Disk(disk) => disk.blocks(),
            Self::Flash(flash) => flash.blocks(),
        }
    }

    /// Submit a request at `time`.
    ///
    /// # Errors
    ///
    /// A full queue, blocks beyond the end, or a time before an earlier one.
    pub fn submit(&mut self, time: Nanos, request: Request) -> Result<(), SubmitError> {
        match self {
            Self::Disk(disk) => disk.submit(time, request),
            Self::Flash(flash) => flash.submit(time, request),
        }
    }

    /// Submitted commands that have not been returned as completions.
    pub fn in_flight(&self) -> usize {
        match self {
            Self::Disk(disk) => disk.in_flight(),
            Self::Flash(flash) => flash.in_flight(),
        }
    }

    /// Time of the next event: a completion, or a decision of the drive.
    pub fn next_event(&self) -> Option<Nanos> {
        match self {
            Self::Disk(disk) => disk.next_event(),
            Self::Flash(flash) => flash.next_event(),
        }
    }

    /// The next of the completions that are known already; its time does not change.
    ///
    /// Decisions of the drive and new requests can add earlier ones.
    pub fn next_completion(&self) -> Option<Completion> {
        match self {
            Self::Disk(disk) => disk.next_completion(),
            Self::Flash(flash) => flash.next_completion(),
        }
    }

    /// Remove and return the next completion up to `time`.
    pub fn complete(&mut self, time: Nanos) -> Option<Completion> {
        match self {
            Self::Disk(disk) => disk.complete(time),
            Self::Flash(flash) => flash.complete(time),
        }
    }
}

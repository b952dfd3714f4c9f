//! Interface of the I/O backends.

use crate::error::Halt;
use crate::files::Files;
use crate::meter::Meter;
use crate::request_source::RequestSource;

/// Backend that transfers all records of a thread. It owns its buffers and may keep several records
/// in flight.
pub(crate) trait Backend {
    /// Transfer every record that `requests` yields, and verify reads.
    fn run(
        &mut self,
        files: &Files,
        requests: &mut RequestSource,
        meter: &mut Meter,
    ) -> Result<(), Halt>;
}

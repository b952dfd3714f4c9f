//! How the records of open files get to the kernel and back.

use crate::error::Halt;
use crate::feed::Feed;
use crate::files::Files;
use crate::meter::Meter;

/// Moves all records of a thread. A backend owns its buffers and may keep several records under
/// way.
pub(crate) trait Backend {
    /// Move every record that the feed gives, until it ends, verifying what is read.
    fn carry_out(&mut self, files: &Files, feed: &mut Feed, meter: &mut Meter) -> Result<(), Halt>;
}

//! NBD server on a Unix socket: the drive for virtual machines.
//!
//! It has one export and takes any name for it. The protocol is that of doc/proto.md of
//! NetworkBlockDevice/nbd: fixed newstyle negotiation, simple replies.

mod negotiation;
mod transmission;

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::store::Store;
use crate::timed_drive::TimedDrive;

/// Time after which a client that reads no replies loses its connection, so that it does not
/// delay other clients.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The drive, its data, and what clients know of it.
#[derive(Clone)]
pub struct Export {
    /// The drive on the host's clock.
    pub drive: Arc<TimedDrive>,
    /// Its data.
    pub store: Arc<Store>,
    /// Whether it is a disk.
    pub rotational: bool,
}

/// Serve clients of a new socket at `path` until this process ends, each by a thread of its own.
///
/// A client that breaks the protocol loses its connection.
///
/// # Errors
///
/// The kernel refuses the socket or a thread.
pub fn listen(path: &Path, export: Export) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    thread::Builder::new().spawn(move || {
        for stream in listener.incoming().flatten() {
            let own = export.clone();
            thread::spawn(move || serve_client(&own, stream));
        }
    })?;
    Ok(())
}

fn serve_client(export: &Export, mut stream: UnixStream) -> io::Result<()> {
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    if negotiation::negotiate(&mut stream, export.store.size(), export.rotational)? {
        transmission::serve(export, stream)?;
    }
    Ok(())
}

/// Error for a client that breaks the protocol.
fn violation(found: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, found)
}

#[cfg(test)]
mod tests;

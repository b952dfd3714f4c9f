//! Commands of a client, and their replies in the order of completion.

use std::io::{self, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use iostudy_drive::Operation;

use crate::nbd::negotiation::{MAX_BYTES, read};
use crate::nbd::{Export, violation};
use crate::timed_drive::Command;

pub const COMMAND_MAGIC: u32 = 0x2560_9513;
pub const REPLY_MAGIC: u32 = 0x6744_6698;
pub const FORCED_UNIT_ACCESS: u16 = 1;
pub const READ: u16 = 0;
pub const WRITE: u16 = 1;
pub const DISCONNECT: u16 = 2;
pub const FLUSH: u16 = 3;

const SUCCESS: u32 = 0;
pub const INVALID: u32 = 22;
pub const NO_SPACE: u32 = 28;
const IO_ERROR: u32 = 5;

struct Header {
    flags: u16,
    kind: u16,
    cookie: u64,
    offset: u64,
    length: u32,
}

impl Header {
    fn read(stream: &mut impl Read) -> io::Result<Self> {
        if u32::from_be_bytes(read(stream)?) != COMMAND_MAGIC {
            return Err(violation("no command"));
        }
        Ok(Self {
            flags: u16::from_be_bytes(read(stream)?),
            kind: u16::from_be_bytes(read(stream)?),
            cookie: u64::from_be_bytes(read(stream)?),
            offset: u64::from_be_bytes(read(stream)?),
            length: u32::from_be_bytes(read(stream)?),
        })
    }
}

/// The client's side of the connection, shared by all replies.
#[derive(Clone)]
struct Client(Arc<Mutex<UnixStream>>);

impl Client {
    /// Send a reply. A client that does not take it loses its connection.
    fn reply(&self, cookie: u64, error: u32, data: &[u8]) {
        let mut message = Vec::with_capacity(16 + data.len());
        message.extend(REPLY_MAGIC.to_be_bytes());
        message.extend(error.to_be_bytes());
        message.extend(cookie.to_be_bytes());
        message.extend(data);
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stream.write_all(&message).is_err() {
            // The next read of a command fails and ends the connection.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Serve commands until the client disconnects.
///
/// # Errors
///
/// A lost connection, or a client that breaks the protocol.
pub fn serve(export: &Export, stream: UnixStream) -> io::Result<()> {
    let client = Client(Arc::new(Mutex::new(stream.try_clone()?)));
    let mut stream = BufReader::new(stream);
    loop {
        let header = Header::read(&mut stream)?;
        if header.kind == DISCONNECT {
            return Ok(());
        }
        let mut data = Vec::new();
        if header.kind == WRITE {
            data = vec![0; payload(header.length)?];
            stream.read_exact(&mut data)?;
        }
        submit(export, &header, &data, &client);
    }
}

fn payload(length: u32) -> io::Result<usize> {
    if length > MAX_BYTES {
        return Err(violation("a long write"));
    }
    Ok(length as usize)
}

/// Give a command to the drive; the client gets its reply at the deadline, an error at once.
fn submit(export: &Export, header: &Header, data: &[u8], client: &Client) {
    let cookie = header.cookie;
    match execute(export, header, data) {
        Ok((command, found)) => {
            let own = client.clone();
            let reply = move |outcome: Result<(), _>| match outcome {
                Ok(()) => own.reply(cookie, SUCCESS, &found),
                Err(_) => own.reply(cookie, INVALID, &[]),
            };
            export.drive.submit(command, Box::new(reply));
        }
        Err(error) => client.reply(cookie, error, &[]),
    }
}

/// Read or write the data; return the command for the drive, and the data that were read.
fn execute(export: &Export, header: &Header, data: &[u8]) -> Result<(Command, Vec<u8>), u32> {
    let size = header.length as usize;
    let command = |operation, range| Command {
        operation,
        range,
        fua: header.flags & FORCED_UNIT_ACCESS != 0,
    };
    let blocks = || export.store.blocks(header.offset, size).ok_or(INVALID);
    match header.kind {
        READ if header.length <= MAX_BYTES => {
            let range = blocks()?;
            let found = export.store.read(header.offset, size).map_err(code)?;
            Ok((command(Operation::Read, range), found))
        }
        WRITE => {
            let range = blocks()?;
            export.store.write(header.offset, data).map_err(code)?;
            Ok((command(Operation::Write, range), Vec::new()))
        }
        FLUSH => Ok((command(Operation::Flush, (0, 0)), Vec::new())),
        _ => Err(INVALID),
    }
}

/// Error number of the protocol.
#[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
fn code(error: io::Error) -> u32 {
    match error.kind() {
        io::ErrorKind::StorageFull => NO_SPACE,
        _ => IO_ERROR,
    }
}

//! The server against a client that speaks the protocol byte by byte.

use std::io::{Read, Write};
use std::thread::{self, JoinHandle};

use super::negotiation::{
    ABORT, ACKNOWLEDGED, EXPORT_NAME, GO, GREETING, INFORMATION, LIST, OPTION_MAGIC,
    OPTION_REPLY_MAGIC, SERVER, SERVER_FLAGS, UNSUPPORTED, read,
};
use super::transmission::{
    COMMAND_MAGIC, DISCONNECT, FLUSH, FORCED_UNIT_ACCESS, INVALID, NO_SPACE, READ, REPLY_MAGIC,
    WRITE,
};
use super::*;
use crate::command_queue::tests::drive;
use crate::timed_drive::Turn;

const SIZE: u64 = 8192 * 512;
const MEMORY: u64 = 1 << 20;
const STRUCTURED_REPLY: u32 = 8;

/// A client of a served drive, and the threads of the server.
struct Client {
    stream: UnixStream,
    drive: Arc<TimedDrive>,
    clock: JoinHandle<()>,
    connection: JoinHandle<io::Result<()>>,
}

impl Client {
    fn connect() -> Self {
        let (stream, served) = UnixStream::pair().unwrap();
        let drive = Arc::new(TimedDrive::new(drive()));
        let export = Export {
            drive: Arc::clone(&drive),
            store: Arc::new(Store::new(SIZE, MEMORY).unwrap()),
            rotational: true,
        };
        let timed = Arc::clone(&drive);
        let mut client = Self {
            stream,
            drive,
            clock: thread::spawn(move || timed.run(Turn::First)),
            connection: thread::spawn(move || serve_client(&export, served)),
        };
        assert_eq!(&client.read::<8>(), GREETING);
        assert_eq!(&client.read::<8>(), OPTION_MAGIC);
        assert_eq!(client.read(), SERVER_FLAGS.to_be_bytes());
        client.send(&[&0b11_u32.to_be_bytes()]);
        client
    }

    fn transmitting() -> Self {
        let mut client = Self::connect();
        client.option(EXPORT_NAME, b"any");
        client.read::<10>();
        client
    }

    fn read<const N: usize>(&mut self) -> [u8; N] {
        read(&mut self.stream).unwrap()
    }

    fn send(&mut self, parts: &[&[u8]]) {
        self.stream.write_all(&parts.concat()).unwrap();
    }

    fn option(&mut self, option: u32, data: &[u8]) {
        let length = u32::try_from(data.len()).unwrap();
        let (option, length) = (option.to_be_bytes(), length.to_be_bytes());
        self.send(&[OPTION_MAGIC, &option, &length, data]);
    }

    /// Kind and data of a reply to `option`.
    fn option_reply(&mut self, option: u32) -> (u32, Vec<u8>) {
        assert_eq!(self.read(), OPTION_REPLY_MAGIC.to_be_bytes());
        assert_eq!(self.read(), option.to_be_bytes());
        let kind = u32::from_be_bytes(self.read());
        let mut data = vec![0; u32::from_be_bytes(self.read()) as usize];
        self.stream.read_exact(&mut data).unwrap();
        (kind, data)
    }

    fn command(&mut self, kind: u16, flags: u16, cookie: u64, offset: u64, length: u32) {
        self.send(&[
            &COMMAND_MAGIC.to_be_bytes(),
            &flags.to_be_bytes(),
            &kind.to_be_bytes(),
            &cookie.to_be_bytes(),
            &offset.to_be_bytes(),
            &length.to_be_bytes(),
        ]);
    }

    fn write(&mut self, flags: u16, cookie: u64, offset: u64, data: &[u8]) {
        let length = u32::try_from(data.len()).unwrap();
        self.command(WRITE, flags, cookie, offset, length);
        self.send(&[data]);
    }

    /// Error and cookie of a reply.
    fn reply(&mut self) -> (u32, u64) {
        assert_eq!(self.read(), REPLY_MAGIC.to_be_bytes());
        let error = u32::from_be_bytes(self.read());
        (error, u64::from_be_bytes(self.read()))
    }

    /// End the drive; return what the connection ended with.
    fn end(self) -> io::Result<()> {
        drop(self.stream);
        let ended = self.connection.join().unwrap();
        self.drive.end();
        self.clock.join().unwrap();
        ended
    }
}

#[test]
fn a_client_learns_size_and_flags() {
    let mut client = Client::connect();
    client.option(STRUCTURED_REPLY, b"");
    assert_eq!(client.option_reply(STRUCTURED_REPLY).0, UNSUPPORTED);
    client.option(LIST, b"");
    assert_eq!(client.option_reply(LIST), (SERVER, vec![0; 4]));
    assert_eq!(client.option_reply(LIST).0, ACKNOWLEDGED);
    client.option(GO, &[0; 6]);
    // Flags, flush, forced unit access, rotational.
    let export = [&[0, 0][..], &SIZE.to_be_bytes(), &[0, 0b1_1101]].concat();
    assert_eq!(client.option_reply(GO), (INFORMATION, export));
    assert_eq!(client.option_reply(GO).0, INFORMATION);
    assert_eq!(client.option_reply(GO).0, ACKNOWLEDGED);
    client.command(READ, 0, 1, 0, 512);
    assert_eq!(client.reply(), (0, 1));
    assert_eq!(client.read(), [0; 512]);
    client.command(DISCONNECT, 0, 2, 0, 0);
    assert!(client.end().is_ok());
}

#[test]
fn a_client_may_give_up() {
    let mut client = Client::connect();
    client.option(ABORT, b"");
    assert_eq!(client.option_reply(ABORT).0, ACKNOWLEDGED);
    assert!(client.end().is_ok());
}

#[test]
fn bytes_read_are_bytes_written() {
    let mut client = Client::transmitting();
    let data: Vec<u8> = (0..4096_u32).flat_map(u32::to_be_bytes).collect();
    client.write(FORCED_UNIT_ACCESS, 7, SIZE - 16_384, &data);
    assert_eq!(client.reply(), (0, 7));
    client.command(FLUSH, 0, 8, 0, 0);
    assert_eq!(client.reply(), (0, 8));
    client.command(READ, 0, 9, SIZE - 16_384, 16_384);
    assert_eq!(client.reply(), (0, 9));
    assert_eq!(client.read::<16_384>().as_slice(), data);
    client.command(DISCONNECT, 0, 0, 0, 0);
    client.end().unwrap();
}

#[test]
fn commands_in_flight_are_those_of_the_queue() {
    let mut client = Client::transmitting();
    for cookie in 0..10 {
        client.command(READ, 0, cookie, cookie * 4096, 4096);
    }
    let mut cookies = Vec::new();
    for _ in 0..10 {
        let (error, cookie) = client.reply();
        client.read::<4096>();
        assert_eq!(error, 0);
        cookies.push(cookie);
    }
    cookies.sort_unstable();
    assert_eq!(cookies, (0..10).collect::<Vec<_>>());
    assert!(client.drive.observe(|_, most_in_flight, _| most_in_flight) <= 2);
    client.command(DISCONNECT, 0, 0, 0, 0);
    client.end().unwrap();
}

#[test]
fn wrong_commands_get_an_error_and_change_nothing() {
    const TRIM: u16 = 4;
    let mut client = Client::transmitting();
    for (kind, offset, length) in [
        (READ, SIZE, 512),
        (READ, 100, 512),
        (READ, 0, 1 << 31),
        (TRIM, 0, 512),
    ] {
        client.command(kind, 0, 3, offset, length);
        assert_eq!(client.reply(), (INVALID, 3));
    }
    client.write(0, 4, SIZE - 512, &[1; 1024]);
    assert_eq!(client.reply(), (INVALID, 4));
    client.write(0, 5, 0, &vec![1; 2 << 20]);
    assert_eq!(client.reply(), (NO_SPACE, 5));
    client.command(READ, 0, 6, SIZE - 512, 512);
    assert_eq!(client.reply(), (0, 6));
    assert_eq!(client.read(), [0; 512]);
    client.command(DISCONNECT, 0, 0, 0, 0);
    client.end().unwrap();
}

#[test]
fn a_client_that_breaks_the_protocol_loses_its_connection() {
    let mut client = Client::transmitting();
    client.send(&[&[0; 28]]);
    assert_eq!(client.stream.read(&mut [0]).unwrap(), 0);
    assert_eq!(client.end().unwrap_err().kind(), io::ErrorKind::InvalidData);
}

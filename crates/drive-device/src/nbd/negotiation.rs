//! Negotiation with a client before its first command.

use std::io::{self, Read, Write};

use iostudy_drive::BLOCK_BYTES;

use crate::nbd::violation;

pub const GREETING: &[u8; 8] = b"NBDMAGIC";
pub const OPTION_MAGIC: &[u8; 8] = b"IHAVEOPT";
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
/// Fixed newstyle negotiation, and no padding after the reply to an export name.
pub const SERVER_FLAGS: u16 = 0b11;
const NO_PADDING: u32 = 0b10;
const PADDING: [u8; 124] = [0; 124];
/// Longest data of an option: names have at most 4096 bytes.
const MAX_OPTION_BYTES: u32 = 1 << 16;

pub const EXPORT_NAME: u32 = 1;
pub const ABORT: u32 = 2;
pub const LIST: u32 = 3;
pub const INFO: u32 = 6;
pub const GO: u32 = 7;

pub const ACKNOWLEDGED: u32 = 1;
pub const SERVER: u32 = 2;
pub const INFORMATION: u32 = 3;
pub const UNSUPPORTED: u32 = (1 << 31) + 1;

const EXPORT_INFORMATION: u16 = 0;
const BLOCK_SIZE_INFORMATION: u16 = 3;
const PREFERRED_BYTES: u32 = 4096;
/// Largest command that the protocol allows by default.
pub const MAX_BYTES: u32 = 32 << 20;

const HAS_FLAGS: u16 = 1;
const SENDS_FLUSH: u16 = 1 << 2;
const SENDS_FUA: u16 = 1 << 3;
const ROTATIONAL: u16 = 1 << 4;

/// Negotiate until the client begins transmission; false if it gives up.
///
/// # Errors
///
/// A lost connection, or a client that breaks the protocol.
pub fn negotiate(
    stream: &mut (impl Read + Write),
    size: u64,
    rotational: bool,
) -> io::Result<bool> {
    let flags = HAS_FLAGS | SENDS_FLUSH | SENDS_FUA | if rotational { ROTATIONAL } else { 0 };
    let mut greeting = [GREETING.as_slice(), OPTION_MAGIC].concat();
    greeting.extend(SERVER_FLAGS.to_be_bytes());
    stream.write_all(&greeting)?;
    let pads = u32::from_be_bytes(read(stream)?) & NO_PADDING == 0;
    loop {
        if read(stream)? != *OPTION_MAGIC {
            return Err(violation("no option"));
        }
        let option = u32::from_be_bytes(read(stream)?);
        skip(stream)?;
        match option {
            EXPORT_NAME => {
                let mut description = describe(size, flags);
                description.extend(if pads { PADDING.as_slice() } else { &[] });
                stream.write_all(&description)?;
                return Ok(true);
            }
            INFO | GO => {
                let export = [
                    &EXPORT_INFORMATION.to_be_bytes()[..],
                    &describe(size, flags),
                ];
                reply(stream, option, INFORMATION, &export.concat())?;
                reply(stream, option, INFORMATION, &block_sizes())?;
                reply(stream, option, ACKNOWLEDGED, &[])?;
                if option == GO {
                    return Ok(true);
                }
            }
            LIST => {
                let unnamed = 0_u32.to_be_bytes();
                reply(stream, option, SERVER, &unnamed)?;
                reply(stream, option, ACKNOWLEDGED, &[])?;
            }
            ABORT => {
                reply(stream, option, ACKNOWLEDGED, &[])?;
                return Ok(false);
            }
            _ => reply(stream, option, UNSUPPORTED, &[])?,
        }
    }
}

fn describe(size: u64, flags: u16) -> Vec<u8> {
    let mut description = size.to_be_bytes().to_vec();
    description.extend(flags.to_be_bytes());
    description
}

/// Smallest, preferred and largest transfer.
fn block_sizes() -> Vec<u8> {
    let smallest = u32::try_from(BLOCK_BYTES).expect("512");
    let mut information = BLOCK_SIZE_INFORMATION.to_be_bytes().to_vec();
    for bytes in [smallest, PREFERRED_BYTES, MAX_BYTES] {
        information.extend(bytes.to_be_bytes());
    }
    information
}

fn reply(stream: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let length = u32::try_from(data.len()).expect("a few bytes");
    let mut message = OPTION_REPLY_MAGIC.to_be_bytes().to_vec();
    for field in [option, kind, length] {
        message.extend(field.to_be_bytes());
    }
    message.extend(data);
    stream.write_all(&message)
}

/// Skip the data of an option: the name of the export, and the information that a client wants.
fn skip(stream: &mut impl Read) -> io::Result<()> {
    let length = u32::from_be_bytes(read(stream)?);
    if length > MAX_OPTION_BYTES {
        return Err(violation("a long option"));
    }
    stream.read_exact(&mut vec![0; length as usize])
}

pub fn read<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

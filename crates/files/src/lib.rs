//! Files opened, read and written to the last byte, and closed, with every error told.
//!
//! A call that a signal interrupts is made again. Which file it was and how a fault is worded is
//! left to the caller.

use std::os::fd::{AsFd, IntoRawFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, ftruncate, openat};
use rustix::io::{Errno, retry_on_intr, try_close};
use rustix::path::Arg;

/// What files that are made get, less the umask.
const FILE_MODE: Mode = Mode::from_raw_mode(0o644);

/// A call on part of a file that the kernel refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The first byte that it did not come to.
    pub offset: u64,
    /// What the kernel said.
    pub errno: Errno,
}

/// Open a file, for this program alone and not for those that it starts.
///
/// # Errors
///
/// What the kernel said, see open(2).
pub fn open(path: impl Arg + Copy, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_below(CWD, path, flags)
}

/// Open a file by its path from a directory, otherwise as [`open`].
///
/// # Errors
///
/// What the kernel said, see openat(2).
pub fn open_below(
    directory: impl AsFd,
    path: impl Arg + Copy,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| openat(&directory, path, flags | OFlags::CLOEXEC, FILE_MODE))
}

/// Open a file that is there to write to it. A link is not followed, and a file that has a second
/// name is refused: another user may have put either in the place of the file that is meant.
///
/// # Errors
///
/// What the kernel said, see open(2): `ELOOP` for a symbolic link; `EMLINK` for a second name.
pub fn open_own(path: impl Arg + Copy, flags: OFlags) -> Result<OwnedFd, Errno> {
    let file = open(path, flags | OFlags::NOFOLLOW)?;
    let found = fstat(&file)?;
    if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_nlink > 1 {
        return Err(Errno::MLINK);
    }
    Ok(file)
}

/// Make a file, or empty the one that is there, otherwise as [`open_own`].
///
/// # Errors
///
/// As [`open_own`], or what ftruncate(2) said.
pub fn create_own(path: impl Arg + Copy, flags: OFlags) -> Result<OwnedFd, Errno> {
    // Emptied only after it was checked, so not by O_TRUNC.
    let file = open_own(path, flags | OFlags::CREATE)?;
    retry_on_intr(|| ftruncate(&file, 0))?;
    Ok(file)
}

/// Fill `data`, which begins at `offset` of the file, as far as the file goes; the number of bytes
/// read. `read` is called with what is left and its offset until there is nothing left or it gives
/// nothing.
///
/// # Errors
///
/// What the kernel refused, and at which byte.
#[inline]
pub fn read_all(
    data: &mut [u8],
    offset: u64,
    read: impl Fn(&mut [u8], u64) -> Result<usize, Errno>,
) -> Result<usize, Refused> {
    let mut found = 0;
    while found < data.len() {
        let offset = offset + found as u64;
        let count = retry_on_intr(|| read(&mut data[found..], offset))
            .map_err(|errno| Refused { offset, errno })?;
        if count == 0 {
            break;
        }
        found += count;
    }
    Ok(found)
}

/// Write all of `data` from `offset` of the file on. The kernel may take less than it is given;
/// then `write` is called again with the rest and its offset.
///
/// # Errors
///
/// What the kernel refused, and at which byte; `EIO` if it takes nothing and gives no reason.
#[inline]
pub fn write_all(
    mut data: &[u8],
    mut offset: u64,
    write: impl Fn(&[u8], u64) -> Result<usize, Errno>,
) -> Result<(), Refused> {
    while !data.is_empty() {
        let written = match retry_on_intr(|| write(data, offset)) {
            Ok(0) => Err(Errno::IO), // it would go on for ever
            other => other,
        }
        .map_err(|errno| Refused { offset, errno })?;
        data = &data[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Close and tell the error: network file systems write at close, and may only then find the quota
/// exceeded.
///
/// # Errors
///
/// What the kernel said, see close(2). The file is closed in any case, so that an interrupted call
/// is told as well and not made again.
pub fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor was owned, is given up here and is not used again.
    unsafe { try_close(file.into_raw_fd()) }
}

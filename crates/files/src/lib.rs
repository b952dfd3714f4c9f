//! Helpers for opening, reading, writing and closing files with complete error reports.
//!
//! Each helper retries calls that a signal interrupted. Callers add the path and the wording of
//! errors.

use std::os::fd::{AsFd, IntoRawFd, OwnedFd};

use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl, fstat, ftruncate, openat};
use rustix::io::{Errno, retry_on_intr, try_close};
use rustix::path::Arg;

/// Permissions of new files, before the umask.
const FILE_MODE: Mode = Mode::from_raw_mode(0o644);

/// Failed system call on part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallError {
    /// Offset of the first byte that was not transferred.
    pub offset: u64,
    /// Error number from the kernel.
    pub errno: Errno,
}

/// Open a file with close-on-exec.
///
/// # Errors
///
/// The error of open(2).
pub fn open(path: impl Arg + Copy, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_at(CWD, path, flags)
}

/// Open a file by a path relative to a directory, otherwise as [`open`].
///
/// # Errors
///
/// The error of openat(2).
pub fn open_at(
    directory: impl AsFd,
    path: impl Arg + Copy,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| openat(&directory, path, flags | OFlags::CLOEXEC, FILE_MODE))
}

/// Open a file of data, without waiting for the other end of a FIFO that another user may have put
/// in its place.
///
/// # Errors
///
/// The error of open(2): `ENXIO` for a FIFO.
pub fn open_data(path: impl Arg + Copy, flags: OFlags) -> Result<OwnedFd, Errno> {
    let file = open(path, flags | OFlags::NONBLOCK)?;
    if file_type(&file)? == FileType::Fifo {
        return Err(Errno::NXIO);
    }
    fcntl_setfl(&file, flags)?;
    Ok(file)
}

/// Open an existing file to write to it. Follow no link, and refuse a file that has a second name:
/// another user may have put either in the place of the intended file.
///
/// # Errors
///
/// The error of open(2): `ELOOP` for a symbolic link; `EMLINK` for a second name.
pub fn open_own(path: impl Arg + Copy, flags: OFlags) -> Result<OwnedFd, Errno> {
    let file = open_data(path, flags | OFlags::NOFOLLOW)?;
    if is_regular(&file)? && fstat(&file)?.st_nlink > 1 {
        return Err(Errno::MLINK);
    }
    Ok(file)
}

/// Create a file, or empty the existing one, with the checks of [`open_own`]. As with `O_TRUNC`, a
/// device is not emptied.
///
/// # Errors
///
/// As [`open_own`], or the error of ftruncate(2).
pub fn create_own(path: impl Arg + Copy, flags: OFlags) -> Result<OwnedFd, Errno> {
    // Emptied only after it was checked, so not by O_TRUNC.
    let file = open_own(path, flags | OFlags::CREATE)?;
    if is_regular(&file)? {
        retry_on_intr(|| ftruncate(&file, 0))?;
    }
    Ok(file)
}

fn is_regular(file: &OwnedFd) -> Result<bool, Errno> {
    Ok(file_type(file)? == FileType::RegularFile)
}

fn file_type(file: &OwnedFd) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode))
}

/// Fill `data` from `offset` of the file up to the end of the file. Return the number of bytes
/// read. `read` gets the unfilled part and its offset. It is called until `data` is full or it
/// returns 0.
///
/// # Errors
///
/// The errno of the failed call and its offset.
#[inline]
pub fn read_all(
    data: &mut [u8],
    offset: u64,
    read: impl Fn(&mut [u8], u64) -> Result<usize, Errno>,
) -> Result<usize, CallError> {
    let mut found = 0;
    while found < data.len() {
        let offset = offset + found as u64;
        let count = retry_on_intr(|| read(&mut data[found..], offset))
            .map_err(|errno| CallError { offset, errno })?;
        if count == 0 {
            break;
        }
        found += count;
    }
    Ok(found)
}

/// Write all of `data` at `offset` of the file. The kernel may write less than requested; then
/// `write` is called again with the rest and its offset.
///
/// # Errors
///
/// The errno of the failed call and its offset; `EIO` if a call writes nothing.
#[inline]
pub fn write_all(
    mut data: &[u8],
    mut offset: u64,
    write: impl Fn(&[u8], u64) -> Result<usize, Errno>,
) -> Result<(), CallError> {
    while !data.is_empty() {
        let written = match retry_on_intr(|| write(data, offset)) {
            Ok(0) => Err(Errno::IO), // a retry would loop forever
            other => other,
        }
        .map_err(|errno| CallError { offset, errno })?;
        data = &data[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Close a file and report the error. Network file systems write data at close and may detect an
/// exceeded quota only then.
///
/// # Errors
///
/// The error of close(2). The file is closed in any case, so an interrupted call is reported and
/// not retried.
#[expect(unsafe_code, reason = "a dropped descriptor reports no error of close")]
pub fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor was owned, is released here and is not used again.
    unsafe { try_close(file.into_raw_fd()) }
}

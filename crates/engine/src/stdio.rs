//! Record I/O by C library streams, as in programs that use fread and fwrite.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::error::{Fault, FileFault};
use crate::sync_io::SyncIo;

/// fread(3) and fwrite(3) with the library's buffer, and fseeko(3) where the stream position
/// differs.
pub(crate) struct Stdio {
    streams: Vec<Option<Stream>>,
}

/// Stream on a duplicated descriptor, with its current position.
struct Stream {
    file: *mut libc::FILE,
    position: u64,
}

// SAFETY: one thread at a time owns a stream.
unsafe impl Send for Stream {}

impl Stdio {
    /// Create the state for `files` newly opened files.
    pub(crate) fn new(files: usize) -> Self {
        Self {
            streams: (0..files).map(|_| None).collect(),
        }
    }

    /// Stream of a file, positioned at `offset`; its position then advances by `len` bytes.
    fn at(
        &mut self,
        index: usize,
        file: BorrowedFd,
        offset: u64,
        len: usize,
        mode: &std::ffi::CStr,
    ) -> Result<*mut libc::FILE, Fault> {
        let slot = &mut self.streams[index];
        if slot.is_none() {
            *slot = Some(Stream::open(file, mode)?);
        }
        let stream = slot.as_mut().expect("the stream was opened above");
        if stream.position != offset {
            stream.seek(offset)?;
        }
        stream.position = offset + len as u64;
        Ok(stream.file)
    }
}

impl SyncIo for Stdio {
    fn write(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &[u8],
        offset: u64,
    ) -> Result<(), Fault> {
        let stream = self.at(index, file, offset, data.len(), c"w")?;
        // SAFETY: the stream is open, and `data` has this length.
        let written = unsafe { libc::fwrite(data.as_ptr().cast(), 1, data.len(), stream) };
        if written < data.len() {
            return Err(last_fault("fwrite", offset + written as u64));
        }
        Ok(())
    }

    fn read(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &mut [u8],
        offset: u64,
    ) -> Result<usize, Fault> {
        let stream = self.at(index, file, offset, data.len(), c"r")?;
        // SAFETY: the stream is open, and `data` has this length.
        let found = unsafe { libc::fread(data.as_mut_ptr().cast(), 1, data.len(), stream) };
        // SAFETY: the stream is open.
        if found < data.len() && unsafe { libc::ferror(stream) } != 0 {
            return Err(last_fault("fread", offset + found as u64));
        }
        Ok(found)
    }

    fn finish(&mut self) -> Result<(), FileFault> {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if let Some(stream) = stream.take() {
                stream.close().map_err(FileFault::in_file(index))?;
            }
        }
        Ok(())
    }
}

impl Stream {
    fn open(file: BorrowedFd, mode: &std::ffi::CStr) -> Result<Self, Fault> {
        // Child processes must not inherit the descriptor.
        let own = fcntl_dupfd_cloexec(file, 0).map_err(Fault::in_call("fcntl", 0))?;
        // SAFETY: the descriptor is open and the mode is a C string.
        let stream = unsafe { libc::fdopen(own.as_raw_fd(), mode.as_ptr()) };
        if stream.is_null() {
            return Err(last_fault("fdopen", 0));
        }
        std::mem::forget(own); // the stream owns it now
        Ok(Self {
            file: stream,
            position: 0,
        })
    }

    fn seek(&mut self, offset: u64) -> Result<(), Fault> {
        let to = libc::off_t::try_from(offset)
            .map_err(|_| Fault::in_call("fseeko", offset)(Errno::OVERFLOW))?;
        // SAFETY: the stream is open.
        match unsafe { libc::fseeko(self.file, to, libc::SEEK_SET) } {
            0 => Ok(()),
            _ => Err(last_fault("fseeko", offset)),
        }
    }

    /// Flush and close the stream, but not the original descriptor.
    fn close(self) -> Result<(), Fault> {
        let (file, position) = (self.file, self.position);
        std::mem::forget(self); // avoids a second close in `drop`
        // SAFETY: the stream is open and is not used again.
        match unsafe { libc::fclose(file) } {
            0 => Ok(()),
            _ => Err(last_fault("fclose", position)),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open; the job has already failed with another error.
        unsafe { libc::fclose(self.file) };
    }
}

fn last_fault(call: &'static str, offset: u64) -> Fault {
    let errno = Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO);
    Fault::in_call(call, offset)(errno)
}

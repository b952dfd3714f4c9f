//! Records by way of the C library's streams, as programs move them that use fread and fwrite.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

use crate::calls::Calls;
use crate::error::{Fault, FileFault};

/// fread(3) and fwrite(3) with the library's own buffer, after fseeko(3) where the stream's
/// position is another one.
pub(crate) struct Stdio {
    streams: Vec<Option<Stream>>,
}

/// A stream on a descriptor that it does not own. `position` is where it stands.
struct Stream {
    file: *mut libc::FILE,
    position: u64,
}

// SAFETY: a stream is used by the thread that made it, or by one that it was moved to as a whole.
unsafe impl Send for Stream {}

impl Stdio {
    /// For so many files, which have just been opened.
    pub(crate) fn new(files: usize) -> Self {
        Self {
            streams: (0..files).map(|_| None).collect(),
        }
    }

    /// The stream of that file, standing at `offset`; it is taken to stand behind `len` bytes then.
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
        let stream = slot.as_mut().expect("it has just been opened");
        if stream.position != offset {
            stream.seek(offset)?;
        }
        stream.position = offset + len as u64;
        Ok(stream.file)
    }
}

impl Calls for Stdio {
    fn write(
        &mut self,
        index: usize,
        file: BorrowedFd,
        data: &[u8],
        offset: u64,
    ) -> Result<(), Fault> {
        let stream = self.at(index, file, offset, data.len(), c"w")?;
        // SAFETY: the stream is open, and `data` has so many bytes.
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
        // SAFETY: the stream is open, and `data` has so many bytes.
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
                stream.close().map_err(FileFault::of(index))?;
            }
        }
        Ok(())
    }
}

impl Stream {
    fn open(file: BorrowedFd, mode: &std::ffi::CStr) -> Result<Self, Fault> {
        // Programs that run beside the job are not to hold its files open.
        let own = fcntl_dupfd_cloexec(file, 0).map_err(Fault::of("fcntl", 0))?;
        // SAFETY: the descriptor is open and the mode is a C string.
        let stream = unsafe { libc::fdopen(own.as_raw_fd(), mode.as_ptr()) };
        if stream.is_null() {
            return Err(last_fault("fdopen", 0));
        }
        std::mem::forget(own); // it is the stream's now
        Ok(Self {
            file: stream,
            position: 0,
        })
    }

    fn seek(&mut self, offset: u64) -> Result<(), Fault> {
        let to = libc::off_t::try_from(offset)
            .map_err(|_| Fault::of("fseeko", offset)(Errno::OVERFLOW))?;
        // SAFETY: the stream is open.
        match unsafe { libc::fseeko(self.file, to, libc::SEEK_SET) } {
            0 => Ok(()),
            _ => Err(last_fault("fseeko", offset)),
        }
    }

    /// Write what is buffered and close the stream, not the descriptor that it was made of.
    fn close(self) -> Result<(), Fault> {
        let (file, position) = (self.file, self.position);
        std::mem::forget(self); // closed here, not once more when dropped
        // SAFETY: the stream is open and is not used again.
        match unsafe { libc::fclose(file) } {
            0 => Ok(()),
            _ => Err(last_fault("fclose", position)),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is open; its job has failed already, with an error of its own.
        unsafe { libc::fclose(self.file) };
    }
}

fn last_fault(call: &'static str, offset: u64) -> Fault {
    let errno = Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO);
    Fault::of(call, offset)(errno)
}

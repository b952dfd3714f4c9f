//! `io_uring` with a buffer for each record in flight.
//!
//! Source: `io_uring_setup(2)`, `io_uring_enter(2)`, `io_uring_register(2)`.

use std::io;
use std::mem::ManuallyDrop;
use std::time::Duration;

use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{Builder, EnterFlags, IoUring, opcode, squeue};
use iostudy_pattern::{AlignedBuffer, PAGE_BYTES};
use rustix::io::Errno;

use crate::files::Files;
use crate::job::UringOptions;
use crate::meter::Direction;

/// Idle time in milliseconds before the kernel's polling thread sleeps.
const SQPOLL_IDLE_MS: u32 = 100;

/// Optional ring setups, best first. `IORING_SETUP_COOP_TASKRUN` (Linux 5.19) avoids an interrupt
/// per completion. `IORING_SETUP_DEFER_TASKRUN` used more CPU in random reads of 4 KiB at depth 32.
const SETUP_MODES: [fn(&mut Builder); 2] = [
    |builder| {
        builder.setup_coop_taskrun();
    },
    |_| {},
];

/// Open the ring without buffers, so that a fallback is possible.
pub(crate) fn open(options: UringOptions) -> Result<IoUring, Errno> {
    let modes = if options.sqpoll {
        &SETUP_MODES[1..]
    } else {
        &SETUP_MODES
    };
    let mut outcome = Err(Errno::INVAL);
    for mode in modes {
        outcome = open_in_mode(options, *mode);
        if !matches!(outcome, Err(Errno::INVAL)) {
            break;
        }
    }
    // Linux before 5.11 lacks the feature and cannot wait with a timeout.
    outcome.and_then(|ring| {
        if ring.params().is_feature_ext_arg() {
            Ok(ring)
        } else {
            Err(Errno::NOSYS)
        }
    })
}

fn open_in_mode(options: UringOptions, mode: fn(&mut Builder)) -> Result<IoUring, Errno> {
    let mut builder = IoUring::builder();
    mode(&mut builder);
    if options.sqpoll {
        builder.setup_sqpoll(SQPOLL_IDLE_MS);
    }
    if options.iopoll {
        builder.setup_iopoll();
    }
    builder
        .build(entries(options))
        .map_err(|error| errno(&error))
}

/// The polling thread fetches all entries and frees their slots only after starting every one.
/// Transfers can complete before that, and as many new ones may be submitted.
fn entries(options: UringOptions) -> u32 {
    if options.sqpoll {
        options.depth * 2
    } else {
        options.depth
    }
}

/// Part of a record, transferred between its slot and a file.
pub(crate) struct Piece {
    pub(crate) slot: usize,
    /// Index of the registered file.
    pub(crate) file: usize,
    pub(crate) direction: Direction,
    /// Offset in the file.
    pub(crate) offset: u64,
    /// Bytes of the record that are already transferred.
    pub(crate) skip: usize,
    pub(crate) len: usize,
}

/// Ring with one buffer per slot. The kernel owns the slot of a piece in flight, so the queue frees
/// its memory only after every piece has completed.
pub(crate) struct Queue {
    ring: IoUring,
    buffers: ManuallyDrop<AlignedBuffer>,
    slot_bytes: usize,
    sqpoll: bool,
    unregistered: Option<Errno>,
    in_flight: usize,
}

impl Queue {
    /// Create one slot per queue entry. The buffers are registered if the memory lock limit allows
    /// it.
    pub(crate) fn new(
        ring: IoUring,
        options: UringOptions,
        record_bytes: usize,
    ) -> io::Result<Self> {
        let (slot_bytes, all_bytes) =
            sizes(record_bytes, options.depth as usize).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut buffers = AlignedBuffer::new(all_bytes)?;
        let slots: Vec<libc::iovec> = buffers
            .chunks_exact_mut(slot_bytes)
            .map(|slot| libc::iovec {
                iov_base: slot.as_mut_ptr().cast(),
                iov_len: slot.len(),
            })
            .collect();
        // SAFETY: the buffers outlive the ring's use of them; see `drop`.
        let registered = unsafe { ring.submitter().register_buffers(&slots) };
        Ok(Self {
            ring,
            buffers: ManuallyDrop::new(buffers),
            slot_bytes,
            sqpoll: options.sqpoll,
            unregistered: registered.err().map(|error| errno(&error)),
            in_flight: 0,
        })
    }

    /// Errno of the buffer registration, if it failed.
    pub(crate) fn unregistered(&self) -> Option<Errno> {
        self.unregistered
    }

    /// Register the files that pieces refer to.
    pub(crate) fn attach(&self, files: &Files) -> Result<(), Errno> {
        let registered = self.ring.submitter().register_files(&files.descriptors());
        registered.map_err(|error| errno(&error))
    }

    /// Memory of a slot without a piece in flight.
    #[inline]
    pub(crate) fn slot(&mut self, slot: usize) -> &mut [u8] {
        &mut self.buffers[slot * self.slot_bytes..][..self.slot_bytes]
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Queue a piece; the next `wait` submits it.
    #[inline]
    pub(crate) fn submit(&mut self, piece: &Piece) {
        let entry = self.entry(piece).user_data(piece.slot as u64);
        // SAFETY: the slot is within the buffers, which outlive the ring's use of them.
        unsafe { self.ring.submission().push(&entry) }
            .expect("the ring has an entry for every slot");
        self.in_flight += 1;
    }

    /// Submit queued pieces and wait for `at_least` completions or the timeout.
    pub(crate) fn wait(&mut self, at_least: usize, time: Option<Duration>) -> Result<(), Errno> {
        // The polling thread completes pieces by itself: a system call is needed only to sleep.
        let ready = self.sqpoll && !self.ring.completion().is_empty();
        let at_least = if ready { 0 } else { at_least };
        let waited = match time {
            None => self.ring.submit_and_wait(at_least),
            Some(time) => {
                let time = Timespec::from(time);
                let arguments = SubmitArgs::new().timespec(&time);
                let submitter = self.ring.submitter();
                submitter.submit_with_args(at_least, &arguments)
            }
        };
        ignore_transient(waited)
    }

    /// Number of pieces that the kernel may have fetched. With a polling thread these are all
    /// queued pieces; otherwise the submitted ones.
    fn submitted(&mut self) -> usize {
        let kept = if self.sqpoll {
            0
        } else {
            self.ring.submission().len()
        };
        self.in_flight - kept
    }

    /// Wait for a submitted piece to complete; queued pieces are not submitted.
    fn wait_for_submitted(&mut self) -> Result<(), Errno> {
        if self.sqpoll {
            return self.wait(1, None); // the polling thread may sleep and needs a wake-up
        }
        let flags = EnterFlags::GETEVENTS.bits();
        // SAFETY: the call passes no argument.
        let waited = unsafe { self.ring.submitter().enter::<()>(0, 1, flags, None) };
        ignore_transient(waited)
    }

    /// Slot of the next completed piece and the number of bytes transferred.
    #[inline]
    pub(crate) fn next_completion(&mut self) -> Option<(usize, Result<usize, Errno>)> {
        let entry = self.ring.completion().next()?;
        self.in_flight -= 1;
        let transferred = usize::try_from(entry.result());
        #[allow(clippy::cast_possible_truncation)] // it was a usize
        let slot = entry.user_data() as usize;
        Some((
            slot,
            transferred.map_err(|_| Errno::from_raw_os_error(-entry.result())),
        ))
    }

    #[allow(clippy::cast_possible_truncation)] // at most 4096 slots and files that can be open
    fn entry(&mut self, piece: &Piece) -> squeue::Entry {
        let file = Fixed(piece.file as u32);
        let (offset, index) = (piece.offset, piece.slot as u16);
        let is_registered = self.unregistered.is_none();
        let memory = &mut self.slot(piece.slot)[piece.skip..][..piece.len];
        // The kernel transfers less than 2 GiB per call; the rest follows.
        let len = u32::try_from(memory.len()).unwrap_or(u32::MAX);
        let memory = memory.as_mut_ptr();
        match (piece.direction, is_registered) {
            (Direction::Read, true) => opcode::ReadFixed::new(file, memory, len, index)
                .offset(offset)
                .build(),
            (Direction::Read, false) => opcode::Read::new(file, memory, len).offset(offset).build(),
            (Direction::Write, true) => opcode::WriteFixed::new(file, memory, len, index)
                .offset(offset)
                .build(),
            (Direction::Write, false) => {
                opcode::Write::new(file, memory, len).offset(offset).build()
            }
        }
    }
}

/// Bytes of one slot and of all slots; `None` if they exceed the address space.
fn sizes(record_bytes: usize, depth: usize) -> Option<(usize, usize)> {
    let slot_bytes = record_bytes.checked_next_multiple_of(PAGE_BYTES)?;
    let all_bytes = slot_bytes.checked_mul(depth)?;
    isize::try_from(all_bytes).ok()?;
    Some((slot_bytes, all_bytes))
}

impl Drop for Queue {
    /// Queued pieces are never submitted: nothing is written after a fault or a stop.
    fn drop(&mut self) {
        while self.submitted() > 0 {
            if self.wait_for_submitted().is_err() {
                return; // a leak is safer than kernel writes to freed memory
            }
            while self.next_completion().is_some() {}
        }
        // SAFETY: dropped once, here, and the kernel holds no reference.
        unsafe { ManuallyDrop::drop(&mut self.buffers) }
    }
}

/// Ignore timeouts, signals and temporary shortages.
fn ignore_transient(waited: io::Result<usize>) -> Result<(), Errno> {
    match waited.map_err(|error| errno(&error)) {
        Ok(_) | Err(Errno::TIME | Errno::INTR | Errno::AGAIN | Errno::BUSY) => Ok(()),
        Err(errno) => Err(errno),
    }
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::OwnedFd;

    use super::*;

    const WANTED: UringOptions = UringOptions {
        depth: 2,
        batch: 1,
        sqpoll: false,
        iopoll: false,
    };

    #[test]
    fn queued_pieces_are_not_written_when_the_queue_is_dropped() {
        let Ok(ring) = open(WANTED) else {
            eprintln!("skipped: no io_uring");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let files = Files::from(vec![OwnedFd::from(File::create(&path).unwrap())]);
        let mut queue = Queue::new(ring, WANTED, PAGE_BYTES).unwrap();
        queue.attach(&files).unwrap();
        queue.submit(&page(0));
        queue.wait(0, None).unwrap();
        queue.submit(&page(1));
        drop(queue);
        assert_eq!(path.metadata().unwrap().len(), PAGE_BYTES as u64);
    }

    fn page(slot: usize) -> Piece {
        Piece {
            slot,
            file: 0,
            direction: Direction::Write,
            offset: (slot * PAGE_BYTES) as u64,
            skip: 0,
            len: PAGE_BYTES,
        }
    }
}

//! An `io_uring` with the buffers of the records under way in it.
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
use crate::job::Ring;
use crate::meter::Direction;

/// After so long without a record the kernel's thread goes to sleep and has to be woken.
const SQPOLL_IDLE_MS: u32 = 100;

/// What makes a ring cheaper where the kernel has it, the best first: no interrupt to the thread for
/// every completion (Linux 5.19). To defer them until the thread asks (`IORING_SETUP_DEFER_TASKRUN`)
/// took more of the processor where both were tried: random reads of 4 KiB, 32 under way.
const WAYS: [fn(&mut Builder); 2] = [
    |builder| {
        builder.setup_coop_taskrun();
    },
    |_| {},
];

/// The ring alone, so that it can be done without where the kernel has none.
pub(crate) fn open(wanted: Ring) -> Result<IoUring, Errno> {
    let ways = if wanted.sqpoll { &WAYS[1..] } else { &WAYS };
    let mut outcome = Err(Errno::INVAL);
    for way in ways {
        outcome = open_in_one_way(wanted, *way);
        if !matches!(outcome, Err(Errno::INVAL)) {
            break;
        }
    }
    // Without it (before Linux 5.11) there is no waiting for a time.
    outcome.and_then(|ring| {
        if ring.params().is_feature_ext_arg() {
            Ok(ring)
        } else {
            Err(Errno::NOSYS)
        }
    })
}

fn open_in_one_way(wanted: Ring, way: fn(&mut Builder)) -> Result<IoUring, Errno> {
    let mut builder = IoUring::builder();
    way(&mut builder);
    if wanted.sqpoll {
        builder.setup_sqpoll(SQPOLL_IDLE_MS);
    }
    if wanted.iopoll {
        builder.setup_iopoll();
    }
    builder
        .build(entries(wanted))
        .map_err(|error| errno(&error))
}

/// The kernel's thread takes all entries that it finds, and gives their room back only when it has
/// begun every one. Pieces end before that, and as many may be begun in their place.
fn entries(wanted: Ring) -> u32 {
    if wanted.sqpoll {
        wanted.depth * 2
    } else {
        wanted.depth
    }
}

/// A part of a record, to be moved between its slot and a file.
pub(crate) struct Piece {
    pub(crate) slot: usize,
    /// Which of the attached files.
    pub(crate) file: usize,
    pub(crate) direction: Direction,
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// How much of the record is moved already.
    pub(crate) skip: usize,
    pub(crate) len: usize,
}

/// A ring with a buffer for each slot. While a piece is under way, its slot belongs to the kernel;
/// so the queue gives its memory back only after every piece has ended.
pub(crate) struct Queue {
    ring: IoUring,
    buffers: ManuallyDrop<AlignedBuffer>,
    slot_bytes: usize,
    sqpoll: bool,
    unregistered: Option<Errno>,
    under_way: usize,
}

impl Queue {
    /// With as many slots as the ring is deep; registered, if so much memory may be locked.
    pub(crate) fn new(ring: IoUring, wanted: Ring, record_bytes: usize) -> io::Result<Self> {
        let (slot_bytes, all_bytes) =
            sizes(record_bytes, wanted.depth as usize).ok_or(io::ErrorKind::OutOfMemory)?;
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
            sqpoll: wanted.sqpoll,
            unregistered: registered.err().map(|error| errno(&error)),
            under_way: 0,
        })
    }

    /// Why the kernel has to look up the buffers for every record, if it has to.
    pub(crate) fn unregistered(&self) -> Option<Errno> {
        self.unregistered
    }

    /// The files that pieces name by their positions.
    pub(crate) fn attach(&self, files: &Files) -> Result<(), Errno> {
        let registered = self.ring.submitter().register_files(&files.descriptors());
        registered.map_err(|error| errno(&error))
    }

    /// The memory of a slot of which nothing is under way.
    #[inline]
    pub(crate) fn slot(&mut self, slot: usize) -> &mut [u8] {
        &mut self.buffers[slot * self.slot_bytes..][..self.slot_bytes]
    }

    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }

    /// Have it moved from the next `wait` on.
    #[inline]
    pub(crate) fn begin(&mut self, piece: &Piece) {
        let entry = self.entry(piece).user_data(piece.slot as u64);
        // SAFETY: the slot is within the buffers, which outlive the ring's use of them.
        unsafe { self.ring.submission().push(&entry) }
            .expect("the ring has an entry for every slot");
        self.under_way += 1;
    }

    /// Hand over what was begun and wait for so many pieces to end, or until the time is over.
    pub(crate) fn wait(&mut self, at_least: usize, time: Option<Duration>) -> Result<(), Errno> {
        // The kernel's thread ends pieces all the time: a system call only to sleep.
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
        pass_over_passing(waited)
    }

    /// How many pieces the kernel may have taken: with a thread of its own all that were begun, as
    /// it looks for them by itself; else those that were handed over.
    fn taken(&mut self) -> usize {
        let kept = if self.sqpoll {
            0
        } else {
            self.ring.submission().len()
        };
        self.under_way - kept
    }

    /// Wait for a piece that the kernel has taken to end; what it has not taken stays here.
    fn wait_for_taken(&mut self) -> Result<(), Errno> {
        if self.sqpoll {
            return self.wait(1, None); // the thread may sleep, and has to be woken
        }
        let flags = EnterFlags::GETEVENTS.bits();
        // SAFETY: without an argument there is none to be wrong.
        let waited = unsafe { self.ring.submitter().enter::<()>(0, 1, flags, None) };
        pass_over_passing(waited)
    }

    /// The slot of a piece that has ended, and how many bytes were moved.
    #[inline]
    pub(crate) fn ended(&mut self) -> Option<(usize, Result<usize, Errno>)> {
        let entry = self.ring.completion().next()?;
        self.under_way -= 1;
        let moved = usize::try_from(entry.result());
        #[allow(clippy::cast_possible_truncation)] // it was a usize
        let slot = entry.user_data() as usize;
        Some((
            slot,
            moved.map_err(|_| Errno::from_raw_os_error(-entry.result())),
        ))
    }

    #[allow(clippy::cast_possible_truncation)] // at most 4096 slots and files that can be open
    fn entry(&mut self, piece: &Piece) -> squeue::Entry {
        let file = Fixed(piece.file as u32);
        let (offset, index) = (piece.offset, piece.slot as u16);
        let is_registered = self.unregistered.is_none();
        let memory = &mut self.slot(piece.slot)[piece.skip..][..piece.len];
        // The kernel moves less than 2 GiB at a time; what is left follows.
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

/// Of a slot and of all, unless no memory is so large.
fn sizes(record_bytes: usize, depth: usize) -> Option<(usize, usize)> {
    let slot_bytes = record_bytes.checked_next_multiple_of(PAGE_BYTES)?;
    let all_bytes = slot_bytes.checked_mul(depth)?;
    isize::try_from(all_bytes).ok()?;
    Some((slot_bytes, all_bytes))
}

impl Drop for Queue {
    /// What was begun and not handed over is never moved: after a fault or a stop nothing is
    /// written any more.
    fn drop(&mut self) {
        while self.taken() > 0 {
            if self.wait_for_taken().is_err() {
                return; // better memory lost than written to behind the back of its next owner
            }
            while self.ended().is_some() {}
        }
        // SAFETY: dropped once, here, and the kernel has nothing that names it.
        unsafe { ManuallyDrop::drop(&mut self.buffers) }
    }
}

/// Not an error: the time is over, there was a signal, or resources are short for a moment.
fn pass_over_passing(waited: io::Result<usize>) -> Result<(), Errno> {
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

    const WANTED: Ring = Ring {
        depth: 2,
        batch: 1,
        sqpoll: false,
        iopoll: false,
    };

    #[test]
    fn what_was_begun_and_not_handed_over_is_not_written_when_the_queue_ends() {
        let Ok(ring) = open(WANTED) else {
            eprintln!("skipped: no io_uring");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let files = Files::from(vec![OwnedFd::from(File::create(&path).unwrap())]);
        let mut queue = Queue::new(ring, WANTED, PAGE_BYTES).unwrap();
        queue.attach(&files).unwrap();
        queue.begin(&page(0));
        queue.wait(0, None).unwrap();
        queue.begin(&page(1));
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

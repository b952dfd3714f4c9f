//! Block I/O of a workload, the requests of a queue, and their slab.

use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

use crate::clock::Nanos;

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Transfers sectors to the host.
    Read,
    /// Transfers sectors from the host.
    Write,
}

/// Class of an I/O priority, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PriorityClass {
    /// Served before the others.
    RealTime,
    /// The default.
    BestEffort,
    /// Served if no other class has requests.
    Idle,
}

/// I/O priority of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Priority {
    /// Class.
    pub class: PriorityClass,
    /// Level in the class: 0 (best) to 7.
    pub level: u8,
}

impl Priority {
    /// Priority of a process that set none, from its CPU nice value of -20 to 19.
    pub fn from_nice(nice: i8) -> Self {
        Self {
            class: PriorityClass::BestEffort,
            level: (nice.clamp(-20, 19) + 20).unsigned_abs() / 5,
        }
    }

    /// Index of the async requests of this priority: eight levels of two classes, and the idle
    /// class.
    pub(crate) fn async_index(self) -> usize {
        match self.class {
            PriorityClass::Idle => ASYNC_QUEUES - 1,
            class => class as usize * 8 + usize::from(self.level.min(7)),
        }
    }
}

/// Number of [`Priority::async_index`].
pub(crate) const ASYNC_QUEUES: usize = 17;

impl Default for Priority {
    fn default() -> Self {
        Self::from_nice(0)
    }
}

/// I/O context: a task, or the tasks that share one context. Numbers should be small and dense,
/// because schedulers index tables with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

impl ProcessId {
    /// Index for a table with an entry per process.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Block I/O that a workload submits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bio {
    /// Identifier chosen by the workload, returned with the completion.
    pub tag: u64,
    /// Kind.
    pub operation: Operation,
    /// First sector.
    pub start: u64,
    /// Number of sectors.
    pub sectors: u32,
    /// Whether a process waits for this write (`O_SYNC`, `O_DIRECT`, fsync). Reads are always sync.
    pub sync: bool,
    /// Process that issues it.
    pub process: ProcessId,
    /// Priority of the process.
    pub priority: Priority,
    /// CPU that issues it.
    pub cpu: u16,
    /// Whether it is for metadata of a file system.
    pub metadata: bool,
    /// Whether it carries the hint that no further request will follow soon.
    pub no_idle: bool,
}

impl Bio {
    /// A read of default priority.
    pub fn read(process: ProcessId, start: u64, sectors: u32) -> Self {
        Self {
            tag: 0,
            operation: Operation::Read,
            start,
            sectors,
            sync: true,
            process,
            priority: Priority::default(),
            cpu: 0,
            metadata: false,
            no_idle: false,
        }
    }

    /// An async write of default priority.
    pub fn write(process: ProcessId, start: u64, sectors: u32) -> Self {
        Self {
            operation: Operation::Write,
            sync: false,
            ..Self::read(process, start, sectors)
        }
    }

    /// First sector after it.
    pub const fn end(&self) -> u64 {
        self.start + self.sectors as u64
    }

    /// Whether it is a read.
    pub const fn is_read(&self) -> bool {
        matches!(self.operation, Operation::Read)
    }

    /// Whether a process waits for it: a read, or a write marked sync.
    pub const fn is_sync(&self) -> bool {
        self.is_read() || self.sync
    }
}

/// Index of a request in the [`RequestPool`](crate::RequestPool); reused after the completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(NonZeroU32);

impl RequestId {
    /// The identifier of slot `index`.
    pub(crate) const fn from_index(index: u32) -> Self {
        match NonZeroU32::new(index + 1) {
            Some(number) => Self(number),
            None => panic!("a pool has fewer than 2^32 - 1 slots"),
        }
    }

    /// Slot in the pool, and index for a table with an entry per request.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Neighbours of a request in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Links {
    pub(crate) previous: Option<RequestId>,
    pub(crate) next: Option<RequestId>,
}

impl Links {
    pub(crate) const NONE: Self = Self {
        previous: None,
        next: None,
    };
}

/// A request of a queue: one or several adjacent bios.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The first bio, with start and sectors of the whole request.
    pub bio: Bio,
    /// Time of the allocation.
    pub allocated: Nanos,
    /// Time at which the driver took it; 0 before.
    pub issued: Nanos,
    /// Deadline in the FIFO, in the scheduler's unit of time.
    pub deadline: u64,
    /// Number for the scheduler's own use, such as the queue that holds the request.
    pub queue: u32,
    pub(crate) fifo: Links,
    pub(crate) hash: Links,
    pub(crate) hashed: bool,
    pub(crate) merged_next: Option<RequestId>,
    pub(crate) merged_last: Option<RequestId>,
}

impl Request {
    pub(crate) const fn new(bio: Bio, allocated: Nanos) -> Self {
        Self {
            bio,
            allocated,
            issued: 0,
            deadline: 0,
            queue: 0,
            fifo: Links::NONE,
            hash: Links::NONE,
            hashed: false,
            merged_next: None,
            merged_last: None,
        }
    }
}

/// Slab of requests. It allocates memory only when more requests exist than ever before.
#[derive(Debug, Default)]
pub struct RequestPool {
    slots: Vec<Request>,
    free: Vec<RequestId>,
}

impl RequestPool {
    /// Whether the pool holds no request.
    pub fn is_empty(&self) -> bool {
        self.slots.len() == self.free.len()
    }

    pub(crate) fn allocate(&mut self, bio: Bio, now: Nanos) -> RequestId {
        let request = Request::new(bio, now);
        if let Some(id) = self.free.pop() {
            self[id] = request;
            return id;
        }
        let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 - 1 requests");
        self.slots.push(request);
        RequestId::from_index(index)
    }

    /// Append `absorbed` and what it absorbed before to the bios of `survivor`.
    pub(crate) fn chain(&mut self, survivor: RequestId, absorbed: RequestId) {
        let last = self[survivor].merged_last.unwrap_or(survivor);
        self[last].merged_next = Some(absorbed);
        self[survivor].merged_last = Some(self[absorbed].merged_last.unwrap_or(absorbed));
    }

    /// Free a completed request with all its bios, and append their tags to `tags`.
    pub(crate) fn release(&mut self, id: RequestId, tags: &mut Vec<u64>) {
        let mut current = Some(id);
        while let Some(bio) = current {
            tags.push(self[bio].bio.tag);
            current = self[bio].merged_next;
            self.free.push(bio);
        }
    }
}

impl Index<RequestId> for RequestPool {
    type Output = Request;

    fn index(&self, id: RequestId) -> &Request {
        &self.slots[id.index()]
    }
}

impl IndexMut<RequestId> for RequestPool {
    fn index_mut(&mut self, id: RequestId) -> &mut Request {
        &mut self.slots[id.index()]
    }
}

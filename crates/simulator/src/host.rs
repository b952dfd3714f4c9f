//! The simulated host: its page cache and the processor time of its system calls.

use iostudy_schedulers::Nanos;

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;
/// Sectors of a page.
pub(crate) const PAGE_SECTORS: u64 = 8;

/// Properties of the host. The names are those of `/proc/sys/vm` and of `queue/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// Memory that dirty pages may be a share of, in bytes.
    pub memory: u64,
    /// Percent of the memory from which the flusher writes (`dirty_background_ratio`).
    pub dirty_background_ratio: u64,
    /// Percent of the memory at which writers wait (`dirty_ratio`).
    pub dirty_ratio: u64,
    /// Age at which the flusher writes dirty pages (`dirty_expire_centisecs`).
    pub dirty_expire: Nanos,
    /// Time between two checks of that age (`dirty_writeback_centisecs`).
    pub dirty_writeback: Nanos,
    /// Largest read-ahead in bytes (`read_ahead_kb`).
    pub read_ahead: u64,
    /// Processor time of a system call without its copying.
    pub call: Nanos,
    /// Time of copying a page between the page cache and a process, and of using it there.
    pub copy_page: Nanos,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            memory: 4 << 30,
            dirty_background_ratio: 10,
            dirty_ratio: 20,
            dirty_expire: 30_000_000_000,
            dirty_writeback: 5_000_000_000,
            read_ahead: 128 << 10,
            call: 5_000,
            copy_page: 2_000,
        }
    }
}

impl Host {
    /// Dirty pages from which the flusher writes.
    pub(crate) const fn background_pages(&self) -> u64 {
        self.memory / PAGE_BYTES * self.dirty_background_ratio / 100
    }

    /// Dirty pages and pages under write-back at which writers wait.
    pub(crate) const fn dirty_pages(&self) -> u64 {
        self.memory / PAGE_BYTES * self.dirty_ratio / 100
    }
}

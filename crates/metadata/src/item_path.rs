//! A path of which only the end changes from one file to the next.

use std::ffi::CStr;

use crate::layout::Layout;
use crate::stock::Kind;

/// A path below the top of a tree. It is written into the same memory for every file, since
/// anything more would be measured with the system call.
pub(crate) struct ItemPath {
    bytes: Vec<u8>,
    directory_bytes: usize,
    numbers: itoa::Buffer,
}

impl ItemPath {
    pub(crate) fn new(layout: &Layout) -> Self {
        Self {
            bytes: Vec::with_capacity(layout.longest_path_bytes()),
            directory_bytes: 0,
            numbers: itoa::Buffer::new(),
        }
    }

    /// Names are those of this directory from now on.
    pub(crate) fn enter(&mut self, layout: &Layout, leaf: u64, level: u32) {
        self.bytes.clear();
        layout.append_directory(leaf, level, &mut self.bytes);
        self.directory_bytes = self.bytes.len();
    }

    /// The directory itself.
    pub(crate) fn directory(&mut self) -> &CStr {
        self.bytes.truncate(self.directory_bytes);
        self.bytes.push(0);
        self.as_c_str()
    }

    /// A file or directory in it.
    pub(crate) fn name(&mut self, kind: Kind, item: u64) -> &CStr {
        self.bytes.truncate(self.directory_bytes);
        self.bytes.push(kind.letter());
        self.bytes
            .extend_from_slice(self.numbers.format(item).as_bytes());
        self.bytes.push(0);
        self.as_c_str()
    }

    /// What was asked for last.
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

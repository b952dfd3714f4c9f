//! Path buffer for items of a directory.

use std::ffi::CStr;

use crate::layout::Layout;
use crate::tree_state::NameKind;

/// Path relative to the root of a tree. It reuses one buffer, because an allocation would be
/// measured with the system call.
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

    /// Set the current directory.
    pub(crate) fn enter(&mut self, layout: &Layout, leaf: u64, level: u32) {
        self.bytes.clear();
        layout.append_directory(leaf, level, &mut self.bytes);
        self.directory_bytes = self.bytes.len();
    }

    /// Path of the current directory.
    pub(crate) fn directory(&mut self) -> &CStr {
        self.bytes.truncate(self.directory_bytes);
        self.bytes.push(0);
        self.as_c_str()
    }

    /// Path of an item in the current directory.
    pub(crate) fn name(&mut self, kind: NameKind, item: u64) -> &CStr {
        self.bytes.truncate(self.directory_bytes);
        self.bytes.push(kind.letter());
        self.bytes
            .extend_from_slice(self.numbers.format(item).as_bytes());
        self.bytes.push(0);
        self.as_c_str()
    }

    /// Most recent path.
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

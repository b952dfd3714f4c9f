//! Inode numbers of paths, for as long as the kernel refers to them.

use std::collections::HashMap;
use std::sync::Arc;

/// Number of the root of the mount, as FUSE defines it.
pub const ROOT: u64 = 1;

#[derive(Debug)]
struct Entry {
    path: Arc<str>,
    lookups: u64,
}

/// The paths that the kernel knows, by number. A number is never used again.
#[derive(Debug)]
pub struct Inodes {
    entries: HashMap<u64, Entry>,
    numbers: HashMap<Arc<str>, u64>,
    last: u64,
}

impl Inodes {
    /// Only the root, which is never forgotten.
    pub fn new(root: &str) -> Self {
        let path: Arc<str> = root.into();
        let entry = Entry {
            path: Arc::clone(&path),
            lookups: 1,
        };
        Self {
            entries: HashMap::from([(ROOT, entry)]),
            numbers: HashMap::from([(path, ROOT)]),
            last: ROOT,
        }
    }

    /// The path with that number.
    pub fn path(&self, number: u64) -> Option<Arc<str>> {
        Some(Arc::clone(&self.entries.get(&number)?.path))
    }

    /// The number of a path, which the kernel refers to once more.
    pub fn look_up(&mut self, path: &str) -> u64 {
        if let Some(&number) = self.numbers.get(path) {
            if let Some(entry) = self.entries.get_mut(&number) {
                entry.lookups += 1;
            }
            return number;
        }
        self.last += 1;
        let path: Arc<str> = path.into();
        self.numbers.insert(Arc::clone(&path), self.last);
        self.entries.insert(self.last, Entry { path, lookups: 1 });
        self.last
    }

    /// Remove `lookups` references of the kernel, and the path with its last one.
    pub fn forget(&mut self, number: u64, lookups: u64) {
        let Some(entry) = self.entries.get_mut(&number).filter(|_| number != ROOT) else {
            return;
        };
        entry.lookups = entry.lookups.saturating_sub(lookups);
        if entry.lookups == 0
            && let Some(entry) = self.entries.remove(&number)
        {
            self.numbers.remove(&entry.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_number_until_its_last_reference_is_forgotten() {
        let mut inodes = Inodes::new("/");
        let number = inodes.look_up("/a");
        assert_eq!(inodes.look_up("/a"), number);
        inodes.forget(number, 1);
        assert_eq!(inodes.path(number).as_deref(), Some("/a"));
        inodes.forget(number, 1);
        assert_eq!(inodes.path(number), None);
        assert_ne!(inodes.look_up("/a"), number);
    }

    #[test]
    fn the_root_is_never_forgotten() {
        let mut inodes = Inodes::new("/data");
        inodes.forget(ROOT, 7);
        assert_eq!(inodes.path(ROOT).as_deref(), Some("/data"));
        assert_eq!(inodes.look_up("/data"), ROOT);
    }
}

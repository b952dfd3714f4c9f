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

    /// The path with that number; none if its file was removed or replaced.
    pub fn path(&self, number: u64) -> Option<Arc<str>> {
        let path = &self.entries.get(&number)?.path;
        (self.number(path) == Some(number)).then(|| Arc::clone(path))
    }

    /// The number of a path, if the kernel refers to it.
    pub fn number(&self, path: &str) -> Option<u64> {
        self.numbers.get(path).copied()
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
            && self.numbers.get(&entry.path) == Some(&number)
        {
            self.numbers.remove(&entry.path);
        }
    }

    /// Detach the number of a path after its file was removed: a new file there gets another one.
    pub fn detach(&mut self, path: &str) {
        self.numbers.remove(path);
    }

    /// Give a file or directory, and all that is below it, a new path.
    pub fn rename(&mut self, from: &str, to: &str) {
        self.detach(to);
        let is_moved = |path: &str| {
            let below = path.strip_prefix(from);
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let moved: Vec<(Arc<str>, u64)> =
            self.numbers.extract_if(|path, _| is_moved(path)).collect();
        for (path, number) in moved {
            let path: Arc<str> = format!("{to}{}", &path[from.len()..]).into();
            if let Some(entry) = self.entries.get_mut(&number) {
                entry.path = Arc::clone(&path);
            }
            self.numbers.insert(path, number);
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
    fn a_new_file_does_not_get_the_number_of_a_removed_one() {
        let mut inodes = Inodes::new("/");
        let removed = inodes.look_up("/a");
        inodes.detach("/a");
        assert_eq!(inodes.path(removed), None);
        let new = inodes.look_up("/a");
        assert_ne!(new, removed);
        assert_eq!(inodes.path(removed), None);
        inodes.forget(removed, 1);
        assert_eq!(inodes.look_up("/a"), new);
    }

    #[test]
    fn a_directory_is_renamed_with_all_below_it() {
        let mut inodes = Inodes::new("/");
        let numbers = ["/a", "/a/b", "/ab", "/c"].map(|path| inodes.look_up(path));
        inodes.rename("/a", "/c");
        let paths = numbers.map(|number| inodes.path(number));
        let paths = paths.each_ref().map(Option::as_deref);
        assert_eq!(paths, [Some("/c"), Some("/c/b"), Some("/ab"), None]);
        assert_eq!(inodes.look_up("/c"), numbers[0]);
    }

    #[test]
    fn the_root_is_never_forgotten() {
        let mut inodes = Inodes::new("/data");
        inodes.forget(ROOT, 7);
        assert_eq!(inodes.path(ROOT).as_deref(), Some("/data"));
        assert_eq!(inodes.look_up("/data"), ROOT);
    }
}

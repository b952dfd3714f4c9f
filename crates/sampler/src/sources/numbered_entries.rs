//! Numbered entries of sysfs folders, and files with one number.

use std::fs;
use std::path::{Path, PathBuf};

/// Return the entries of `folder` whose name is `start` and a number.
pub(super) fn numbered_entries(folder: &Path, start: &str) -> impl Iterator<Item = PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).filter(move |path| {
        let name = path.file_name().map(std::ffi::OsStr::to_string_lossy);
        let number = name.as_deref().and_then(|name| name.strip_prefix(start));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    })
}

/// Return the number in a file; `None` for unreadable and negative values.
pub(super) fn number_in(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim_end().parse().ok()
}

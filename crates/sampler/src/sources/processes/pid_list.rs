//! Numbers of processes and threads in a folder of /proc.

/// The numbers in the folder; none if it is gone.
pub(super) fn list_pids(folder: &str) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

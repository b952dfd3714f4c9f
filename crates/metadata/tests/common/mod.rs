//! Jobs and trees for the tests.

use std::collections::BTreeSet;
use std::path::Path;

use iostudy_metadata::{Job, Operation, SyncPolicy};

/// A small job of two threads in a folder below `path`.
pub fn job(path: &Path, operations: &[Operation]) -> Job {
    Job {
        directory: path.join("tree"),
        operations: operations.to_vec(),
        threads: 2,
        files: 25,
        files_per_directory: 10,
        depth: 2,
        shared: false,
        bytes_to_write: 100,
        sync: SyncPolicy::None,
        seed: 7,
    }
}

/// Every path below a folder, with a slash behind those of directories.
#[allow(dead_code)] // not every test file looks at paths
pub fn paths(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(folder, "", &mut found);
    found
}

#[allow(dead_code)]
fn collect(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in folder.read_dir().unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            let subdirectories = format!("{name}/");
            collect(&entry.path(), &subdirectories, found);
            found.insert(subdirectories);
        } else {
            found.insert(name);
        }
    }
}

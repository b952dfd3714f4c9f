//! Checkpoint image of the tree: one file `image-LAST` with a checksum.
//!
//! `magic | last transaction: u64 | nodes in_call the tree | crc32c: u32`. It is written to a temporary
//! file, made durable, and renamed.

use std::fs;
use std::path::{Path, PathBuf};

use iostudy_files::write_all;
use rustix::fs::{Mode, OFlags, fsync, open};
use rustix::io::{pwrite, retry_on_intr};

use crate::directory::{list_names, sync_directory};
use crate::error::Fault;
use crate::tree::Tree;

const MAGIC: &[u8; 8] = b"iostudyI";
const NAME: &str = "image-";
const TEMPORARY: &str = "image.tmp";

/// Encode the tree after `last` as an image.
pub(crate) fn encode(tree: &Tree, last: u64) -> Vec<u8> {
    let mut bytes = [*MAGIC, last.to_le_bytes()].concat();
    tree.encode(&mut bytes);
    let checksum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Decode an image to the tree and its last transaction; `None` if it is damaged.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Tree, u64)> {
    let (checked, checksum) = bytes.split_last_chunk()?;
    if crc32c::crc32c(checked) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (last, nodes) = checked.strip_prefix(MAGIC)?.split_first_chunk()?;
    Some((Tree::decode(nodes)?, u64::from_le_bytes(*last)))
}

/// Write an image durably. A partial image is removed: the log may need its space.
pub(crate) fn write(directory: &Path, image: &[u8], last: u64) -> Result<(), Fault> {
    let temporary = directory.join(TEMPORARY);
    let path = image_path(directory, last);
    write_file(&temporary, image)
        .and_then(|()| {
            fs::rename(&temporary, path).map_err(Fault::from_io_error(&temporary, "rename"))
        })
        .inspect_err(|_| {
            fs::remove_file(&temporary).ok(); // the first error is more informative
        })?;
    sync_directory(directory)
}

/// Path of the image after `last`.
pub(crate) fn image_path(directory: &Path, last: u64) -> PathBuf {
    directory.join(format!("{NAME}{last}"))
}

fn write_file(path: &Path, image: &[u8]) -> Result<(), Fault> {
    fs::remove_file(path).ok(); // left by a crash; any other reason shows when it is created
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    let in_call = |call| Fault::in_call(path, call);
    let file = retry_on_intr(|| open(path, flags, mode)).map_err(in_call("open"))?;
    write_all(image, 0, |rest, at| pwrite(&file, rest, at))
        .map_err(|error| in_call("pwrite")(error.errno))?;
    retry_on_intr(|| fsync(&file)).map_err(in_call("fsync"))
}

/// List the images in `directory`, newest first.
pub(crate) fn list_images(directory: &Path) -> Result<Vec<(u64, PathBuf)>, Fault> {
    let last = |name: &String| name.strip_prefix(NAME)?.parse().ok();
    let mut found: Vec<(u64, PathBuf)> = list_names(directory)?
        .into_iter()
        .filter_map(|name| Some((last(&name)?, directory.join(name))))
        .collect();
    found.sort_unstable_by_key(|(last, _)| std::cmp::Reverse(*last));
    Ok(found)
}

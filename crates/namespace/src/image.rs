//! A checkpoint: the whole tree in one file, `image-LAST`, with a checksum of all of it.
//!
//! `magic | last transaction: u64 | the tree's nodes | crc32c: u32`. It is written beside its place,
//! made durable, and then named.

use std::fs;
use std::path::{Path, PathBuf};

use iostudy_files::write_all;
use rustix::fs::{Mode, OFlags, fsync, open};
use rustix::io::{pwrite, retry_on_intr};

use crate::directory::{names, sync_directory};
use crate::error::Fault;
use crate::tree::Tree;

const MAGIC: &[u8; 8] = b"iostudyI";
const NAME: &str = "image-";
const HALF_MADE: &str = "half-made-image";

/// The tree after `last`, as the bytes of an image.
pub(crate) fn encode(tree: &Tree, last: u64) -> Vec<u8> {
    let mut bytes = [*MAGIC, last.to_le_bytes()].concat();
    tree.encode(&mut bytes);
    let checksum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The tree, and the transaction after which it was so; None if it is not what was written.
pub(crate) fn decode(bytes: &[u8]) -> Option<(Tree, u64)> {
    let (checked, checksum) = bytes.split_last_chunk()?;
    if crc32c::crc32c(checked) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (last, nodes) = checked.strip_prefix(MAGIC)?.split_first_chunk()?;
    Some((Tree::decode(nodes)?, u64::from_le_bytes(*last)))
}

/// Write an image durably. One that cannot be written takes no room: the log beside it may need it.
pub(crate) fn write(directory: &Path, image: &[u8], last: u64) -> Result<(), Fault> {
    let half_made = directory.join(HALF_MADE);
    let place = place(directory, last);
    make(&half_made, image)
        .and_then(|()| fs::rename(&half_made, place).map_err(Fault::of_std(&half_made, "rename")))
        .inspect_err(|_| {
            fs::remove_file(&half_made).ok(); // why it was not made says more than why it is there
        })?;
    sync_directory(directory)
}

/// Where the image of the tree after `last` lies.
pub(crate) fn place(directory: &Path, last: u64) -> PathBuf {
    directory.join(format!("{NAME}{last}"))
}

fn make(path: &Path, image: &[u8]) -> Result<(), Fault> {
    fs::remove_file(path).ok(); // one that was left half made; any other reason shows below
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
    let of = |call| Fault::of(path, call);
    let file = retry_on_intr(|| open(path, flags, mode)).map_err(of("open"))?;
    let wrote = write_all(image, 0, |rest, at| pwrite(&file, rest, at));
    wrote.map_err(|refused| of("pwrite")(refused.errno))?;
    retry_on_intr(|| fsync(&file)).map_err(of("fsync"))
}

/// The images in `directory`, the newest first.
pub(crate) fn lying(directory: &Path) -> Result<Vec<(u64, PathBuf)>, Fault> {
    let last = |name: &String| name.strip_prefix(NAME)?.parse().ok();
    let mut found: Vec<(u64, PathBuf)> = names(directory)?
        .into_iter()
        .filter_map(|name| Some((last(&name)?, directory.join(name))))
        .collect();
    found.sort_unstable_by_key(|(last, _)| std::cmp::Reverse(*last));
    Ok(found)
}

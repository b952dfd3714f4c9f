//! File contents that neither compress nor deduplicate, generated at low cost.
//!
//! A file is a sequence of 4 KiB blocks. Block `b` is block `b mod 256` of a pool of pseudo-random
//! bytes, with a unique stamp in its first 16 bytes. Stamps make all blocks distinct, so that
//! nothing deduplicates. The pool has 1 MiB: it fits the processor cache and exceeds the
//! compression unit of file systems (btrfs 128 KiB). A write of a record generates only the stamps.

use std::io;

use crate::buffer::AlignedBuffer;
use crate::mix::{mix, nth};
use crate::record_sequence::Record;

const BLOCK_BYTES: usize = 4096;
const STAMP_BYTES: usize = 16;
const POOL_BLOCKS: usize = 256;
const POOL_BYTES: usize = POOL_BLOCKS * BLOCK_BYTES;
/// One in this many blocks is compared in full.
const FULL_CHECK_EVERY: u64 = 64;

/// The content of every file as a pure function of seed, file and offset.
pub struct Content {
    /// Derived from the seed. Each file's own key derives from this key and the file number.
    key: u64,
    /// The pool, followed by a copy of its start that makes the longest record contiguous.
    pool: AlignedBuffer,
}

impl Content {
    /// Create the content for `seed` and records of up to `longest_record` bytes.
    ///
    /// `compressible` is the fraction of every block that is zeros, from 0 to 1.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn new(seed: u64, compressible: f64, longest_record: usize) -> io::Result<Self> {
        // The longest record may begin at the last byte of the pool.
        let wrapped = longest_record
            .saturating_sub(1)
            .next_multiple_of(BLOCK_BYTES);
        let mut pool = AlignedBuffer::new(POOL_BYTES + wrapped)?;
        let (first, again) = pool.split_at_mut(POOL_BYTES);
        fill(first, !mix(seed), compressible);
        for piece in again.chunks_mut(POOL_BYTES) {
            piece.copy_from_slice(&first[..piece.len()]);
        }
        Ok(Self {
            key: mix(seed),
            pool,
        })
    }

    /// Return the bytes of a record of file number `file`. They are page-aligned if the record's
    /// offset is.
    ///
    /// # Panics
    ///
    /// If the record is longer than `longest_record`.
    pub fn record(&mut self, file: u64, record: Record) -> &[u8] {
        let key = self.key(file);
        let start = pool_position(record.offset);
        let end = start + record.len;
        let first_block = record.offset / BLOCK_BYTES as u64;
        let aligned = start - start % BLOCK_BYTES;
        for (block, at) in (first_block..).zip((aligned..end).step_by(BLOCK_BYTES)) {
            self.pool[at..at + STAMP_BYTES].copy_from_slice(&stamp(key, block));
        }
        &self.pool[start..end]
    }

    fn key(&self, file: u64) -> u64 {
        nth(self.key, file)
    }

    /// Return the offset of the first byte of `data` that differs from the content of file number
    /// `file` at `offset`.
    ///
    /// Compares the stamp of every block, and every 64th block in full. This detects lost,
    /// misplaced and stale blocks at low cost.
    pub fn first_difference(&self, file: u64, offset: u64, data: &[u8]) -> Option<u64> {
        let key = self.key(file);
        let mut at = offset;
        let mut rest = data;
        while !rest.is_empty() {
            let left_in_block = BLOCK_BYTES - pool_position(at) % BLOCK_BYTES;
            let (piece, tail) = rest.split_at(left_in_block.min(rest.len()));
            if let Some(position) = self.difference_in_block(key, at, piece) {
                return Some(at + position as u64);
            }
            at += piece.len() as u64;
            rest = tail;
        }
        None
    }

    /// Position of the first difference in `piece`, which lies in one block and begins at `at`.
    fn difference_in_block(&self, key: u64, at: u64, piece: &[u8]) -> Option<usize> {
        let block = at / BLOCK_BYTES as u64;
        let start = pool_position(at);
        let within = start % BLOCK_BYTES;
        let stamp = stamp(key, block);
        let stamped = &stamp[within.min(STAMP_BYTES)..];
        let head = stamped.len().min(piece.len());
        difference(&piece[..head], &stamped[..head]).or_else(|| {
            let whole = block % FULL_CHECK_EVERY == 0;
            let body = &self.pool[start + head..start + piece.len()];
            (whole).then(|| difference(&piece[head..], body).map(|position| head + position))?
        })
    }
}

/// Fill with random bytes; zero the compressible fraction at the end of every block.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)]
fn fill(bytes: &mut [u8], key: u64, compressible: f64) {
    for (index, word) in (0..).zip(bytes.chunks_exact_mut(8)) {
        word.copy_from_slice(&nth(key, index).to_le_bytes());
    }
    let random = (BLOCK_BYTES as f64 * (1.0 - compressible.clamp(0.0, 1.0))).round() as usize;
    for block in bytes.chunks_exact_mut(BLOCK_BYTES) {
        block[random.max(STAMP_BYTES)..].fill(0);
    }
}

#[allow(clippy::cast_possible_truncation)] // the remainder is smaller than the pool
fn pool_position(offset: u64) -> usize {
    (offset % POOL_BYTES as u64) as usize
}

/// First 16 bytes of a block, unique for seed, file and block.
fn stamp(key: u64, block: u64) -> [u8; STAMP_BYTES] {
    let first = nth(key, block);
    let both = u128::from(first) | u128::from(mix(first ^ key)) << 64;
    both.to_le_bytes()
}

fn difference(found: &[u8], expected: &[u8]) -> Option<usize> {
    if found == expected {
        return None; // fast path: memcmp
    }
    found.iter().zip(expected).position(|(a, b)| a != b)
}

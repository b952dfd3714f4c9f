//! Pseudo-random numbers from the finaliser of `SplitMix64`.
//!
//! Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

use std::convert::Infallible;

use rand_core::{Rng, TryRng};

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bijection on 64-bit numbers: distinct inputs have distinct outputs.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Number at `index` of the stream for `key`. All numbers of a stream are distinct.
pub fn nth(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add(index.wrapping_mul(GOLDEN)))
}

/// Random number generator over the stream of a key, for sampling from distributions.
pub struct Stream {
    key: u64,
    index: u64,
}

impl Stream {
    /// Start the stream of `key`.
    pub fn new(key: u64) -> Self {
        Self { key, index: 0 }
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    #[allow(clippy::cast_possible_truncation)] // keeps the lower half
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_u64() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.index += 1;
        Ok(nth(self.key, self.index))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

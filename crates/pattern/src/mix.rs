//! Mixing numbers into others that look random: the finaliser of `SplitMix64`.
//!
//! Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A bijection on 64-bit numbers, so that different inputs never give the same output.
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The `index`-th number of the stream that `key` begins; no number comes twice in it.
pub fn nth(key: u64, index: u64) -> u64 {
    mix(key.wrapping_add(index.wrapping_mul(GOLDEN)))
}

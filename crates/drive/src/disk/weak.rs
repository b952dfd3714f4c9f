//! Weak regions: ranges of blocks with read retries, as on a failing drive.

use crate::disk::parameters::WeakRegion;

/// All weak regions of a drive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeakRegions {
    regions: Vec<WeakRegion>,
}

impl WeakRegions {
    /// Regions of a drive.
    pub const fn new(regions: Vec<WeakRegion>) -> Self {
        Self { regions }
    }

    /// Additional revolutions of a read of `start..end`.
    ///
    /// Retries depend only on the first block of the read in the region, so equal reads take equal
    /// retries.
    pub fn retries(&self, start: u64, end: u64) -> u64 {
        let overlap = |region: &&WeakRegion| start < region.end && region.start < end;
        let weak = |region: &&WeakRegion| share_of(start.max(region.start)) < region.share;
        let regions = self.regions.iter().filter(overlap).filter(weak);
        regions
            .map(|region| u64::from(region.retries))
            .max()
            .unwrap_or(0)
    }
}

/// Pseudorandom number in [0, 1) of a block: the finalizer of `SplitMix64`.
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn share_of(block: u64) -> f64 {
    let mut mixed = block.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

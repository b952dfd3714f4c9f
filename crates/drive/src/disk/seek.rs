//! Seek time as a function of distance.

use crate::request::Nanos;

/// Distances in a group of lower bounds: that table has a few KiB and stays in the first cache.
const GROUP: u32 = 512;

/// Seek times at measured distances, with linear interpolation between them.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekCurve {
    /// Nanoseconds by distance; 32 bits, so that more of the table stays in the processor's cache.
    times: Vec<u32>,
    /// Shortest time of each group of distances.
    shortest: Vec<u32>,
}

impl SeekCurve {
    /// Curve through `(cylinders, time)` points in ascending order, for a drive of `cylinders`.
    ///
    /// Beyond the last point the slope of the last interval continues.
    pub fn new(points: &[(u32, Nanos)], cylinders: u32) -> Self {
        let time = |distance| u32::try_from(interpolate(points, distance)).unwrap_or(u32::MAX);
        let times: Vec<u32> = (0..cylinders).map(time).collect();
        let groups = times.chunks(GROUP as usize);
        Self {
            shortest: groups
                .filter_map(|group| group.iter().min().copied())
                .collect(),
            times,
        }
    }

    /// Lower bound of the time of a seek over `distance` cylinders.
    pub fn bound(&self, distance: u32) -> Nanos {
        Nanos::from(self.shortest[(distance / GROUP) as usize])
    }

    /// Time of a seek over `distance` cylinders, with settling for a read.
    pub fn time(&self, distance: u32) -> Nanos {
        Nanos::from(self.times[distance as usize])
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive"
)]
#[expect(clippy::cast_precision_loss, reason = "times are below 2^52 ns")]
fn interpolate(points: &[(u32, Nanos)], distance: u32) -> Nanos {
    if distance == 0 {
        return 0;
    }
    let after = points.partition_point(|point| point.0 < distance);
    if after == 0 || points.len() == 1 {
        return points[0].1;
    }
    let (low, high) = (
        points[after.min(points.len() - 1) - 1],
        points[after.min(points.len() - 1)],
    );
    let slope = (high.1 as f64 - low.1 as f64) / f64::from(high.0 - low.0);
    let time = low.1 as f64 + slope * (f64::from(distance) - f64::from(low.0));
    time.round().max(0.0) as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_never_exceeds_the_time() {
        let measured = [(1, 900), (700, 800), (1500, 3000)];
        let curve = SeekCurve::new(&measured, 2000);
        for distance in 0..2000 {
            assert!(curve.bound(distance) <= curve.time(distance));
        }
        assert!(curve.bound(1999) > 800);
    }
}

//! Seek time as a function of distance.

use crate::request::Nanos;

/// Seek times at measured distances, with linear interpolation between them.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekCurve {
    /// Nanoseconds by distance; 32 bits, so that more of the table stays in the processor's cache.
    times: Vec<u32>,
}

impl SeekCurve {
    /// Curve through `(cylinders, time)` points in ascending order, for a drive of `cylinders`.
    ///
    /// Beyond the last point the slope of the last interval continues.
    #[must_use]
    pub fn new(points: &[(u32, Nanos)], cylinders: u32) -> Self {
        let time = |distance| u32::try_from(interpolate(points, distance)).unwrap_or(u32::MAX);
        let times = (0..cylinders).map(time);
        Self {
            times: times.collect(),
        }
    }

    /// Time of a seek over `distance` cylinders, with settling for a read.
    #[must_use]
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

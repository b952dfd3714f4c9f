//! Decaying averages of think times and seek distances (specification, section 3.2).

/// Fixed-point value of one sample.
pub const ONE: u64 = 256;

/// Samples, in fixed point, above which an average is valid: more than two samples.
const VALID_SAMPLES: u64 = 80;

/// `(7 * old + 256 * sample) / 8`: a step towards `sample` in fixed point.
pub const fn decay(old: u64, sample: u64) -> u64 {
    (7 * old + ONE * sample) / 8
}

/// Average with weight 1/8 for the newest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Average {
    /// Number of samples in fixed point: 32, 60, 84, ... towards 256.
    pub samples: u64,
    /// Sum of the samples in fixed point.
    pub total: u64,
    /// The average.
    pub mean: u64,
}

impl Average {
    /// Add a think time. The constant 128 is not scaled, so the first means are too high.
    pub const fn add_think_time(&mut self, time: u64) {
        self.add(time);
        self.mean = (self.total + 128) / self.samples;
    }

    /// Add a seek distance.
    pub const fn add_seek(&mut self, distance: u64) {
        self.add(distance);
        self.mean = (self.total + self.samples / 2) / self.samples;
    }

    const fn add(&mut self, value: u64) {
        self.samples = decay(self.samples, 1);
        self.total = decay(self.total, value);
    }

    /// Whether there are more than two samples.
    pub const fn valid(&self) -> bool {
        self.samples > VALID_SAMPLES
    }
}

/// Limit a seek distance, so that one long seek does not dominate the average.
pub fn limit_seek(average: &Average, distance: u64) -> u64 {
    let margin = if average.samples <= 60 {
        2_097_152
    } else {
        131_072
    };
    distance.min(4 * average.mean + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_3_2_samples_and_zero_think_time() {
        let mut average = Average::default();
        let (samples, means): (Vec<u64>, Vec<u64>) = (0..6)
            .map(|_| {
                average.add_think_time(0);
                (average.samples, average.mean)
            })
            .unzip();
        assert_eq!(samples, [32, 60, 84, 105, 123, 139]);
        assert_eq!(means, [4, 2, 1, 1, 1, 0]);
    }

    #[test]
    fn section_3_9_think_times() {
        let mut average = Average::default();
        average.add_think_time(2);
        assert_eq!(average.mean, 6);
        average.add_think_time(2);
        assert_eq!(average.mean, 4);
    }
}

//! Virtual time in nanoseconds and in jiffies.

/// Time on the virtual clock, in nanoseconds from its start.
pub type Nanos = u64;

/// A count or a point of time in jiffies.
pub type Jiffies = u64;

/// Nanoseconds in a millisecond.
pub const MILLISECOND: Nanos = 1_000_000;

/// Nanoseconds in a second.
pub const SECOND: Nanos = 1_000_000_000;

/// Tick rate of the kernel (`CONFIG_HZ`), which defines the jiffy of 1/HZ s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hz(u32);

impl Hz {
    /// 100 ticks a second.
    pub const HZ_100: Self = Self(100);
    /// 250 ticks a second.
    pub const HZ_250: Self = Self(250);
    /// 300 ticks a second.
    pub const HZ_300: Self = Self(300);
    /// 1000 ticks a second.
    pub const HZ_1000: Self = Self(1000);

    /// The rates that Linux can be built with; none for another.
    pub const fn from_rate(rate: u32) -> Option<Self> {
        match rate {
            100 => Some(Self::HZ_100),
            250 => Some(Self::HZ_250),
            300 => Some(Self::HZ_300),
            1000 => Some(Self::HZ_1000),
            _ => None,
        }
    }

    /// The last jiffy that has begun at `time`.
    pub const fn jiffy(self, time: Nanos) -> Jiffies {
        let rate = self.0 as u64;
        time / SECOND * rate + time % SECOND * rate / SECOND
    }

    /// Time at which `jiffy` begins: a timer that expires in it fires at this tick.
    pub const fn tick(self, jiffy: Jiffies) -> Nanos {
        let rate = self.0 as u64;
        jiffy / rate * SECOND + (jiffy % rate * SECOND).div_ceil(rate)
    }

    /// The constant HZ/`divisor`, truncated.
    pub const fn over(self, divisor: u32) -> Jiffies {
        (self.0 / divisor) as Jiffies
    }

    /// Jiffies in whole seconds.
    pub const fn seconds(self, seconds: u32) -> Jiffies {
        self.0 as Jiffies * seconds as Jiffies
    }

    /// Milliseconds as jiffies, rounded up, as for a value written through sysfs.
    pub const fn from_ms(self, milliseconds: u64) -> Jiffies {
        let rate = self.0 as u64;
        milliseconds / 1000 * rate + (milliseconds % 1000 * rate).div_ceil(1000)
    }

    /// Jiffies as milliseconds, rounded down, as for a value read through sysfs.
    pub const fn to_ms(self, jiffies: Jiffies) -> u64 {
        let rate = self.0 as u64;
        jiffies / rate * 1000 + jiffies % rate * 1000 / rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_0_1_constants() {
        let hz = Hz::HZ_250;
        let constants = [8, 4, 25, 125, 150].map(|divisor| hz.to_ms(hz.over(divisor)));
        assert_eq!(constants, [124, 248, 40, 8, 4]);
        assert_eq!(hz.from_ms(125), 32);
        assert_eq!(hz.to_ms(hz.over(8)), 124);
    }

    #[test]
    fn ticks_and_jiffies() {
        let hz = Hz::HZ_300;
        for jiffy in [0, 1, 2, 3, 299, 300, 1_000_001] {
            assert_eq!(hz.jiffy(hz.tick(jiffy)), jiffy);
            assert!(jiffy == 0 || hz.jiffy(hz.tick(jiffy) - 1) == jiffy - 1);
        }
    }
}

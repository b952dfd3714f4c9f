//! Tunables of schedulers, read and written as text like the files in `queue/iosched`.

use crate::clock::Hz;

/// Error of reading or writing a tunable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TunableError {
    /// The scheduler has no tunable of this name.
    #[error("scheduler {scheduler} has no tunable {name:?}; it has: {known}")]
    Unknown {
        /// Name of the scheduler.
        scheduler: &'static str,
        /// Requested name.
        name: String,
        /// Names that the scheduler has.
        known: String,
    },
    /// The text is not an integer.
    #[error("tunable {name} needs an integer from {min} to {max}, not {text:?}")]
    NotANumber {
        /// Name of the tunable.
        name: &'static str,
        /// The text.
        text: String,
        /// Least value.
        min: i64,
        /// Largest value.
        max: i64,
    },
    /// The tunable cannot be written.
    #[error("tunable {name} can only be read")]
    ReadOnly {
        /// Name of the tunable.
        name: &'static str,
    },
}

impl TunableError {
    /// The error for a name that is not among `known`.
    #[must_use]
    pub fn unknown(scheduler: &'static str, name: &str, known: &[&str]) -> Self {
        let known = match known {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        Self::Unknown {
            scheduler,
            name: name.to_owned(),
            known,
        }
    }
}

/// Unit of a tunable in its file, and of the value that the scheduler keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds, kept in jiffies and rounded up to them.
    Jiffies,
    /// Milliseconds, kept in nanoseconds.
    Milliseconds,
    /// Microseconds, kept in nanoseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// A number of requests, a factor or a flag.
    Count,
    /// KiB, kept in sectors.
    Kibibytes,
    /// Sectors of 512 bytes.
    Sectors,
}

impl Unit {
    /// Kept value of `number` in the file.
    fn keep(self, hz: Hz, number: i64) -> i64 {
        let unsigned = number.max(0).unsigned_abs();
        match self {
            Self::Jiffies => i64::try_from(hz.from_ms(unsigned)).unwrap_or(i64::MAX),
            Self::Milliseconds => number.saturating_mul(1_000_000),
            Self::Microseconds => number.saturating_mul(1000),
            Self::Kibibytes => number.saturating_mul(2),
            Self::Nanoseconds | Self::Count | Self::Sectors => number,
        }
    }

    /// Number in the file for a kept `value`.
    fn show(self, hz: Hz, value: i64) -> i64 {
        match self {
            Self::Jiffies => {
                i64::try_from(hz.to_ms(value.max(0).unsigned_abs())).unwrap_or(i64::MAX)
            }
            Self::Milliseconds => value / 1_000_000,
            Self::Microseconds => value / 1000,
            Self::Kibibytes => value / 2,
            Self::Nanoseconds | Self::Count | Self::Sectors => value,
        }
    }
}

/// Name, unit and range of a tunable. A scheduler that was just created has the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunableInfo {
    /// File name in `queue/iosched`.
    pub name: &'static str,
    /// Unit.
    pub unit: Unit,
    /// Least value; lower ones are raised to it.
    pub min: i64,
    /// Largest value; higher ones are lowered to it.
    pub max: i64,
}

/// A tunable whose value is a field of `T`.
#[derive(Debug)]
pub struct Tunable<T: 'static> {
    /// Name, unit and range.
    pub info: TunableInfo,
    /// The field.
    pub field: fn(&mut T) -> &mut i64,
}

impl<T> Tunable<T> {
    /// A tunable `name` in `unit`, from `min` to `max`.
    pub const fn new(
        name: &'static str,
        unit: Unit,
        (min, max): (i64, i64),
        field: fn(&mut T) -> &mut i64,
    ) -> Self {
        Self {
            info: TunableInfo {
                name,
                unit,
                min,
                max,
            },
            field,
        }
    }
}

/// All tunables of a scheduler that keeps their values in a `T`.
#[derive(Debug)]
pub struct TunableTable<T: 'static> {
    /// Name of the scheduler.
    pub scheduler: &'static str,
    /// The tunables.
    pub tunables: &'static [Tunable<T>],
}

impl<T: Copy> TunableTable<T> {
    /// Names, units and ranges.
    #[must_use]
    pub fn infos(&self) -> Vec<TunableInfo> {
        self.tunables.iter().map(|tunable| tunable.info).collect()
    }

    /// Value of tunable `name` as text.
    ///
    /// # Errors
    ///
    /// [`TunableError::Unknown`].
    pub fn read(&self, hz: Hz, values: &T, name: &str) -> Result<String, TunableError> {
        let tunable = self.find(name)?;
        let mut values = *values;
        let value = *(tunable.field)(&mut values);
        Ok(tunable.info.unit.show(hz, value).to_string())
    }

    /// Set tunable `name` to the number in `text`, or to the nearest end of its range.
    ///
    /// # Errors
    ///
    /// [`TunableError::Unknown`] and [`TunableError::NotANumber`].
    pub fn write(
        &self,
        hz: Hz,
        values: &mut T,
        name: &str,
        text: &str,
    ) -> Result<(), TunableError> {
        let tunable = self.find(name)?;
        let TunableInfo { name, min, max, .. } = tunable.info;
        let number: i128 = text
            .trim_end()
            .parse()
            .map_err(|_| TunableError::NotANumber {
                name,
                text: text.to_owned(),
                min,
                max,
            })?;
        let number = i64::try_from(number.clamp(min.into(), max.into())).unwrap_or(max);
        *(tunable.field)(values) = tunable.info.unit.keep(hz, number);
        Ok(())
    }

    fn find(&self, name: &str) -> Result<&'static Tunable<T>, TunableError> {
        let found = self
            .tunables
            .iter()
            .find(|tunable| tunable.info.name == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = self.tunables.iter().map(|t| t.info.name).collect();
            TunableError::unknown(self.scheduler, name, &known)
        })
    }
}

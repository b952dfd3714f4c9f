//! Tunables of schedulers, written as text like the files in `queue/iosched`.

use crate::clock::Hz;

/// Error of writing a tunable.
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
}

impl TunableError {
    /// The error for a name that is not among `known`.
    pub(crate) fn unknown(scheduler: &'static str, name: &str, known: &[&str]) -> Self {
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
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// Milliseconds, kept in jiffies and rounded up to them.
    Jiffies,
    /// Milliseconds, kept in nanoseconds.
    Milliseconds,
    /// Microseconds, kept in nanoseconds.
    Microseconds,
    /// KiB, kept in sectors.
    Kibibytes,
    /// A number of requests or sectors, a factor, a flag, or nanoseconds.
    Number,
}

impl Unit {
    /// Kept value of `number` in the file.
    fn keep(self, hz: Hz, number: i64) -> i64 {
        match self {
            Self::Jiffies => {
                let jiffies = hz.from_ms(number.max(0).unsigned_abs());
                i64::try_from(jiffies).unwrap_or(i64::MAX)
            }
            Self::Milliseconds => number.saturating_mul(1_000_000),
            Self::Microseconds => number.saturating_mul(1000),
            Self::Kibibytes => number.saturating_mul(2),
            Self::Number => number,
        }
    }
}

/// Least and largest values of tunables of 32 bits.
pub const INT_MIN: i64 = i32::MIN as i64;
pub const INT_MAX: i64 = i32::MAX as i64;

/// A tunable whose value is a field of `T`.
pub struct Tunable<T> {
    /// File name in `queue/iosched`.
    pub name: &'static str,
    pub unit: Unit,
    /// Least value; lower ones are raised to it.
    pub min: i64,
    /// Largest value; higher ones are lowered to it.
    pub max: i64,
    pub field: fn(&mut T) -> &mut i64,
}

/// All tunables of a scheduler that keeps their values in a `T`.
pub struct TunableTable<T: 'static> {
    pub scheduler: &'static str,
    pub tunables: &'static [Tunable<T>],
}

/// A [`TunableTable`]: for each tunable its name, the field of its value unless that is its name,
/// its unit and its range.
macro_rules! tunables {
    ($scheduler:literal, $values:ty { $($name:ident $(in $($field:ident).+)?: $unit:ident $min:tt..=$max:expr;)* }) => {
        $crate::tunables::TunableTable::<$values> {
            scheduler: $scheduler,
            tunables: &[$($crate::tunables::Tunable {
                name: stringify!($name),
                unit: $crate::tunables::Unit::$unit,
                min: $min,
                max: $max,
                field: |values| tunables!(@field values $name $($($field).+)?),
            }),*],
        }
    };
    (@field $values:ident $name:ident) => { &mut $values.$name };
    (@field $values:ident $name:ident $($field:ident).+) => { &mut $values.$($field).+ };
}
pub(crate) use tunables;

impl<T> TunableTable<T> {
    /// Set tunable `name` to the number in `text`, or to the nearest end of its range.
    pub fn write(
        &self,
        hz: Hz,
        values: &mut T,
        name: &str,
        text: &str,
    ) -> Result<(), TunableError> {
        let mut tunables = self.tunables.iter();
        let Some(tunable) = tunables.find(|tunable| tunable.name == name) else {
            let known: Vec<&str> = self.tunables.iter().map(|tunable| tunable.name).collect();
            return Err(TunableError::unknown(self.scheduler, name, &known));
        };
        let Tunable { name, min, max, .. } = *tunable;
        let text = text.trim_end();
        let number: i128 = text.parse().map_err(|_| TunableError::NotANumber {
            name,
            text: text.to_owned(),
            min,
            max,
        })?;
        let number = i64::try_from(number.clamp(min.into(), max.into())).unwrap_or(max);
        *(tunable.field)(values) = tunable.unit.keep(hz, number);
        Ok(())
    }
}

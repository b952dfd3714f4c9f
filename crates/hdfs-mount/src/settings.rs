//! Settings of a mount that can be changed while it serves, as extended attributes of its root.

use std::time::Duration;

/// Prefix of the names of the attributes.
const PREFIX: &str = "user.iostudy.";

/// The read buffer holds for files that are opened later, the timeouts for later replies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Bytes of the read buffer of each open file.
    pub rdbuffer: usize,
    /// Time for which the kernel keeps attributes.
    pub attribute_timeout: Duration,
    /// Time for which the kernel keeps names.
    pub entry_timeout: Duration,
}

impl Settings {
    /// The value of an attribute, in bytes or seconds; none for another name.
    pub fn read(&self, attribute: &str) -> Option<String> {
        match attribute.strip_prefix(PREFIX)? {
            "rdbuffer" => Some(self.rdbuffer.to_string()),
            "attribute_timeout" => Some(self.attribute_timeout.as_secs_f64().to_string()),
            "entry_timeout" => Some(self.entry_timeout.as_secs_f64().to_string()),
            _ => None,
        }
    }

    /// These settings with another value of an attribute; none if it is not one of theirs.
    pub fn with(self, attribute: &str, value: &str) -> Option<Self> {
        let changed = match attribute.strip_prefix(PREFIX)? {
            "rdbuffer" => Self {
                rdbuffer: value.parse().ok()?,
                ..self
            },
            "attribute_timeout" => Self {
                attribute_timeout: parse_seconds(value)?,
                ..self
            },
            "entry_timeout" => Self {
                entry_timeout: parse_seconds(value)?,
                ..self
            },
            _ => return None,
        };
        Some(changed)
    }
}

fn parse_seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings {
        rdbuffer: 1,
        attribute_timeout: Duration::from_secs(60),
        entry_timeout: Duration::from_millis(500),
    };

    #[test]
    fn each_setting_is_read_as_it_was_written() {
        for (name, value) in [
            ("user.iostudy.rdbuffer", "65536"),
            ("user.iostudy.attribute_timeout", "0.25"),
            ("user.iostudy.entry_timeout", "7"),
        ] {
            let changed = SETTINGS.with(name, value).unwrap();
            assert_eq!(changed.read(name).as_deref(), Some(value));
            assert_ne!(changed, SETTINGS);
        }
    }

    #[test]
    fn other_names_and_values_are_refused() {
        assert_eq!(SETTINGS.read("user.other"), None);
        for (name, value) in [
            ("user.iostudy.rdbuffer", "-1"),
            ("user.iostudy.attribute_timeout", "-1"),
            ("user.iostudy.entry_timeout", "inf"),
            ("user.iostudy.statistics", "1"),
        ] {
            assert_eq!(SETTINGS.with(name, value), None, "{name} {value}");
        }
    }
}

//! Parser of the kernel's trace formats: `events/header_page` and `events/*/*/format`; see
//! Documentation/trace/events.rst, "Event formats".

use thiserror::Error;

/// Reasons why a format is unusable.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// A field is missing.
    #[error("the field {0} is missing")]
    NoField(String),
    /// A field is not an integer.
    #[error("the field {name} has {bytes} bytes and is not an integer")]
    NoNumber {
        /// Name of the field.
        name: String,
        /// Size of the field in bytes.
        bytes: usize,
    },
    /// The event has no id.
    #[error("the line \"ID: NUMBER\" is missing")]
    NoId,
}

/// Position of a field in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

impl Field {
    /// Bytes of the field; `None` if the record is too short.
    pub fn bytes<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// Unsigned integer in native byte order; `None` if the record is too short.
    #[inline]
    pub fn number(&self, record: &[u8]) -> Option<u64> {
        let bytes = self.bytes(record)?;
        match bytes.len() {
            1 => Some(bytes[0].into()),
            2 => Some(u16::from_ne_bytes(bytes.try_into().ok()?).into()),
            4 => Some(u32::from_ne_bytes(bytes.try_into().ok()?).into()),
            8 => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }
}

/// Parsed format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    id: Option<u64>,
    fields: Vec<(String, Field)>,
}

impl Format {
    /// Parse a text; lines without fields are skipped.
    pub fn parse(text: &str) -> Self {
        Self {
            id: text
                .lines()
                .find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok()),
            fields: text.lines().filter_map(field).collect(),
        }
    }

    /// Event id in records.
    ///
    /// # Errors
    ///
    /// The format is not of an event.
    pub fn id(&self) -> Result<u64, FormatError> {
        self.id.ok_or(FormatError::NoId)
    }

    /// Find a field.
    ///
    /// # Errors
    ///
    /// The field is missing.
    pub fn field(&self, name: &str) -> Result<Field, FormatError> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found
            .map(|(_, field)| *field)
            .ok_or_else(|| FormatError::NoField(name.into()))
    }

    /// Find an integer field.
    ///
    /// # Errors
    ///
    /// The field is missing or not an integer.
    pub fn number(&self, name: &str) -> Result<Field, FormatError> {
        let field = self.field(name)?;
        match field.size {
            1 | 2 | 4 | 8 => Ok(field),
            bytes => Err(FormatError::NoNumber {
                name: name.into(),
                bytes,
            }),
        }
    }
}

/// Parse a line such as `field:char rwbs[10]; offset:34; size:10; signed:0;`.
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let name = declared.rsplit([' ', '*']).next()?.split('[').next()?;
    let offset = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
    let size = parts.next()?.strip_prefix("size:")?.parse().ok()?;
    Some((name.into(), Field { offset, size }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ISSUE: &str = include_str!("../tests/recorded/block_rq_issue.format");

    #[test]
    fn parses_the_format_of_an_event() {
        let format = Format::parse(ISSUE);
        assert_eq!(format.id(), Ok(2104));
        let (offset, size) = (34, 10);
        assert_eq!(format.field("rwbs"), Ok(Field { offset, size }));
        let (offset, size) = (16, 8);
        assert_eq!(format.number("sector"), Ok(Field { offset, size }));
    }

    #[test]
    fn a_missing_or_wrong_field_is_an_error_that_names_it() {
        let format = Format::parse(ISSUE);
        let error = format.field("sectors").unwrap_err();
        assert_eq!(error.to_string(), "the field sectors is missing");
        let error = format.number("rwbs").unwrap_err();
        let message = "the field rwbs has 10 bytes and is not an integer";
        assert_eq!(error.to_string(), message);
        assert_eq!(Format::parse("name: x").id(), Err(FormatError::NoId));
    }

    #[test]
    fn numbers_of_every_size_are_read_and_none_from_beyond_the_end() {
        let record = [0xff; 12];
        for size in [1, 2, 4, 8] {
            let field = Field { offset: 3, size };
            let all = u64::MAX >> (64 - 8 * size);
            assert_eq!(field.number(&record), Some(all));
        }
        let (offset, size) = (8, 8);
        assert_eq!(Field { offset, size }.number(&record), None);
        let offset = usize::MAX;
        assert_eq!(Field { offset, size }.number(&record), None);
    }

    proptest! {
        #[test]
        fn any_field_is_found_again(
            name in "[a-z_]{1,12}", offset in 0_usize..4096, size in 1_usize..4096, length: u8,
        ) {
            for declared in [format!("u64 {name}"), format!("char *{name}"),
                             format!("unsigned char {name}[{length}]")] {
                let line = format!("\tfield:{declared};\toffset:{offset};\tsize:{size};\tsigned:0;");
                prop_assert_eq!(Format::parse(&line).field(&name), Ok(Field { offset, size }));
            }
        }

        #[test]
        fn nothing_makes_it_panic(text in "\\PC{0,200}") {
            let _ = Format::parse(&text);
        }
    }
}

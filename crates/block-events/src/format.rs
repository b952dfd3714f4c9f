//! The texts in which the kernel says how what it traces lies in memory: `events/header_page` and
//! `events/*/*/format`; see Documentation/trace/events.rst, "Event formats".

use thiserror::Error;

/// Why a text is not a format that can be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// The kernel does not tell a field of this name.
    #[error("there is no field {0} in it")]
    NoField(String),
    /// A field of another size than that of a whole number.
    #[error("the field {name} has {bytes} bytes, which no whole number has")]
    NoNumber {
        /// The field.
        name: String,
        /// Its size.
        bytes: usize,
    },
    /// The event has no number.
    #[error("there is no line \"ID: NUMBER\" in it")]
    NoId,
}

/// Where a value lies in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Bytes before it.
    pub offset: usize,
    /// Bytes of it.
    pub size: usize,
}

impl Field {
    /// Its bytes; None in a record that is shorter.
    #[must_use]
    pub fn bytes<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..self.offset.checked_add(self.size)?)
    }

    /// The unsigned number in this machine's byte order; None in a record that is shorter.
    #[inline]
    #[must_use]
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

/// What a format text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    id: Option<u64>,
    fields: Vec<(String, Field)>,
}

impl Format {
    /// Of a text; lines that say nothing of fields are passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self {
            id: text
                .lines()
                .find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok()),
            fields: text.lines().filter_map(field).collect(),
        }
    }

    /// The number by which records name the event.
    ///
    /// # Errors
    ///
    /// It is the format of no event.
    pub fn id(&self) -> Result<u64, FormatError> {
        self.id.ok_or(FormatError::NoId)
    }

    /// Where the field of that name lies.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn field(&self, name: &str) -> Result<Field, FormatError> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found
            .map(|(_, field)| *field)
            .ok_or_else(|| FormatError::NoField(name.into()))
    }

    /// Where the field of that name lies, which holds a whole number.
    ///
    /// # Errors
    ///
    /// There is none, or it has a size that no number has.
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

/// The name and place of a line such as `field:char rwbs[10]; offset:34; size:10; signed:0;`.
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
    fn what_the_kernel_tells_of_an_event_is_read() {
        let format = Format::parse(ISSUE);
        assert_eq!(format.id(), Ok(2104));
        let (offset, size) = (34, 10);
        assert_eq!(format.field("rwbs"), Ok(Field { offset, size }));
        let (offset, size) = (16, 8);
        assert_eq!(format.number("sector"), Ok(Field { offset, size }));
    }

    #[test]
    fn what_is_not_told_is_an_error_that_names_it() {
        let format = Format::parse(ISSUE);
        let error = format.field("sectors").unwrap_err();
        assert_eq!(error.to_string(), "there is no field sectors in it");
        let error = format.number("rwbs").unwrap_err();
        let told = "the field rwbs has 10 bytes, which no whole number has";
        assert_eq!(error.to_string(), told);
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

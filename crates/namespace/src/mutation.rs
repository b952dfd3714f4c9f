//! Mutations of the tree and their encoding in the log.

use integer_encoding::VarInt;

/// Mutation; `at_ms` is Unix time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation<'a> {
    /// Create a directory in an existing one.
    Mkdir {
        /// Absolute path.
        path: &'a str,
        /// Time of the mutation.
        at_ms: u64,
    },
    /// Create an empty file, which stays open.
    Create {
        /// Absolute path.
        path: &'a str,
        /// Time of the mutation.
        at_ms: u64,
    },
    /// Rename an entry within its directory.
    Rename {
        /// Absolute path.
        path: &'a str,
        /// New name without a directory.
        name: &'a str,
        /// Time of the mutation.
        at_ms: u64,
    },
    /// Delete a file or an empty directory.
    Delete {
        /// Absolute path.
        path: &'a str,
    },
}

const MKDIR: u8 = 1;
const CREATE: u8 = 2;
const RENAME: u8 = 3;
const DELETE: u8 = 4;

impl<'a> Mutation<'a> {
    /// Append the encoding: a kind, then each part; strings with their length.
    pub fn encode(&self, into: &mut Vec<u8>) {
        match *self {
            Self::Mkdir { path, at_ms } => append(into, MKDIR, &[path], Some(at_ms)),
            Self::Create { path, at_ms } => append(into, CREATE, &[path], Some(at_ms)),
            Self::Rename { path, name, at_ms } => append(into, RENAME, &[path, name], Some(at_ms)),
            Self::Delete { path } => append(into, DELETE, &[path], None),
        }
    }

    /// Decode the mutation at the start of `bytes`; `None` if it is invalid.
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (&kind, mut rest) = bytes.split_first()?;
        let path = read_text(&mut rest)?;
        Some(match kind {
            MKDIR => Self::Mkdir {
                path,
                at_ms: read_number(&mut rest)?,
            },
            CREATE => Self::Create {
                path,
                at_ms: read_number(&mut rest)?,
            },
            RENAME => Self::Rename {
                path,
                name: read_text(&mut rest)?,
                at_ms: read_number(&mut rest)?,
            },
            DELETE => Self::Delete { path },
            _ => return None,
        })
    }
}

fn append(into: &mut Vec<u8>, kind: u8, texts: &[&str], at_ms: Option<u64>) {
    into.push(kind);
    for text in texts {
        append_number(into, text.len() as u64);
        into.extend_from_slice(text.as_bytes());
    }
    if let Some(at_ms) = at_ms {
        append_number(into, at_ms);
    }
}

pub(crate) fn append_number(into: &mut Vec<u8>, number: u64) {
    let mut buffer = [0; 10];
    let len = number.encode_var(&mut buffer);
    into.extend_from_slice(&buffer[..len]);
}

pub(crate) fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let (value, len) = u64::decode_var(rest)?;
    *rest = &rest[len..];
    Some(value)
}

fn read_text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let len = usize::try_from(read_number(rest)?).ok()?;
    let (text, after) = rest.split_at_checked(len)?;
    *rest = after;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn encoded_mutations_decode(path in ".{0,40}", name in ".{0,20}", at_ms: u64) {
            let (path, name) = (path.as_str(), name.as_str());
            for mutation in [
                Mutation::Mkdir { path, at_ms },
                Mutation::Create { path, at_ms },
                Mutation::Rename { path, name, at_ms },
                Mutation::Delete { path },
            ] {
                let mut bytes = Vec::new();
                mutation.encode(&mut bytes);
                prop_assert_eq!(Mutation::decode(&bytes), Some(mutation));
                bytes.extend_from_slice(&[0; 7]); // padding
                prop_assert_eq!(Mutation::decode(&bytes), Some(mutation));
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Mutation::decode(&bytes);
        }
    }
}

//! What changes the tree, and its form in the log.

use integer_encoding::VarInt;

/// One change; `at_ms` is Unix time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation<'a> {
    /// Make a directory in one that is there.
    Mkdir {
        /// Its absolute path.
        path: &'a str,
        /// When.
        at_ms: u64,
    },
    /// Make an empty file, which stays open.
    Create {
        /// Its absolute path.
        path: &'a str,
        /// When.
        at_ms: u64,
    },
    /// Give what is there another name in the same directory.
    Rename {
        /// Its absolute path.
        path: &'a str,
        /// Its new name, without a directory.
        name: &'a str,
        /// When.
        at_ms: u64,
    },
    /// Remove a file, or a directory that is empty.
    Delete {
        /// Its absolute path.
        path: &'a str,
    },
}

const MKDIR: u8 = 1;
const CREATE: u8 = 2;
const RENAME: u8 = 3;
const DELETE: u8 = 4;

impl<'a> Mutation<'a> {
    /// Append its form in the log: a kind, then each part; texts and numbers with their length.
    pub fn encode(&self, into: &mut Vec<u8>) {
        match *self {
            Self::Mkdir { path, at_ms } => put(into, MKDIR, &[path], Some(at_ms)),
            Self::Create { path, at_ms } => put(into, CREATE, &[path], Some(at_ms)),
            Self::Rename { path, name, at_ms } => put(into, RENAME, &[path, name], Some(at_ms)),
            Self::Delete { path } => put(into, DELETE, &[path], None),
        }
    }

    /// What was encoded at the beginning of `bytes`; None if that is no mutation.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (&kind, mut rest) = bytes.split_first()?;
        let path = text(&mut rest)?;
        Some(match kind {
            MKDIR => Self::Mkdir {
                path,
                at_ms: number(&mut rest)?,
            },
            CREATE => Self::Create {
                path,
                at_ms: number(&mut rest)?,
            },
            RENAME => Self::Rename {
                path,
                name: text(&mut rest)?,
                at_ms: number(&mut rest)?,
            },
            DELETE => Self::Delete { path },
            _ => return None,
        })
    }
}

fn put(into: &mut Vec<u8>, kind: u8, texts: &[&str], at_ms: Option<u64>) {
    into.push(kind);
    for text in texts {
        put_number(into, text.len() as u64);
        into.extend_from_slice(text.as_bytes());
    }
    if let Some(at_ms) = at_ms {
        put_number(into, at_ms);
    }
}

pub(crate) fn put_number(into: &mut Vec<u8>, number: u64) {
    let mut buffer = [0; 10];
    let len = number.encode_var(&mut buffer);
    into.extend_from_slice(&buffer[..len]);
}

pub(crate) fn number(rest: &mut &[u8]) -> Option<u64> {
    let (value, len) = u64::decode_var(rest)?;
    *rest = &rest[len..];
    Some(value)
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let len = usize::try_from(number(rest)?).ok()?;
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
        fn what_is_encoded_is_decoded(path in ".{0,40}", name in ".{0,20}", at_ms: u64) {
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
        fn nothing_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Mutation::decode(&bytes);
        }
    }
}

//! File of /proc that stays open for repeated reads.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Initial buffer size, so that sampling does not allocate.
const INITIAL_BYTES: usize = 64 << 10;

/// Upper limit of a short line.
const MAX_LINE_BYTES: usize = 2 << 10;

/// `F` differs from a file only in tests, which control the pieces of a read.
pub(crate) struct ProcFile<F = File> {
    file: F,
    text: Vec<u8>,
}

impl ProcFile {
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        Ok(Self::of(File::open(path)?))
    }
}

impl<F: FileExt> ProcFile<F> {
    pub(crate) fn of(file: F) -> Self {
        Self {
            file,
            text: vec![0; INITIAL_BYTES],
        }
    }

    /// Read the whole file. The kernel returns it in pieces, the last of which is empty.
    pub(crate) fn read(&mut self) -> io::Result<&[u8]> {
        self.read_until(0)
    }

    /// Read a file of short lines or of one record. The kernel returns as many whole records as fit
    /// into a page, and a longer one alone (`seq_read_iter` of `fs/seq_file.c`). So a piece that
    /// leaves half a page free is the last one, and the final empty read can be skipped. Records of
    /// several lines, as of a disk with partitions, need [`Self::read`].
    pub(crate) fn read_lines(&mut self) -> io::Result<&[u8]> {
        self.read_until(MAX_LINE_BYTES)
    }

    fn read_until(&mut self, last: usize) -> io::Result<&[u8]> {
        let mut len = 0;
        loop {
            // Otherwise a short piece may only reflect a full buffer.
            if self.text.len() - len <= last {
                self.text.resize(2 * self.text.len(), 0);
            }
            match self.file.read_at(&mut self.text[len..], len as u64) {
                Ok(more) if more <= last => return Ok(&self.text[..len + more]),
                Ok(more) => len += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Fields of a line, separated by spaces.
pub(crate) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b' ')
        .filter(|field| !field.is_empty())
}

/// Parse a decimal number without anything else.
pub(crate) fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
pub(crate) mod fake {
    //! A file that is handed out as a test wants it.

    use super::{FileExt, io};

    /// Whole lines up to a page or the requested size, as `fs/seq_file.c` returns them.
    pub(crate) struct Lines(pub(crate) String);

    impl FileExt for Lines {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let rest = &self.0[usize::try_from(offset).unwrap()..];
            let mut piece = 0;
            for line in rest.split_inclusive('\n') {
                if piece >= buffer.len() || (piece > 0 && piece + line.len() > PAGE) {
                    break;
                }
                piece += line.len();
            }
            let piece = &rest.as_bytes()[..piece.min(buffer.len())];
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }

        fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
            unreachable!("nothing is written to /proc")
        }
    }

    const PAGE: usize = 4096;

    /// One piece per read, whatever the requested size.
    pub(crate) struct Pieces(pub(crate) &'static [&'static str]);

    impl FileExt for Pieces {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let mut begin = 0;
            for piece in self.0 {
                if begin == offset {
                    buffer[..piece.len()].copy_from_slice(piece.as_bytes());
                    return Ok(piece.len());
                }
                begin += piece.len() as u64;
            }
            Ok(0)
        }

        fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
            unreachable!("nothing is written to /proc")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::fake::Lines;
    use super::*;

    #[test]
    fn lines_are_read_to_the_end() {
        for path in ["/proc/vmstat", "/proc/stat", "/proc/loadavg"] {
            let mut proc_file = ProcFile::open(path).unwrap();
            let lines = |text: &[u8]| text.split(|&byte| byte == b'\n').count();
            let whole = lines(proc_file.read().unwrap());
            let text = proc_file.read_lines().unwrap();
            assert!(text.ends_with(b"\n"), "{path}");
            assert_eq!(lines(text), whole, "{path}");
        }
    }

    #[test]
    fn reads_more_than_the_usual_and_follows_changes() {
        let mut source = tempfile::NamedTempFile::new().unwrap();
        let mut proc_file = ProcFile::open(source.path().to_str().unwrap()).unwrap();
        assert_eq!(proc_file.read().unwrap(), b"");
        source.write_all(&vec![b'x'; 3 * INITIAL_BYTES]).unwrap();
        assert_eq!(proc_file.read().unwrap().len(), 3 * INITIAL_BYTES);
    }

    proptest! {
        #[test]
        fn pieces_that_fill_the_room_are_not_the_last(lines in 0..2000_usize, long in 60..140_usize) {
            let whole = format!("{}\n", "x".repeat(long)).repeat(lines);
            let mut proc_file = ProcFile::of(Lines(whole.clone()));
            for _ in 0..2 {
                prop_assert_eq!(proc_file.read_lines().unwrap().len(), whole.len());
            }
            prop_assert_eq!(proc_file.read().unwrap(), whole.as_bytes());
        }
    }
}

//! A file of /proc that is kept open and read again from its start.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Room for what these files usually hold, so that sampling does not allocate.
const USUAL_BYTES: usize = 64 << 10;

pub(crate) struct ProcFile {
    file: File,
    text: Vec<u8>,
}

impl ProcFile {
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
            text: vec![0; USUAL_BYTES],
        })
    }

    /// What the file holds now. The kernel hands it out in pieces of a page or so.
    pub(crate) fn read(&mut self) -> io::Result<&[u8]> {
        let mut len = 0;
        loop {
            if len == self.text.len() {
                self.text.resize(2 * len, 0);
            }
            match self.file.read_at(&mut self.text[len..], len as u64) {
                Ok(0) => return Ok(&self.text[..len]),
                Ok(more) => len += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A decimal number and nothing else.
pub(crate) fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn reads_more_than_the_usual_and_follows_changes() {
        let mut source = tempfile::NamedTempFile::new().unwrap();
        let mut proc_file = ProcFile::open(source.path().to_str().unwrap()).unwrap();
        assert_eq!(proc_file.read().unwrap(), b"");
        source.write_all(&vec![b'x'; 3 * USUAL_BYTES]).unwrap();
        assert_eq!(proc_file.read().unwrap().len(), 3 * USUAL_BYTES);
    }
}

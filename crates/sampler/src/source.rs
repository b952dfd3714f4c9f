//! What a kind of file tells, sample by sample.

use crate::columns::Columns;

/// One kind of file, open. Its `open` is None where the kernel does not offer it.
pub trait Source: Send + Sync {
    /// Put what is there now into the row being taken. What cannot be read is left out.
    fn sample(&mut self, columns: &mut Columns);
}

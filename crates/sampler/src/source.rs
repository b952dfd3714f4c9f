//! Interface of sample sources.

use crate::columns::Columns;

/// Open source of one kind of file. Its `open` returns `None` where the kernel lacks it.
pub trait Source: Send + Sync {
    /// Set the current values in the current row; unreadable values are skipped.
    fn sample(&mut self, columns: &mut Columns);
}

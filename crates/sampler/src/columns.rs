//! Named columns of the samples, the current row, and the interface of sources.

use std::collections::HashMap;

/// Index of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column(usize);

/// Current row of named values.
///
/// Names are `group.counter` or `group.key.counter`; a key may contain dots.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<String>,
    by_name: HashMap<String, Column>,
    row: Vec<Option<u64>>,
}

impl Columns {
    /// Return the column with this name; a new one is appended.
    pub fn get_or_add(&mut self, name: &str) -> Column {
        if let Some(&column) = self.by_name.get(name) {
            return column;
        }
        let column = Column(self.names.len());
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), column);
        self.row.push(None);
        column
    }

    /// Return one column per counter of `group`, in order.
    pub fn group<const N: usize>(&mut self, group: &str, counters: &[&str; N]) -> [Column; N] {
        counters.map(|counter| self.get_or_add(&format!("{group}.{counter}")))
    }

    /// Set the value of a column in the current row.
    pub fn put(&mut self, column: Column, value: u64) {
        self.row[column.0] = Some(value);
    }

    /// Set the values of the columns of a group from [`Self::group`].
    pub fn put_all<const N: usize>(&mut self, columns: &[Column; N], values: &[u64; N]) {
        for (column, value) in columns.iter().zip(values) {
            self.put(*column, *value);
        }
    }

    /// Names of all columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Current row; `None` where no value was set.
    pub fn row(&self) -> &[Option<u64>] {
        &self.row
    }

    /// Start an empty row.
    pub fn begin(&mut self) {
        self.row.fill(None);
    }
}

/// Open source of one kind of file. Its `open` returns `None` where the kernel lacks it.
pub trait Source: Send + Sync {
    /// Set the current values in the current row; unreadable values are skipped.
    fn sample(&mut self, columns: &mut Columns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_requested_twice_is_one_column() {
        let mut columns = Columns::default();
        let [user, idle] = columns.group("cpu", &["user", "idle"]);
        assert_eq!(columns.get_or_add("cpu.user"), user);
        columns.put(idle, 7);
        assert_eq!(columns.names(), ["cpu.user", "cpu.idle"]);
        assert_eq!(columns.row(), [None, Some(7)]);
        columns.begin();
        assert_eq!(columns.row(), [None, None]);
    }
}

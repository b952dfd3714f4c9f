//! The columns that sources have named so far, and the row being taken.

use std::collections::HashMap;

/// A column, by its place in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column(usize);

/// One row of values, with a name for each.
///
/// Names are `group.counter` or `group.key.counter`; a key may hold dots itself.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<String>,
    by_name: HashMap<String, Column>,
    row: Vec<Option<u64>>,
}

impl Columns {
    /// The column of that name; a new one at the end of the row if there was none.
    pub fn named(&mut self, name: &str) -> Column {
        if let Some(&column) = self.by_name.get(name) {
            return column;
        }
        let column = Column(self.names.len());
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), column);
        self.row.push(None);
        column
    }

    /// One column for each counter of `group`, in their order.
    pub fn group<const N: usize>(&mut self, group: &str, counters: &[&str; N]) -> [Column; N] {
        counters.map(|counter| self.named(&format!("{group}.{counter}")))
    }

    /// The value of a column in the row being taken.
    pub fn put(&mut self, column: Column, value: u64) {
        self.row[column.0] = Some(value);
    }

    /// A value for each column of the group that [`Self::group`] has named.
    pub fn put_all<const N: usize>(&mut self, columns: &[Column; N], values: &[u64; N]) {
        for (column, value) in columns.iter().zip(values) {
            self.put(*column, *value);
        }
    }

    /// The name of each value of a row.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The row as it stands: None where nothing was put.
    #[must_use]
    pub fn row(&self) -> &[Option<u64>] {
        &self.row
    }

    /// Begin another row: nothing is there yet.
    pub fn begin(&mut self) {
        self.row.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_column_however_often_it_is_asked_for() {
        let mut columns = Columns::default();
        let [user, idle] = columns.group("cpu", &["user", "idle"]);
        assert_eq!(columns.named("cpu.user"), user);
        columns.put(idle, 7);
        assert_eq!(columns.names(), ["cpu.user", "cpu.idle"]);
        assert_eq!(columns.row(), [None, Some(7)]);
        columns.begin();
        assert_eq!(columns.row(), [None, None]);
    }
}

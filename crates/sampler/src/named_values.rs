//! Parser of files with lines `NAME VALUE`.

use crate::columns::{Column, Columns};
use crate::line_cache::LineCache;
use crate::proc_file::number;

/// Parser that sums selected values into columns.
pub(crate) struct NamedValues<const N: usize> {
    columns: [Column; N],
    /// Column index of a name; `None` if it is not selected.
    column_index: fn(&[u8]) -> Option<usize>,
    line_cache: LineCache<Option<usize>>,
}

impl<const N: usize> NamedValues<N> {
    pub(crate) fn new(columns: [Column; N], column_index: fn(&[u8]) -> Option<usize>) -> Self {
        Self {
            columns,
            column_index,
            line_cache: LineCache::new(),
        }
    }

    /// Sum of the lines of each column; `None` if there are none.
    pub(crate) fn sums(&mut self, text: &[u8]) -> [Option<u64>; N] {
        let mut sums = [None::<u64>; N];
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let name = name(line);
            let column = *self
                .line_cache
                .at(index, name, || (self.column_index)(name));
            if let Some(column) = column
                && let Some(value) = value(&line[name.len()..])
            {
                sums[column] = Some(sums[column].unwrap_or(0).wrapping_add(value));
            }
        }
        sums
    }

    /// Set the values of the columns; `None` is missing.
    pub(crate) fn put(&self, values: &[Option<u64>; N], columns: &mut Columns) {
        for (column, value) in self.columns.iter().zip(values) {
            if let Some(value) = value {
                columns.put(*column, *value);
            }
        }
    }
}

/// Name up to the first space or colon.
fn name(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| b" :".contains(byte));
    &line[..end.unwrap_or(line.len())]
}

/// Number after the name; a unit may follow.
fn value(rest: &[u8]) -> Option<u64> {
    rest.split(|byte| b" :".contains(byte))
        .find(|field| !field.is_empty())
        .and_then(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column_index(name: &[u8]) -> Option<usize> {
        [&b"free"[..], b"used"]
            .iter()
            .position(|known| *known == name)
    }

    fn put(texts: &[&[u8]]) -> Vec<Option<u64>> {
        let mut columns = Columns::default();
        let mut named_values =
            NamedValues::new(columns.group("of", &["free", "used"]), column_index);
        for text in texts {
            columns.begin();
            let sums = named_values.sums(text);
            named_values.put(&sums, &mut columns);
        }
        columns.row().to_vec()
    }

    #[test]
    fn lines_of_one_column_are_summed_and_others_left_out() {
        assert_eq!(put(&[b"free 1\nother 2\nfree 3\n"]), [Some(4), None]);
        assert_eq!(put(&[b"free:    12 kB\nused: 7 kB\n"]), [Some(12), Some(7)]);
    }

    #[test]
    fn lines_may_change_their_places() {
        assert_eq!(
            put(&[b"free 1\nused 2", b"used 3\nfree 4"]),
            [Some(4), Some(3)]
        );
        assert_eq!(put(&[b"free 1\nused 2", b"used 3"]), [None, Some(3)]);
    }

    #[test]
    fn what_is_no_number_is_missing() {
        assert_eq!(put(&[b"free max\nused"]), [None, None]);
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(free: u64, usage: u64, colon: bool) {
            let separator = if colon { ":      " } else { " " };
            let text = format!("free{separator}{free}\nx 1\nused{separator}{usage} kB\n");
            prop_assert_eq!(put(&[text.as_bytes()]), [Some(free), Some(usage)]);
        }

        #[test]
        fn nothing_makes_it_panic(
            texts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..4),
        ) {
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            put(&texts);
        }
    }
}

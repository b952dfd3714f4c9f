//! Files with a line for each value, `NAME VALUE`, of which a few are wanted.

use crate::columns::{Column, Columns};
use crate::places::Places;
use crate::proc_file::number;

/// Puts the wanted values of such a file into their columns.
pub(crate) struct Named<const N: usize> {
    columns: [Column; N],
    /// Which of the columns counts a name; None for one that nobody wants.
    belongs: fn(&[u8]) -> Option<usize>,
    places: Places<Option<usize>>,
}

impl<const N: usize> Named<N> {
    pub(crate) fn new(columns: [Column; N], belongs: fn(&[u8]) -> Option<usize>) -> Self {
        Self {
            columns,
            belongs,
            places: Places::new(),
        }
    }

    /// Of each column the sum of the lines that belong to it; None if there is none.
    pub(crate) fn sums(&mut self, text: &[u8]) -> [Option<u64>; N] {
        let mut sums = [None::<u64>; N];
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let name = name(line);
            let column = *self.places.at(index, name, || (self.belongs)(name));
            if let Some(column) = column
                && let Some(value) = value(&line[name.len()..])
            {
                sums[column] = Some(sums[column].unwrap_or(0).wrapping_add(value));
            }
        }
        sums
    }

    /// A value for each column; one that is None is missing.
    pub(crate) fn put(&self, values: &[Option<u64>; N], columns: &mut Columns) {
        for (column, value) in self.columns.iter().zip(values) {
            if let Some(value) = value {
                columns.put(*column, *value);
            }
        }
    }
}

/// Up to the first space or colon.
fn name(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| b" :".contains(byte));
    &line[..end.unwrap_or(line.len())]
}

/// The number after the name; a unit may follow.
fn value(rest: &[u8]) -> Option<u64> {
    rest.split(|byte| b" :".contains(byte))
        .find(|field| !field.is_empty())
        .and_then(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn belongs(name: &[u8]) -> Option<usize> {
        [&b"free"[..], b"used"]
            .iter()
            .position(|known| *known == name)
    }

    fn put(texts: &[&[u8]]) -> Vec<Option<u64>> {
        let mut columns = Columns::default();
        let mut named = Named::new(columns.group("of", &["free", "used"]), belongs);
        for text in texts {
            columns.begin();
            let sums = named.sums(text);
            named.put(&sums, &mut columns);
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
        fn what_the_kernel_prints_is_read_back(free: u64, used: u64, colon: bool) {
            let separator = if colon { ":      " } else { " " };
            let text = format!("free{separator}{free}\nx 1\nused{separator}{used} kB\n");
            prop_assert_eq!(put(&[text.as_bytes()]), [Some(free), Some(used)]);
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

//! What belongs to each line of a file, found by the place of the line.

/// A value for each line, in the order of the lines at the last sample: it seldom changes, so a
/// line is known by comparing its name with that of the line that was there before.
pub(crate) struct Places<T>(Vec<(Box<[u8]>, T)>);

impl<T> Places<T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// What belongs to the line `name` that is the `index`th, from 0 on without gaps; `new` says
    /// so where another line was there before, or none.
    pub(crate) fn at(&mut self, index: usize, name: &[u8], new: impl FnOnce() -> T) -> &T {
        if self.0.get(index).is_none_or(|(known, _)| **known != *name) {
            self.0.truncate(index);
            self.0.push((name.into(), new()));
        }
        &self.0[index].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_asked_about_once_while_it_stays_in_its_place() {
        let mut places = Places::new();
        let mut asked = 0;
        for names in ["ab", "ab", "axb", "ab"] {
            for (index, name) in names.bytes().enumerate() {
                let belongs = *places.at(index, &[name], || {
                    asked += 1;
                    name
                });
                assert_eq!(belongs, name);
            }
        }
        assert_eq!(asked, 2 + 2 + 1);
    }
}

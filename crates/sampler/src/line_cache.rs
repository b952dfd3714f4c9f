//! Cache of per-line values by line position.

/// Values of lines in file order. The order rarely changes, so a line is found by comparing its
/// name with the cached one at its position.
pub(crate) struct LineCache<T>(Vec<(Box<[u8]>, T)>);

impl<T> LineCache<T> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    /// Return the value of line `name` at position `index`; `new` creates it if the cached name
    /// differs.
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
    fn a_line_that_keeps_its_place_is_looked_up_once() {
        let mut line_cache = LineCache::new();
        let mut calls = 0;
        for names in ["ab", "ab", "axb", "ab"] {
            for (index, name) in names.bytes().enumerate() {
                let column_index = *line_cache.at(index, &[name], || {
                    calls += 1;
                    name
                });
                assert_eq!(column_index, name);
            }
        }
        assert_eq!(calls, 2 + 2 + 1);
    }
}

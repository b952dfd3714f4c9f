//! Mount paths as escaped by the kernel.

/// Unescape a path: spaces, tabs, line ends and backslashes are octal escapes (`mangle()` in the
/// kernel's `fs/seq_file.c`).
pub(crate) fn unescape(printed: &str) -> String {
    let mut parts = printed.split('\\');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |path, part| path + &with_first(part))
}

fn with_first(part: &str) -> String {
    let code = part
        .get(..3)
        .and_then(|octal| u8::from_str_radix(octal, 8).ok());
    match code.filter(u8::is_ascii) {
        Some(code) => char::from(code).to_string() + &part[3..],
        None => format!("\\{part}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_code_stays() {
        for plain in ["/a\\", "/a\\0", "/a\\999", "\\ä\\"] {
            assert_eq!(unescape(plain), plain);
        }
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(path in "(.|[ \t\n\\\\]){0,30}") {
            let printed: String = path
                .chars()
                .map(|one| match one {
                    ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", u32::from(one)),
                    _ => one.to_string(),
                })
                .collect();
            prop_assert_eq!(unescape(&printed), path);
        }
    }
}

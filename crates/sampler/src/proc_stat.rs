//! /proc/stat: the first line holds the ticks of all processors; see proc(5).

use crate::proc_file::number;

/// What processors spend their time on, in the order of the kernel.
pub const CPU_STATES: [&str; 8] = [
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal",
];

/// Clock ticks of all processors, one value for each of [`CPU_STATES`].
pub type CpuTicks = [u64; CPU_STATES.len()];

/// The ticks of all processors, or None if the text does not begin as the kernel documents it.
#[must_use]
pub fn parse_cpu(text: &[u8]) -> Option<CpuTicks> {
    let line = text.split(|&byte| byte == b'\n').next()?;
    let mut fields = line
        .strip_prefix(b"cpu ")?
        .split(|&b| b == b' ')
        .filter(|f| !f.is_empty());
    let mut ticks = CpuTicks::default();
    for tick in &mut ticks {
        *tick = number(fields.next()?)?;
    }
    Some(ticks)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_the_line_of_all_processors() {
        let text = b"cpu  10132153 290696 3084719 46828483 16683 0 25195 7 175628 0\ncpu0 1 2 3";
        let expected = [
            10_132_153, 290_696, 3_084_719, 46_828_483, 16683, 0, 25195, 7,
        ];
        assert_eq!(parse_cpu(text), Some(expected));
    }

    #[test]
    fn one_processor_is_not_all_of_them() {
        assert_eq!(parse_cpu(b"cpu0 1 2 3 4 5 6 7 8\n"), None);
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(ticks: [u64; 8], guest: u64) {
            let printed: Vec<String> = ticks.iter().map(ToString::to_string).collect();
            let text = format!("cpu  {} {guest} 0\ncpu0 1\n", printed.join(" "));
            prop_assert_eq!(parse_cpu(text.as_bytes()), Some(ticks));
        }

        #[test]
        fn nothing_makes_it_panic(text in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = parse_cpu(&text);
        }
    }
}

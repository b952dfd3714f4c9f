//! /proc/self/mountstats: RPC counters of NFS mounts; see `nfs_show_stats()` in the kernel's
//! fs/nfs/super.c, `rpc_clnt_show_stats()` in net/sunrpc/stats.c and nfsiostat(8).

use crate::columns::Source;
use crate::columns::{Column, Columns};
use crate::mount_path::unescape;
use crate::proc_file::ProcFile;

/// Operations with their own counters; all others are summed as the last one, `other`.
const OPERATIONS: [(&str, &str); 3] = [("READ", "read"), ("WRITE", "write"), ("COMMIT", "commit")];
const OTHER: usize = OPERATIONS.len();
const KINDS: usize = OPERATIONS.len() + 1;

/// Counters of each operation, in the kernel's order. Errors came with `statvers=1.1`.
const COUNTERS: [&str; 9] = [
    "operations",
    "transmissions",
    "timeouts",
    "sent_bytes",
    "received_bytes",
    "queue_ms",
    "rtt_ms",
    "execute_ms",
    "errors",
];
const WITHOUT_ERRORS: usize = COUNTERS.len() - 1;

/// `None` for counters that the kernel lacks.
type Counters = [Option<u64>; COUNTERS.len()];

/// Counters of a mount for each kind of operation.
#[derive(Debug, PartialEq, Eq)]
struct NfsMount {
    point: String,
    kinds: [Counters; KINDS],
}

/// NFS mounts of this mount namespace, as `nfs.PATH.OPERATION_COUNTER`.
pub(super) struct Mountstats {
    file: ProcFile,
    known: Vec<(String, [[Column; COUNTERS.len()]; KINDS])>,
}

impl Mountstats {
    pub(super) fn open() -> Option<Self> {
        Some(Self {
            file: ProcFile::open("/proc/self/mountstats").ok()?,
            known: Vec::new(),
        })
    }

    fn columns(&mut self, point: &str, columns: &mut Columns) -> [[Column; COUNTERS.len()]; KINDS] {
        if let Some((_, own)) = self.known.iter().find(|(known, _)| known == point) {
            return *own;
        }
        let own = std::array::from_fn(|kind| {
            let operation = OPERATIONS.get(kind).map_or("other", |(_, name)| *name);
            COUNTERS
                .map(|counter| columns.get_or_add(&format!("nfs.{point}.{operation}_{counter}")))
        });
        self.known.push((point.to_owned(), own));
        own
    }
}

impl Source for Mountstats {
    fn sample(&mut self, columns: &mut Columns) {
        let Ok(text) = self.file.read() else { return };
        for mounted in parse(&String::from_utf8_lossy(text)) {
            let own = self.columns(&mounted.point, columns);
            for (column, value) in own.iter().flatten().zip(mounted.kinds.iter().flatten()) {
                if let Some(value) = value {
                    columns.put(*column, *value);
                }
            }
        }
    }
}

/// Parse the NFS mounts. Of several at the same path the last one is visible.
fn parse(text: &str) -> Vec<NfsMount> {
    let mut found: Vec<NfsMount> = Vec::new();
    let mut is_nfs = false;
    for line in text.lines() {
        if let Some(device) = line.strip_prefix("device ") {
            let point = nfs_point(device);
            is_nfs = point.is_some();
            found.retain(|mounted| point.as_ref() != Some(&mounted.point));
            found.extend(point.map(|point| NfsMount {
                point,
                kinds: [[None; COUNTERS.len()]; KINDS],
            }));
        } else if is_nfs
            && let Some(mounted) = found.last_mut()
            && let Some((kind, counters)) = operation(line)
        {
            add(&mut mounted.kinds[kind], &counters);
        }
    }
    found
}

/// Mount point of `SERVER mounted on PATH with fstype nfs4 statvers=1.1`; `None` for other file
/// systems, which have no `statvers`.
fn nfs_point(device: &str) -> Option<String> {
    let (place, kind) = device.split_once(" with fstype ")?;
    let (_, point) = place.split_once(" mounted on ")?;
    let (kind, _) = kind.split_once(" statvers=")?;
    ["nfs", "nfs4"].contains(&kind).then(|| unescape(point))
}

/// Parse a line `NAME: COUNTERS`; lines such as `xprt:` and `bytes:` are not operations.
fn operation(line: &str) -> Option<(usize, Counters)> {
    let (name, values) = line.trim_start().split_once(':')?;
    if !name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(&byte))
    {
        return None;
    }
    let mut counters = Counters::default();
    let mut known = 0;
    for (value, printed) in counters.iter_mut().zip(values.split_ascii_whitespace()) {
        *value = Some(printed.parse().ok()?);
        known += 1;
    }
    let own = OPERATIONS.iter().position(|(own, _)| *own == name);
    (known >= WITHOUT_ERRORS).then_some((own.unwrap_or(OTHER), counters))
}

fn add(sums: &mut Counters, more: &Counters) {
    for (sum, more) in sums.iter_mut().zip(more) {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).wrapping_add(*more));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const READ: usize = 0;
    const WRITE: usize = 1;

    #[test]
    fn what_several_kernels_show_is_read() {
        let rhel_6 = include_str!("../../../../tests/host/samples/mountstats-2.6.32");
        let [nfs3] = &parse(rhel_6)[..] else {
            panic!("one mount")
        };
        assert_eq!(nfs3.point, "/srv/data set");
        let expected = [1298, 1299, 1, 207_680, 1_210_292_152, 6, 79_386, 79_407];
        assert_eq!(nfs3.kinds[READ][..8], expected.map(Some));
        assert_eq!(nfs3.kinds[READ][8], None);
        // NULL, GETATTR, LOOKUP and FSINFO.
        assert_eq!(nfs3.kinds[OTHER][0], Some(120 + 12 + 2));

        let newest = include_str!("../../../../tests/host/samples/mountstats-6.8");
        let [nfs4, other] = &parse(newest)[..] else {
            panic!("two mounts")
        };
        assert_eq!(nfs4.point, "/mnt/nfs");
        let expected = [
            8000,
            8012,
            3,
            8_389_760_000,
            1_088_000,
            91_200,
            402_113,
            498_700,
            5,
        ];
        assert_eq!(nfs4.kinds[WRITE], expected.map(Some));
        assert_eq!(other.kinds[WRITE], [0; 9].map(Some));
    }

    #[test]
    fn what_is_mounted_over_another_hides_it() {
        let text = |operations| {
            format!(
                "device a:/x mounted on /mnt with fstype nfs4 statvers=1.1\n\
                 \tREAD: {operations} 1 1 1 1 1 1 1 1\n"
            )
        };
        let both = text(5) + &text(7);
        let [mounted] = &parse(&both)[..] else {
            panic!("one mount")
        };
        assert_eq!(mounted.kinds[READ][0], Some(7));
    }

    #[test]
    fn a_mount_is_known_by_its_type_and_path() {
        let point =
            |kind: &str| nfs_point(&format!("[fe80::1]:/a mounted on /m\\040t with {kind}"));
        assert_eq!(point("fstype nfs statvers=1.0"), Some("/m t".to_owned()));
        assert_eq!(point("fstype nfsd"), None);
        assert_eq!(point("fstype ext4"), None);
    }

    proptest! {
        #[test]
        fn what_the_kernel_prints_is_read_back(values: [u64; 9], errors: bool) {
            let count = if errors { 9 } else { 8 };
            let printed: Vec<String> = values[..count].iter().map(ToString::to_string).collect();
            let text = format!(
                "device rootfs mounted on / with fstype rootfs\n\
                 device s:/e mounted on /m with fstype nfs statvers=1.1\n\
                 \tper-op statistics\n\t       WRITE: {}\n",
                printed.join(" "),
            );
            let found = parse(&text);
            let expected: Vec<Option<u64>> =
                (0..9).map(|index| (index < count).then_some(values[index])).collect();
            prop_assert_eq!(found[0].kinds[WRITE].to_vec(), expected);
        }

        #[test]
        fn nothing_makes_it_panic(text in "((device )?.{0,20}( mounted on | with fstype nfs statvers=)?(READ:)?[ 0-9]{0,20}\n){0,4}") {
            let _ = parse(&text);
        }
    }
}

//! Control group of a process; see cgroups(7) and `proc_pid_mountinfo(5)`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mount_path::unescape;

/// Control group version: 1 has a hierarchy per controller, 2 has one for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// Controller name of version 2 in /proc/PID/cgroup.
const NO_CONTROLLER: &str = "";

/// Group of a process in the hierarchy of a controller.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) version: Version,
    /// Group that is visible as the root.
    top: PathBuf,
    pub(super) own: PathBuf,
}

impl Group {
    /// Find the group for a `controller` by its version 1 name; `None` without such a hierarchy or
    /// process.
    pub(super) fn of(process: u32, controller: &str) -> Option<Self> {
        let mounts = fs::read("/proc/self/mountinfo").ok()?;
        let groups = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
        find(&mounts, &groups, controller)
    }

    /// Find the version 2 group; `None` for its root, which is the whole machine: only other groups
    /// have cgroup.type (`cgroup-v2.rst`).
    pub(super) fn v2(process: u32) -> Option<Self> {
        Self::of(process, NO_CONTROLLER).filter(|group| group.own.join("cgroup.type").exists())
    }

    /// The group and its ancestors, in this order.
    pub(super) fn ancestors(&self) -> impl Iterator<Item = &Path> {
        let inside = |group: &&Path| group.starts_with(&self.top);
        self.own.ancestors().take_while(inside)
    }
}

/// A controller has its own hierarchy, or uses that of version 2. Any user may mount by FUSE on a
/// path of any bytes.
fn find(mounts: &[u8], groups: &str, controller: &str) -> Option<Group> {
    let mounts = String::from_utf8_lossy(mounts);
    let v1 = |mount: &Mount<'_>| mount.is_v1_of(controller);
    let v2 = |mount: &Mount<'_>| mount.filesystem == "cgroup2";
    let mut mounted = mounts.lines().filter_map(Mount::parse);
    let (mount, version, path) = match mounted.find(v1) {
        Some(mount) => (mount, Version::V1, path(groups, controller)?),
        None => (
            mounts.lines().filter_map(Mount::parse).find(v2)?,
            Version::V2,
            path(groups, NO_CONTROLLER)?,
        ),
    };
    let below = Path::new(path).strip_prefix(unescape(mount.root)).ok()?;
    let top = PathBuf::from(unescape(mount.point));
    Some(Group {
        version,
        own: below
            .components()
            .fold(top.clone(), |own, part| own.join(part)),
        top,
    })
}

/// Path of the group in a line `NUMBER:CONTROLLERS:PATH`; version 2 has no controllers.
fn path<'a>(groups: &'a str, controller: &str) -> Option<&'a str> {
    groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers
            .split(',')
            .any(|own| own == controller)
            .then_some(path)
    })
}

struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    filesystem: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut kind = kind.split(' ');
        Some(Self {
            root: place.next()?,
            point: place.next()?,
            filesystem: kind.next()?,
            options: kind.nth(1)?,
        })
    }

    fn is_v1_of(&self, controller: &str) -> bool {
        self.filesystem == "cgroup" && self.options.split(',').any(|option| option == controller)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HYBRID: &[u8] = b"\
        31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
        38 31 0:35 / /sys/fs/cgroup/blk\\040io rw shared:9 master:2 - cgroup cgroup rw,cpu,blkio\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
    const UNIFIED: &[u8] = b"\
        26 23 0:23 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
    const CONTAINER: &[u8] = b"\
        26 23 0:23 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n";

    #[test]
    fn each_controller_is_in_its_hierarchy() {
        let groups = "4:blkio,cpu:/a/b\n0::/user.slice\n";
        let found = find(HYBRID, groups, "blkio").unwrap();
        assert_eq!(found.version, Version::V1);
        assert_eq!(found.own, Path::new("/sys/fs/cgroup/blk io/a/b"));
        let unified = find(HYBRID, groups, NO_CONTROLLER).unwrap();
        assert_eq!(unified.own, Path::new("/sys/fs/cgroup/unified/user.slice"));
        let other = find(HYBRID, groups, "memory").unwrap();
        assert_eq!(other.version, Version::V2);
        assert_eq!(other.own, Path::new("/sys/fs/cgroup/unified/user.slice"));
    }

    #[test]
    fn ancestors_end_at_the_visible_root() {
        let found = find(UNIFIED, "0::/user.slice/user-0.slice\n", "blkio").unwrap();
        let ancestors: Vec<_> = found.ancestors().collect();
        let expected = [
            "/sys/fs/cgroup/user.slice/user-0.slice",
            "/sys/fs/cgroup/user.slice",
            "/sys/fs/cgroup",
        ];
        assert_eq!(ancestors, expected.map(Path::new));
        let root = find(UNIFIED, "0::/\n", "blkio").unwrap();
        assert_eq!(root.own, Path::new("/sys/fs/cgroup"));
        assert_eq!(root.ancestors().count(), 1);
    }

    #[test]
    fn a_mount_point_of_any_bytes_hides_no_group() {
        let foreign: &[u8] = b"50 23 0:40 / /home/\xff - rw - fuse.x cgroup2 rw\n";
        let found = find(&[foreign, UNIFIED].concat(), "0::/a\n", "cpu").unwrap();
        assert_eq!(found.own, Path::new("/sys/fs/cgroup/a"));
    }

    #[test]
    fn what_a_container_does_not_see_has_no_group() {
        let found = find(CONTAINER, "0::/docker/ab/job\n", "cpu").unwrap();
        assert_eq!(found.own, Path::new("/sys/fs/cgroup/job"));
        assert_eq!(find(CONTAINER, "0::/elsewhere\n", "cpu"), None);
        assert_eq!(find(b"", "0::/\n", "cpu"), None);
        assert_eq!(Group::of(u32::MAX, "cpu"), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(mounts in "(.{0,30}( - )?(cgroup2)?\n?){0,3}", groups in ".{0,40}") {
            let _ = find(mounts.as_bytes(), &groups, "cpu");
            let _ = find(UNIFIED, &groups, "cpu");
            let _ = find(mounts.as_bytes(), "0::/a\n", "cpu");
        }
    }
}

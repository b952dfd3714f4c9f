"""Tests of a process's cgroup in the I/O hierarchy, on recorded trees of v1 and v2."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import TargetError
from iostudy.host.cgroups import (
    CgroupHierarchy,
    CgroupVersion,
    group_for_children,
    io_hierarchy,
    parse_groups,
)
from tests.host.sysfs import write

V2_MOUNT = "30 23 0:26 {root} /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
V1_MOUNT = "38 31 0:35 {root} /sys/fs/cgroup/blkio rw shared:9 - cgroup cgroup rw,blkio\n"
HYBRID_V2 = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"


def host(root: Path, mounts: str, groups: str) -> Path:
    write(root / "proc/self/mountinfo", mounts)
    write(root / "proc/self/cgroup", groups)
    return root


def v2_group(folder: Path, *, controllers: str, handed_down: str = "", processes: str = "") -> Path:
    write(folder / "cgroup.controllers", controllers + "\n")
    write(folder / "cgroup.subtree_control", handed_down + "\n")
    write(folder / "cgroup.procs", processes)
    return folder


def not_root(folder: Path) -> Path:
    write(folder / "cgroup.type", "domain\n")
    return folder


@pytest.fixture
def systemd(tmp_path: Path) -> Path:
    """A login session: only the root hands io down, as systemd has it by default."""
    host(tmp_path, V2_MOUNT.format(root="/"), "0::/user.slice/session-2.scope\n")
    top = v2_group(tmp_path / "sys/fs/cgroup", controllers="cpu io memory", handed_down="memory")
    not_root(v2_group(top / "user.slice", controllers="memory", handed_down="memory"))
    not_root(v2_group(top / "user.slice/session-2.scope", controllers="memory", processes="1\n"))
    return tmp_path


def test_version_2_of_a_login_session(systemd: Path) -> None:
    top = systemd / "sys/fs/cgroup"
    hierarchy = io_hierarchy(systemd)
    assert hierarchy == CgroupHierarchy(CgroupVersion.V2, top, top / "user.slice/session-2.scope")
    assert group_for_children(hierarchy) == top


def test_nearest_group_that_delegates_the_io_controller_is_found(systemd: Path) -> None:
    slice_ = systemd / "sys/fs/cgroup/user.slice"
    write(slice_ / "cgroup.controllers", "io memory\n")
    assert group_for_children(io_hierarchy(systemd)) == slice_
    write(slice_ / "cgroup.procs", "4711\n")
    assert group_for_children(io_hierarchy(systemd)) == systemd / "sys/fs/cgroup"
    write(slice_ / "cgroup.subtree_control", "io memory\n")
    assert group_for_children(io_hierarchy(systemd)) == slice_


def test_the_group_of_the_process_itself_holds_processes(systemd: Path) -> None:
    """So io cannot be handed down from it; only the root may have both."""
    own = systemd / "sys/fs/cgroup/user.slice/session-2.scope"
    write(own / "cgroup.controllers", "io\n")
    assert group_for_children(io_hierarchy(systemd)) == systemd / "sys/fs/cgroup"
    host(systemd, V2_MOUNT.format(root="/"), "0::/\n")
    write(systemd / "sys/fs/cgroup/cgroup.procs", "1\n2\n")
    assert group_for_children(io_hierarchy(systemd)) == systemd / "sys/fs/cgroup"


def test_container_without_a_writable_group_has_none(tmp_path: Path) -> None:
    host(tmp_path, V2_MOUNT.format(root="/"), "0::/\n")
    not_root(v2_group(tmp_path / "sys/fs/cgroup", controllers="io", processes="1\n"))
    with pytest.raises(TargetError, match="no group above") as caught:
        group_for_children(io_hierarchy(tmp_path))
    assert "outside of the container" in caught.value.remedy


def test_a_hybrid_host_has_the_controller_in_version_1(tmp_path: Path) -> None:
    groups = "7:blkio:/system.slice\n1:name=systemd:/system.slice\n0::/system.slice\n"
    host(tmp_path, HYBRID_V2 + V1_MOUNT.format(root="/"), groups)
    v2_group(tmp_path / "sys/fs/cgroup/unified/system.slice", controllers="")
    v2_group(tmp_path / "sys/fs/cgroup/unified", controllers="hugetlb")
    own = tmp_path / "sys/fs/cgroup/blkio/system.slice"
    write(own / "cgroup.procs", "1\n")
    hierarchy = io_hierarchy(tmp_path)
    assert hierarchy == CgroupHierarchy(CgroupVersion.V1, own.parent, own)
    assert group_for_children(hierarchy) == own


def test_partially_mounted_hierarchy_in_a_container(tmp_path: Path) -> None:
    host(tmp_path, V1_MOUNT.format(root="/docker/a"), "7:cpu,blkio:/docker/a/b\n")
    own = tmp_path / "sys/fs/cgroup/blkio/b"
    write(own / "cgroup.procs", "1\n")
    assert io_hierarchy(tmp_path).group == own
    host(tmp_path, V1_MOUNT.format(root="/docker/other"), "7:cpu,blkio:/docker/a/b\n")
    with pytest.raises(TargetError):
        io_hierarchy(tmp_path)


@pytest.mark.parametrize("mounts", ["", V2_MOUNT.format(root="/")])
def test_no_controller_anywhere(tmp_path: Path, mounts: str) -> None:
    host(tmp_path, mounts, "0::/\n")
    v2_group(tmp_path / "sys/fs/cgroup", controllers="cpu memory")
    with pytest.raises(TargetError, match="without the io controller") as caught:
        io_hierarchy(tmp_path)
    assert "CONFIG_BLK_DEV_THROTTLING" in caught.value.remedy


def test_groups_of_several_kernels() -> None:
    rhel7 = b"10:blkio:/\n4:cpuacct,cpu:/user.slice\n1:name=systemd:/user.slice/a:b.scope\n"
    assert parse_groups(rhel7) == {
        "blkio": "/",
        "cpuacct": "/user.slice",
        "cpu": "/user.slice",
        "name=systemd": "/user.slice/a:b.scope",
    }
    assert parse_groups(b"0::/a (deleted)\n") == {"": "/a (deleted)"}
    with pytest.raises(ValueError, match="not a line"):
        parse_groups(b"nonsense\n")


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n")), st.integers(0, 99))
def test_escaped_group_names_round_trip(name: str, number: int) -> None:
    assert parse_groups(f"{number}:a,b:/{name}\n".encode()) == dict.fromkeys("ab", f"/{name}")

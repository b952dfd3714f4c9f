"""Control group that limits the I/O of this process.

Version 2 has one hierarchy for all controllers, in which a group that hands a controller down may
hold no processes itself, the root excepted. Version 1 has a hierarchy for each; on a hybrid host
the I/O controller is in one of them.

Source: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/blkio-controller.rst; cgroups(7).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

from iostudy.errors import TargetError
from iostudy.host.files import ROOT, decode, read_attribute
from iostudy.host.mounts import Mount, read_mounts

CONTROLLER = "io"
PROCESSES = "cgroup.procs"
SUBTREE_CONTROL = "cgroup.subtree_control"
_AVAILABLE = "cgroup.controllers"
_V1_CONTROLLER = "blkio"


class CgroupVersion(StrEnum):
    """Version of the cgroup interface."""

    V1 = "v1"
    V2 = "v2"


@dataclass(frozen=True)
class CgroupHierarchy:
    """Groups of this process: ``top`` is the visible root, ``group`` its own one."""

    version: CgroupVersion
    top: Path
    group: Path


def io_hierarchy(root: Path = ROOT) -> CgroupHierarchy:
    """Find the hierarchy with the I/O controller; TargetError without one."""
    groups = parse_groups((root / "proc/self/cgroup").read_bytes())
    for mount in read_mounts(root):
        hierarchy = _hierarchy(mount, groups, root)
        if hierarchy:
            return hierarchy
    raise TargetError(
        "a control group that limits I/O",
        found="cgroup v2 without the io controller, and no blkio hierarchy of v1",
        where="/sys/fs/cgroup",
        remedy="use a kernel with CONFIG_BLK_CGROUP and CONFIG_BLK_DEV_THROTTLING, and mount "
        "cgroup2; in a container, run iostudy on the host",
    )


def parse_groups(data: bytes) -> dict[str, str]:
    """Parse the group in each hierarchy, by controller; version 2 has an empty name.

    ValueError names an invalid line.
    """
    groups: dict[str, str] = {}
    for line in map(decode, data.split(b"\n")[:-1]):
        fields = line.split(":", 2)
        if len(fields) != 3:
            raise ValueError(f"not a line of /proc/PID/cgroup: {line!r}")
        groups |= dict.fromkeys(fields[1].split(","), fields[2])
    return groups


def group_for_children(hierarchy: CgroupHierarchy) -> Path:
    """Find the nearest ancestor group that can limit the I/O of a child group.

    TargetError without one.
    """
    path, top = hierarchy.group, hierarchy.top
    if hierarchy.version is CgroupVersion.V1:
        return path
    for group in (path, *path.parents):
        if CONTROLLER in read_words(group / _AVAILABLE) and _may_have_children(group):
            return group
        if group == top:
            break
    raise TargetError(
        "a control group in which another can be made for the trial",
        found="no group above that hands down the io controller, or could",
        where=str(path),
        remedy="run iostudy outside of the container or scope, or delegate io to it",
    )


def read_words(path: Path) -> list[str]:
    """Read the words in a file of a group; none if the file is absent."""
    return (read_attribute(path) or "").split()


def _may_have_children(group: Path) -> bool:
    """Check the rule against internal processes for a child with the controller."""
    is_root = not (group / "cgroup.type").exists()
    return (
        is_root
        or CONTROLLER in read_words(group / SUBTREE_CONTROL)
        or not read_words(group / PROCESSES)
    )


def _hierarchy(mount: Mount, groups: dict[str, str], root: Path) -> CgroupHierarchy | None:
    if mount.filesystem == "cgroup2":
        version, group = CgroupVersion.V2, groups.get("")
    elif mount.filesystem == "cgroup" and _V1_CONTROLLER in mount.super_options:
        version, group = CgroupVersion.V1, groups.get(_V1_CONTROLLER)
    else:
        return None
    if group is None or not PurePosixPath(group).is_relative_to(mount.root):
        return None
    top = root / mount.point.relative_to("/")
    folder = top / PurePosixPath(group).relative_to(mount.root)
    if version is CgroupVersion.V2 and CONTROLLER not in read_words(top / _AVAILABLE):
        return None
    return CgroupHierarchy(version, top, folder) if (folder / PROCESSES).exists() else None

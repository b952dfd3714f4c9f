"""Rules for file systems: free space, inodes, access times, and targets that are not on a disk."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from iostudy.host.advice.facts import Facts, FilesystemSpace
from iostudy.host.advice.finding import (
    AdviceRule,
    Certainty,
    Observation,
    format_command,
    set_command,
    study_command,
)
from iostudy.host.topology import MountEntry
from iostudy.units import format_percent

FULL = 0.99
NEARLY_FULL = 0.90
NEARLY_NO_INODES = 0.90


def _used(facts: Facts, at_least: float, below: float) -> Iterator[Observation]:
    for point, space in _writable_space(facts):
        if at_least <= space.used < below:
            yield Observation(
                subject=str(point),
                found=f"{format_percent(space.used)} of the bytes in use",
                advised=f"less than {format_percent(NEARLY_FULL)}",
                evidence=f"statvfs: {space.available_bytes} B available of {space.size_bytes} B",
                command=format_command(["du", "-xhd1", str(point)]),
            )


def _inodes(facts: Facts) -> Iterator[Observation]:
    for point, space in _writable_space(facts):
        if space.used_inodes >= NEARLY_NO_INODES:
            yield Observation(
                subject=str(point),
                found=f"{format_percent(space.used_inodes)} of the inodes in use",
                advised=f"less than {format_percent(NEARLY_NO_INODES)}",
                evidence=f"statvfs: {space.free_inodes} free of {space.inodes} inodes",
                command=format_command(["du", "--inodes", "-xd1", str(point)]),
            )


def _writable_space(facts: Facts) -> Iterator[tuple[Path, FilesystemSpace]]:
    """Skip read-only images, which are always full."""
    for entry in facts.writable:
        if entry.mount.point in facts.space:
            yield entry.mount.point, facts.space[entry.mount.point]


RULES = (
    AdviceRule(
        id="file-system-full",
        title="A file system is full",
        certainty=Certainty.FACT,
        why="Writes fail with ENOSPC, and a study that writes cannot run. The command shows the "
        "largest directories.",
        source="write(2), ENOSPC; statvfs(3)",
        check=partial(_used, at_least=FULL, below=math.inf),
    ),
    AdviceRule(
        id="file-system-nearly-full",
        title="A file system is nearly full",
        certainty=Certainty.RECOMMENDATION,
        why="New files get fragmented space on a disk's inner tracks, so results differ from "
        "those of an emptier file system. HDFS stops at the reserve of "
        "dfs.datanode.du.reserved.",
        source='mke2fs(8), "-m" (blocks are reserved to avoid fragmentation); hdfs-default.xml, '
        "dfs.datanode.du.reserved",
        check=partial(_used, at_least=NEARLY_FULL, below=FULL),
    ),
    AdviceRule(
        id="inodes-nearly-used",
        title="A file system has few inodes left",
        certainty=Certainty.FACT,
        why="A file needs an inode; without one its creation fails with ENOSPC despite free "
        "space. ext4 has a fixed number, set by mkfs.",
        source='mke2fs(8), "-i" and "-N"; open(2), ENOSPC',
        check=_inodes,
    ),
)


_SETTING = "mount.atime"
_SOURCE = 'mount(8), "atime", "relatime", "noatime"; report R1'
_MANY_FILES = {
    "io": {
        "label": "small files",
        "jobs": 4,
        "files": 2000,
        "size": "4KiB",
        "record_size": "4KiB",
        "verify": False,
    }
}
"""New files, of which relatime updates the access time of each."""


def _strict(facts: Facts) -> Iterator[Observation]:
    for entry in facts.writable:
        if not {"noatime", "relatime"} & set(entry.options):
            command = set_command(_SETTING, "noatime", entry.mount.point)
            yield _atime_observation(entry, "strictatime", "noatime", command)


def _relative(facts: Facts) -> Iterator[Observation]:
    for entry in facts.writable:
        if "relatime" in entry.options:
            measure = study_command(entry, _SETTING, ("relatime", "noatime"), _MANY_FILES)
            yield _atime_observation(
                entry, "relatime", "noatime, if a study shows an advantage", measure
            )


def _atime_observation(entry: MountEntry, found: str, advised: str, command: str) -> Observation:
    return Observation(
        subject=str(entry.mount.point),
        found=found,
        advised=advised,
        evidence=f"mountinfo: {','.join(entry.options)}",
        command=command,
    )


ATIME_RULES = (
    AdviceRule(
        id="atime-strict",
        title="Every read updates an access time",
        certainty=Certainty.RECOMMENDATION,
        setting=_SETTING,
        why="Each read of a file dirties its inode, which is written later. HDFS keeps its own "
        "access times and does not need those of the file system.",
        source=_SOURCE,
        check=_strict,
    ),
    AdviceRule(
        id="atime-relative",
        title="Access times are updated at most once a day",
        certainty=Certainty.MEASURE,
        setting=_SETTING,
        why="relatime, the default since Linux 2.6.30, updates an access time only if it is older "
        "than the last change or than a day. The remaining gain of noatime is small; it "
        "depends on the number of files read.",
        source=_SOURCE,
        check=_relative,
    ),
)


def _target(facts: Facts, beginnings: tuple[str, ...], advised: str) -> Iterator[Observation]:
    """Observe a target whose type of file system begins with one of ``beginnings``."""
    entry = facts.target
    if entry and entry.filesystem.startswith(beginnings):
        yield Observation(
            subject=str(entry.mount.point),
            found=entry.filesystem,
            advised=advised,
            evidence=f"mountinfo: {entry.filesystem} ({entry.mount.source})",
            command=format_command(["findmnt", "--real"]),
        )


TARGET_RULES = (
    AdviceRule(
        id="target-in-memory",
        title="The target is in memory",
        certainty=Certainty.FACT,
        why="Its files are in memory (or swap) and never on a disk; disk settings have no effect.",
        source="tmpfs(5)",
        check=partial(
            _target, beginnings=("tmpfs", "ramfs", "devtmpfs"), advised="a directory on a disk"
        ),
    ),
    AdviceRule(
        id="target-on-overlay",
        title="The target is a container's overlay",
        certainty=Certainty.FACT,
        why="The first write to a file copies all of it, and the disk below is not visible from "
        "inside.",
        source="Documentation/filesystems/overlayfs.rst of the kernel",
        check=partial(
            _target,
            beginnings=("overlay",),
            advised="a directory of a volume mounted into the container",
        ),
    ),
    AdviceRule(
        id="target-on-fuse",
        title="The target is served by a program (FUSE)",
        certainty=Certainty.FACT,
        why="Every request passes through a program, so the measurement includes its caches and "
        "speed; the disks below, if any, are not visible.",
        source="fuse(4); Documentation/filesystems/fuse.rst of the kernel",
        check=partial(
            _target, beginnings=("fuse",), advised="find out how the program behind it stores data"
        ),
    ),
)

"""Rules for file systems with little free space or few inodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from iostudy.host.advice.commands import format_command
from iostudy.host.advice.facts import Facts, FilesystemSpace
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation
from iostudy.units import format_percent

FULL = 0.99
NEARLY_FULL = 0.90
NEARLY_NO_INODES = 0.90


def _full(facts: Facts) -> Iterator[Observation]:
    yield from _space_observations(facts, lambda space: space.used >= FULL)


def _nearly_full(facts: Facts) -> Iterator[Observation]:
    yield from _space_observations(facts, lambda space: NEARLY_FULL <= space.used < FULL)


def _space_observations(
    facts: Facts, predicate: Callable[[FilesystemSpace], bool]
) -> Iterator[Observation]:
    for point, space in _writable_space(facts):
        if predicate(space):
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
    for place in facts.writable:
        if place.mount.point in facts.space:
            yield place.mount.point, facts.space[place.mount.point]


RULES = (
    AdviceRule(
        id="file-system-full",
        title="A file system is full",
        certainty=Certainty.FACT,
        why="Writes fail with ENOSPC, and a study that writes cannot run. The command shows the "
        "largest directories.",
        source="write(2), ENOSPC; statvfs(3)",
        check=_full,
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
        check=_nearly_full,
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

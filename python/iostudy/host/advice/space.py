"""File systems that are full, or nearly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from iostudy.host.advice.commands import joined
from iostudy.host.advice.facts import Facts, Space
from iostudy.host.advice.finding import Certainty, Rule, Sighting
from iostudy.units import format_percent

FULL = 0.99
NEARLY_FULL = 0.90
NEARLY_NO_INODES = 0.90


def _full(facts: Facts) -> Iterator[Sighting]:
    yield from _sightings(facts, lambda space: space.used >= FULL)


def _nearly_full(facts: Facts) -> Iterator[Sighting]:
    yield from _sightings(facts, lambda space: NEARLY_FULL <= space.used < FULL)


def _sightings(facts: Facts, chosen: Callable[[Space], bool]) -> Iterator[Sighting]:
    for point, space in _writable_space(facts):
        if chosen(space):
            yield Sighting(
                subject=str(point),
                found=f"{format_percent(space.used)} of the bytes in use",
                advised=f"less than {format_percent(NEARLY_FULL)}",
                evidence=f"statvfs: {space.available_bytes} B available of {space.size_bytes} B",
                command=joined(["du", "-xhd1", str(point)]),
            )


def _inodes(facts: Facts) -> Iterator[Sighting]:
    for point, space in _writable_space(facts):
        if space.used_inodes >= NEARLY_NO_INODES:
            yield Sighting(
                subject=str(point),
                found=f"{format_percent(space.used_inodes)} of the inodes in use",
                advised=f"less than {format_percent(NEARLY_NO_INODES)}",
                evidence=f"statvfs: {space.free_inodes} free of {space.inodes} inodes",
                command=joined(["du", "--inodes", "-xd1", str(point)]),
            )


def _writable_space(facts: Facts) -> Iterator[tuple[Path, Space]]:
    """A read-only image is full by its nature."""
    for place in facts.writable:
        if place.mount.point in facts.space:
            yield place.mount.point, facts.space[place.mount.point]


RULES = (
    Rule(
        id="file-system-full",
        title="A file system is full",
        certainty=Certainty.FACT,
        why="Writes fail with ENOSPC, and a study that writes cannot run. The command tells what "
        "takes the room.",
        source="write(2), ENOSPC; statvfs(3)",
        check=_full,
    ),
    Rule(
        id="file-system-nearly-full",
        title="A file system is nearly full",
        certainty=Certainty.RECOMMENDATION,
        why="New files get what is left, in pieces and on a disk's inner tracks, so that what is "
        "measured now is not what an emptier file system gives. HDFS stops at what "
        "dfs.datanode.du.reserved leaves.",
        source='mke2fs(8), "-m" (blocks are reserved to avoid fragmentation); hdfs-default.xml, '
        "dfs.datanode.du.reserved",
        check=_nearly_full,
    ),
    Rule(
        id="inodes-nearly-used",
        title="A file system has hardly any inodes left",
        certainty=Certainty.FACT,
        why="A file needs an inode; without one creating it fails with ENOSPC whatever the room. "
        "ext4 has as many as it was made with.",
        source='mke2fs(8), "-i" and "-N"; open(2), ENOSPC',
        check=_inodes,
    ),
)

"""Rules for targets that are not on a disk."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation, format_command

_MEMORY = ("tmpfs", "ramfs", "devtmpfs")


def _memory(facts: Facts) -> Iterator[Observation]:
    yield from _filesystem_observation(facts, _MEMORY, "a directory on a disk")


def _overlay(facts: Facts) -> Iterator[Observation]:
    yield from _filesystem_observation(
        facts, ("overlay",), "a directory of a volume mounted into the container"
    )


def _fuse(facts: Facts) -> Iterator[Observation]:
    place = facts.target
    if place and place.filesystem.startswith("fuse"):
        yield from _filesystem_observation(
            facts, (place.filesystem,), "find out how the program behind it stores data"
        )


def _filesystem_observation(
    facts: Facts, filesystems: tuple[str, ...], advised: str
) -> Iterator[Observation]:
    place = facts.target
    if place and place.filesystem in filesystems:
        yield Observation(
            subject=str(place.mount.point),
            found=place.filesystem,
            advised=advised,
            evidence=f"mountinfo: {place.filesystem} ({place.mount.source})",
            command=format_command(["findmnt", "--real"]),
        )


RULES = (
    AdviceRule(
        id="target-in-memory",
        title="The target is in memory",
        certainty=Certainty.FACT,
        why="Its files are in memory (or swap) and never on a disk; disk settings have no effect.",
        source="tmpfs(5)",
        check=_memory,
    ),
    AdviceRule(
        id="target-on-overlay",
        title="The target is a container's overlay",
        certainty=Certainty.FACT,
        why="The first write to a file copies all of it, and the disk below is not visible from "
        "inside.",
        source="Documentation/filesystems/overlayfs.rst of the kernel",
        check=_overlay,
    ),
    AdviceRule(
        id="target-on-fuse",
        title="The target is served by a program (FUSE)",
        certainty=Certainty.FACT,
        why="Every request passes through a program, so the measurement includes its caches and "
        "speed; the disks below, if any, are not visible.",
        source="fuse(4); Documentation/filesystems/fuse.rst of the kernel",
        check=_fuse,
    ),
)

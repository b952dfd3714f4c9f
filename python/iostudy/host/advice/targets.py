"""Places where a study would measure something else than a disk."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.commands import joined
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, Rule, Sighting

_MEMORY = ("tmpfs", "ramfs", "devtmpfs")


def _memory(facts: Facts) -> Iterator[Sighting]:
    yield from _on(facts, _MEMORY, "a directory on a disk")


def _overlay(facts: Facts) -> Iterator[Sighting]:
    yield from _on(
        facts, ("overlay",), "a directory of a volume that is mounted into the container"
    )


def _fuse(facts: Facts) -> Iterator[Sighting]:
    place = facts.target
    if place and place.filesystem.startswith("fuse"):
        yield from _on(facts, (place.filesystem,), "know what the program behind it does")


def _on(facts: Facts, filesystems: tuple[str, ...], advised: str) -> Iterator[Sighting]:
    place = facts.target
    if place and place.filesystem in filesystems:
        yield Sighting(
            subject=str(place.mount.point),
            found=place.filesystem,
            advised=advised,
            evidence=f"mountinfo: {place.filesystem} ({place.mount.source})",
            command=joined(["findmnt", "--real"]),
        )


RULES = (
    Rule(
        id="target-in-memory",
        title="This place is memory",
        certainty=Certainty.FACT,
        why="Its files are in memory (or swap) and never on a disk; no disk's setting matters "
        "here.",
        source="tmpfs(5)",
        check=_memory,
    ),
    Rule(
        id="target-on-overlay",
        title="This place is a container's overlay",
        certainty=Certainty.FACT,
        why="The first write to a file copies all of it, and which disk is below cannot be told "
        "from inside.",
        source="Documentation/filesystems/overlayfs.rst of the kernel",
        check=_overlay,
    ),
    Rule(
        id="target-on-fuse",
        title="This place is served by a program (FUSE)",
        certainty=Certainty.FACT,
        why="Every request goes through a program, whose caches and speed are measured with it; "
        "the disks below it, if there are any, cannot be told.",
        source="fuse(4); Documentation/filesystems/fuse.rst of the kernel",
        check=_fuse,
    ),
)

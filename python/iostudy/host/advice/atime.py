"""Access times: what a read writes."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.commands import set_command, study_command
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, Rule, Sighting
from iostudy.host.topology import Place

_SETTING = "mount.atime"
_SOURCE = 'mount(8), "atime", "relatime", "noatime"; report R1'


def _strict(facts: Facts) -> Iterator[Sighting]:
    for place in facts.writable:
        if not {"noatime", "relatime"} & set(place.options):
            yield _sighting(place, "strictatime", "noatime", set_command(
                _SETTING, "noatime", place.mount.point
            ))  # fmt: skip


def _relative(facts: Facts) -> Iterator[Sighting]:
    for place in facts.writable:
        if "relatime" in place.options:
            measure = study_command(place, _SETTING, ("relatime", "noatime"), "dfsio-read")
            yield _sighting(place, "relatime", "noatime, if it is faster here", measure)


def _sighting(place: Place, found: str, advised: str, command: str) -> Sighting:
    return Sighting(
        subject=str(place.mount.point),
        found=found,
        advised=advised,
        evidence=f"mountinfo: {','.join(place.options)}",
        command=command,
    )


RULES = (
    Rule(
        id="atime-strict",
        title="Every read writes an access time",
        certainty=Certainty.RECOMMENDATION,
        setting=_SETTING,
        why="Each read of a file makes its inode dirty, which is written later. HDFS keeps "
        "access times of its own and needs none of the file system's.",
        source=_SOURCE,
        check=_strict,
    ),
    Rule(
        id="atime-relative",
        title="Access times are written at most once a day",
        certainty=Certainty.MEASURE,
        setting=_SETTING,
        why="relatime, the default since Linux 2.6.30, writes an access time only if it is older "
        "than the last change or than a day. What noatime still saves is small; whether it can "
        "be seen depends on how many files are read.",
        source=_SOURCE,
        check=_relative,
    ),
)

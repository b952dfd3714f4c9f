"""Rules for access times."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.host.advice.commands import set_command, study_command
from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import AdviceRule, Certainty, Observation
from iostudy.host.topology import MountEntry

_SETTING = "mount.atime"
_SOURCE = 'mount(8), "atime", "relatime", "noatime"; report R1'
_MANY_FILES = {"operations": "open_read", "files": 10_000, "bytes_to_write": "4KiB"}
"""New files, of which relatime updates the access time of each."""


def _strict(facts: Facts) -> Iterator[Observation]:
    for place in facts.writable:
        if not {"noatime", "relatime"} & set(place.options):
            yield _atime_observation(place, "strictatime", "noatime", set_command(
                _SETTING, "noatime", place.mount.point
            ))  # fmt: skip


def _relative(facts: Facts) -> Iterator[Observation]:
    for place in facts.writable:
        if "relatime" in place.options:
            measure = study_command(
                place, _SETTING, ("relatime", "noatime"), "nnbench", **_MANY_FILES
            )
            yield _atime_observation(
                place, "relatime", "noatime, if a study shows an advantage", measure
            )


def _atime_observation(place: MountEntry, found: str, advised: str, command: str) -> Observation:
    return Observation(
        subject=str(place.mount.point),
        found=found,
        advised=advised,
        evidence=f"mountinfo: {','.join(place.options)}",
        command=command,
    )


RULES = (
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

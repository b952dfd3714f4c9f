"""Process limits as a file in limits.d.

Source: limits.conf(5), pam_limits(8): limits.conf is read first, then the files of limits.d in the
order of their names; the last line for a domain counts, and a user's own line more than ``*``. How
lines are read was observed with pam_limits 1.5.2: four words in any case, and no more of the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy import units
from iostudy.host.configuration.assignment import Assignment
from iostudy.host.processes import UNLIMITED
from iostudy.persist import dropins
from iostudy.persist.dropins import ExistingLine
from iostudy.persist.plan import PersistencePlan, UnsupportedSetting, format_heading
from iostudy.persist.request import PersistedSetting, PersistRequest

FILE = Path("/etc/security/limits.d/90-iostudy.conf")
_FIRST = Path("/etc/security/limits.conf")
_EVERYBODY = "*"
_MOST_FILES = 1 << 20
"""The kernel's default of fs.nr_open. setrlimit(2) refuses more, and then pam_limits(8) the
session, so that users could not log in. What it was raised to may not hold at the next start."""
_BOTH = "-"
_UNLIMITED = ("unlimited", "infinity", "-1")
_NUMBER = re.compile(r"-?\d+")
NOTES = """\
# `*` does not concern root. Services of systemd do not read this file: they need Limit... lines in
# their units, such as LimitNOFILE= (systemd.exec(5)). It holds for sessions that begin from now on.
"""


def _multiple_of(unit: int, name: str) -> Callable[[int], int]:
    def convert(value: int) -> int:
        if value % unit:
            raise ValueError(f"limits.conf counts it in {name}, and it is no multiple of that")
        return value // unit

    return convert


_IN_KIB = dict.fromkeys(
    ("as", "core", "data", "fsize", "memlock", "rss", "stack"), _multiple_of(units.KIB, "KiB")
)
_AS_IT_IS = dict.fromkeys(
    ("locks", "msgqueue", "nofile", "nproc", "rtprio", "sigpending"), _multiple_of(1, "")
)
_UNITS: dict[str, Callable[[int], int]] = {
    **_IN_KIB,
    **_AS_IT_IS,
    "cpu": _multiple_of(60, "minutes"),
    "nice": lambda value: 20 - value,
}
"""Conversion from setrlimit(2)'s unit to that of limits.conf(5), by resource."""


@dataclass(frozen=True)
class LimitsEntry:
    """A line of limits.conf; ``type`` is soft, hard, or - for both.

    A line without ``item`` exempts its domain from all limits.
    """

    domain: str
    type: str
    item: str
    value: str
    line: Assignment

    def concerns(self, item: str, type_: str, value: str) -> bool:
        """Whether the line sets that limit, or caps a soft limit of that value."""
        if self.item not in ("", item):
            return False
        caps = type_ == "soft" and _compare_limits(item, self.value, value) < 0
        return self.type in (type_, _BOTH) or (self.type == "hard" and caps)


def _compare_limits(item: str, one: str, other: str) -> float:
    """Return a negative number if the first limit is the lower one."""
    if one == other:
        return 0
    first, second = (
        math.inf if word in _UNLIMITED else int(match[0]) if (match := _NUMBER.match(word)) else 0
        for word in (one, other)
    )
    return second - first if item == "nice" else first - second


def parse(file: Path, text: str) -> Iterator[LimitsEntry]:
    """Return every line about users or groups that pam_limits obeys.

    ``%`` is for the number of logins only.
    """
    for number, raw in enumerate(text.split("\n"), start=1):
        domain, *words = raw.partition("#")[0].split() or ("",)
        if domain.startswith("%"):
            continue
        if len(words) >= len(("type", "item", "value")):
            type_, item, value = (word.lower() for word in words[:3])
            line = Assignment(file, number, number, item, value, raw.strip())
            yield LimitsEntry(domain, type_, item, value, line)
        elif words == [_BOTH] and domain != _EVERYBODY:
            line = Assignment(file, number, number, "", "no limits", raw.strip())
            yield LimitsEntry(domain, _BOTH, "", "no limits", line)


def line_of(setting: PersistedSetting) -> str:
    """``* soft nofile 10000``; ValueError where limits.conf has no such item or unit."""
    item, type_ = _item(setting)
    return f"{_EVERYBODY} {type_} {item} {_value(item, setting.value)}"


def text(lines: Iterable[str], origin: str) -> str:
    """Return the content of the file."""
    return format_heading(origin) + NOTES + "".join(f"{line}\n" for line in lines)


def plan(kept: Sequence[PersistedSetting], request: PersistRequest, root: Path) -> PersistencePlan:
    """Return the file and its conflicts with other files."""
    names = sorted(path.name for path in dropins.resolve_path(FILE.parent, root).glob("*.conf"))
    files = (_FIRST, *(FILE.parent / name for name in names if name != FILE.name))
    others = [e for file in files for e in parse(file, dropins.read_text(file, root) or "")]
    writable, result = _convertible(kept)
    left, judged = dropins.compare_with_existing((k, _find_existing(k, others)) for k in writable)
    result += judged + PersistencePlan(notes=tuple(_own_lines(writable, others)))
    if not left:
        return result
    written = text(map(line_of, left), request.origin)
    return result + PersistencePlan(artifacts=(dropins.build_artifact(FILE, written, root),))


def _convertible(
    kept: Iterable[PersistedSetting],
) -> tuple[tuple[PersistedSetting, ...], PersistencePlan]:
    writable, result = [], PersistencePlan()
    for setting in kept:
        try:
            line_of(setting)
        except ValueError as error:
            remedy = "set it in the unit or the script that starts the program"
            result += PersistencePlan(
                unsupported=(UnsupportedSetting(setting.text, str(error), remedy),)
            )
        else:
            writable.append(setting)
    return tuple(writable), result


def _item(setting: PersistedSetting) -> tuple[str, str]:
    item, _, type_ = setting.attribute.rpartition("_")
    if item not in _UNITS:
        raise ValueError("limits.conf(5) has no such item")
    return item, type_


def _value(item: str, value: str) -> str:
    if item == "nofile" and (value == UNLIMITED or int(value) > _MOST_FILES):
        raise ValueError(f"above {_MOST_FILES} (fs.nr_open), no session could be opened")
    return value if value == UNLIMITED else str(_UNITS[item](int(value)))


def _find_existing(
    setting: PersistedSetting, others: Sequence[LimitsEntry]
) -> tuple[ExistingLine, ...]:
    value, (item, type_) = line_of(setting).split()[-1], _item(setting)
    return tuple(
        # In the setting's own unit where it is the same, so that the two can be compared.
        ExistingLine(entry.line, setting.value if entry.value == value else entry.value, wins=False)
        for entry in others
        if entry.domain == _EVERYBODY and entry.concerns(item, type_, value)
    )


def _own_lines(kept: Iterable[PersistedSetting], others: Sequence[LimitsEntry]) -> list[str]:
    return [
        f"{setting.text}: not for {entry.domain}, whose own line is {entry.line.where} "
        f"({entry.value})"
        for setting in kept
        for entry in others
        if entry.domain != _EVERYBODY
        and entry.concerns(*_item(setting), line_of(setting).split()[-1])
    ]

"""Resource limits of this process, which performs the native workloads' I/O.

Soft and hard limit of a resource are one attribute, for they are set by one call and the soft one
may not exceed the other. What this process starts later inherits them.

Source: getrlimit(2), prlimit(2); do_prlimit() in the kernel's kernel/sys.c.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

from iostudy import units
from iostudy.errors import SettingError
from iostudy.host.files import ROOT, read_attribute
from iostudy.settings.attributes import AttributeChange, SideEffects
from iostudy.settings.change import Record, SettingKind
from iostudy.settings.definitions.limit import DEFINITIONS, UNLIMITED, Bound, LimitSettingDefinition
from iostudy.settings.identity import ProcessIdentity

# getrlimit(2) of Linux; the number that Python has no name for is the same on every architecture.
_NUMBERS = {"locks": 10} | {
    name: getattr(resource, f"RLIMIT_{name.upper()}")
    for name in dict.fromkeys(definition.resource for definition in DEFINITIONS)
    if name != "locks"
}
_CAP_SYS_RESOURCE = 24
_ALL_USERS = ["0", "0", "4294967295"]
_ROOM = {
    "nofile": 64,
    "as": units.GIB,
    "data": units.GIB,
    "stack": units.MIB,
    "fsize": 64 * units.MIB,
    "cpu": 3600,
}
"""Reserve above iostudy's current use: a telemetry file, an analysis, a journal."""


@dataclass(frozen=True)
class Limits:
    """The limits of a process: an attribute for each resource, ``SOFT HARD``."""

    kind: ClassVar[str] = "process-limits"
    side_effects: ClassVar[SideEffects] = {}

    process: ProcessIdentity

    @classmethod
    def from_record(cls, record: Record) -> Limits:
        return cls(ProcessIdentity.from_record(record))

    def record(self) -> Record:
        return self.process.record()

    @property
    def name(self) -> str:
        return f"process {self.process.pid}"

    def absence_reason(self) -> str | None:
        return self.process.absence_reason()

    def affected_resources(self) -> tuple[str, ...]:
        return ()

    def matching(self, pattern: str) -> tuple[str, ...]:
        return tuple(name for name in _NUMBERS if fnmatchcase(name, pattern))

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        return sorted(attributes)

    def read(self, attribute: str) -> str | None:
        """``1024 524288``; None where the process has ended."""
        try:
            bounds = resource.prlimit(self.process.pid, _NUMBERS[attribute])
        except ProcessLookupError:
            return None
        return " ".join(map(_text, bounds))

    def write(self, attribute: str, value: str) -> None:
        soft, hard = map(_number, value.split())
        resource.prlimit(self.process.pid, _NUMBERS[attribute], (soft, hard))

    def available_values(self, attribute: str) -> tuple[str, ...]:
        return ()

    def location(self, attribute: str) -> str:
        return f"/proc/{self.process.pid}/limits"

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        if attribute == "nofile" and _may_raise():
            return "choose less than fs.nr_open, or raise that first"
        return "run as root with CAP_SYS_RESOURCE"


@dataclass(frozen=True)
class LimitSetting:
    """A definition bound to a process."""

    definition: LimitSettingDefinition
    owner: Limits

    @property
    def label(self) -> str:
        """The name: a trial has each limit once."""
        return self.definition.name

    def read(self) -> str:
        text = self.owner.read(self.definition.resource)
        if text is None:
            raise SettingError(
                f"to read {self.label}",
                found="the process has ended",
                where=self.owner.name,
                remedy="start again",
            )
        return text.split()[list(Bound).index(self.definition.bound)]

    def available_values(self) -> tuple[str, ...]:
        return ()


def bind(definition: LimitSettingDefinition, place: str) -> tuple[LimitSetting, ...]:
    """Return the limit of this process, for any place."""
    return (LimitSetting(definition, Limits(ProcessIdentity.current())),)


def changes(wanted: Mapping[LimitSetting, str]) -> tuple[AttributeChange, ...]:
    """Return one change for all limits.

    SettingError before any change for limits that cannot be set or restored, or that would stop
    iostudy itself.
    """
    by_owner: dict[Limits, dict[str, dict[Bound, str]]] = {}
    for setting, value in wanted.items():
        of_resource = by_owner.setdefault(setting.owner, {})
        of_resource.setdefault(setting.definition.resource, {})[setting.definition.bound] = value
    return tuple(
        AttributeChange.prepare(owner, {n: _checked(owner, n, w) for n, w in bounds.items()})
        for owner, bounds in by_owner.items()
    )


KIND = SettingKind(LimitSettingDefinition, bind, changes)


def _checked(owner: Limits, name: str, wanted: Mapping[Bound, str]) -> str:
    """Return both limits. An unset soft limit follows the hard one down, as at a login."""
    old_soft, old_hard = (owner.read(name) or "").split()
    hard = wanted.get(Bound.HARD, old_hard)
    soft = wanted.get(Bound.SOFT, min(old_soft, hard, key=_amount))
    _check_order(owner, name, soft, hard)
    _check_room(owner, name, soft)
    _check_privilege(owner, name, old_hard, hard)
    return f"{soft} {hard}"


def _check_order(owner: Limits, name: str, soft: str, hard: str) -> None:
    if _amount(soft) > _amount(hard):
        raise SettingError(
            f"limit.{name}_soft = {soft}",
            found=f"a hard limit of {hard}, above which no soft one can be",
            where=owner.location(name),
            remedy="choose a soft limit that is no higher, vary both together, or start iostudy "
            "with a higher hard limit",
        )


def _check_room(owner: Limits, name: str, soft: str) -> None:
    """A limit must leave iostudy what it uses now and some more."""
    if name not in _ROOM:
        return
    least = _used(name) + _ROOM[name]
    if _amount(soft) < least:
        raise SettingError(
            f"limit.{name}_soft = {soft}",
            found=f"iostudy, whose process does the workload's I/O, needs {least} itself",
            where=owner.location(name),
            remedy=f"choose {least} or more",
        )


def _check_privilege(owner: Limits, name: str, before: str, after: str) -> None:
    if before == after or _may_raise():
        return
    raise SettingError(
        f"limit.{name}_hard = {after}",
        found=f"it is {before}, and this process may not raise a hard limit, which it takes "
        "either now or to put it back (CAP_SYS_RESOURCE)",
        where=owner.location(name),
        remedy="run as root with CAP_SYS_RESOURCE (containers often lack it), or leave it out",
    )


def _used(name: str) -> int:
    """Return the current use of this process in the limit's unit."""
    memory = {"as": "VmSize", "data": "VmData", "stack": "VmStk"}
    if name in memory:
        return int(_status()[memory[name]].split()[0]) * units.KIB
    if name == "nofile":
        return max(int(entry.name) for entry in (ROOT / "proc/self/fd").iterdir()) + 1
    if name == "cpu":
        return int(sum(os.times()[:2])) + 1
    return 0


def _may_raise() -> bool:
    """Whether this process has an effective CAP_SYS_RESOURCE: not in a user namespace."""
    users = (read_attribute(ROOT / "proc/self/uid_map") or "").split()
    return users == _ALL_USERS and bool(int(_status()["CapEff"], 16) >> _CAP_SYS_RESOURCE & 1)


def _status() -> Mapping[str, str]:
    lines = (read_attribute(ROOT / "proc/self/status") or "").splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _text(limit: int) -> str:
    return UNLIMITED if limit == resource.RLIM_INFINITY else str(limit)


def _number(text: str) -> int:
    return resource.RLIM_INFINITY if text == UNLIMITED else int(text)


def _amount(text: str) -> float:
    return float("inf") if text == UNLIMITED else int(text)

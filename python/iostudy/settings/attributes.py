"""Text attributes of the kernel, several of them as one reversible change.

Most settings are files of a few bytes below /sys or /proc, or resemble them: the attributes of one
queue, all sysctls, the options of one mount. A write to some of them changes others: a new
scheduler resets nr_requests. Therefore one change covers all attributes of an owner, in any order,
and also restores what the kernel changed with them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol, Self, TypeVar

from iostudy.errors import RestoreError, SettingError
from iostudy.host.files import UnfinishedWriteError, is_being_written
from iostudy.settings import catalog
from iostudy.settings.change import ConflictPolicy, Record, RestoredValue
from iostudy.settings.definition import SettingDefinition

READ_ONLY_REMEDY = "it cannot be written in this container: run on the host itself"
"""Remedy for EROFS."""

_proven: set[tuple[Attributes, str, str]] = set()
"""Values of attributes that this process has written as they are."""

_CHANGED_MEANWHILE = "another process has changed it since, so iostudy left it unchanged"

SideEffects = Mapping[str, tuple[str, ...]]
"""Attribute -> globs of the other attributes that the kernel changes when it is written."""


class Attributes(Protocol):
    """The attributes of one owner: a queue, a mount, the host.

    An owner knows its device or boot, so iostudy never restores values of an absent owner.
    """

    @property
    def kind(self) -> str:
        """Name of its class in a journal."""

    @property
    def name(self) -> str:
        """Name of the owner for a person: ``loop0``, ``/data``, ``this host``."""

    @property
    def side_effects(self) -> SideEffects:
        """Attributes that the kernel changes when another one is written."""

    def record(self) -> Record:
        """Return everything that finds the owner again."""

    def absence_reason(self) -> str | None:
        """Return why the owner is gone, with its changes; None while it exists."""

    def affected_resources(self) -> tuple[str, ...]:
        """Return resources that others may use: device names, or WHOLE_HOST."""

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Return the attributes of a glob that can be read and written now."""

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        """Sort attributes into the order of writing."""

    def read(self, attribute: str) -> str | None:
        """Read the current value; None if the attribute does not exist now."""

    def write(self, attribute: str, value: str) -> None:
        """Write the value to the kernel; OSError if the kernel refuses it."""

    def available_values(self, attribute: str) -> tuple[str, ...]:
        """Return the available names; empty if the attribute is not a choice."""

    def location(self, attribute: str) -> str:
        """Return the file, or its equivalent, for error messages."""

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        """Suggest a fix for a value that the kernel refused."""


@dataclass(frozen=True)
class AttributeSetting:
    """A definition bound to an attribute of an owner."""

    definition: SettingDefinition
    owner: Attributes
    attribute: str

    @property
    def label(self) -> str:
        """``block.scheduler@loop0``; only the name for a setting of the host."""
        is_placed = self.definition.reach.needs_place
        return f"{self.definition.name}@{self.owner.name}" if is_placed else self.definition.name

    def read(self) -> str:
        value = self.owner.read(self.attribute)
        if value is None:
            raise SettingError(
                f"to read {self.label}",
                found="it is gone, or this host has no such setting",
                where=self.owner.location(self.attribute),
                remedy="see `iostudy doctor` for the devices of this host",
            )
        return value

    def available_values(self) -> tuple[str, ...]:
        return self.owner.available_values(self.attribute)


@dataclass(frozen=True)
class AttributeChange:
    """Change of attributes of one owner from ``before`` to ``after``.

    ``before`` includes attributes affected by side effects. It lacks attributes that the change
    itself creates, such as tunables of a new scheduler. ``settings`` are the requested names and
    values, for `iostudy persist`. ``unproven`` attributes are first written as they are: no
    description says whether their values can be written.
    """

    owner: Attributes
    before: Mapping[str, str]
    after: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    unproven: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        return self.owner.kind

    @property
    def _refused_by(self) -> str:
        return "the kernel"

    @classmethod
    def prepare(
        cls,
        owner: Attributes,
        after: Mapping[str, str],
        settings: Mapping[str, str] | None = None,
        unproven: tuple[str, ...] = (),
    ) -> Self:
        """Read the current values. SettingError if the owner or an attribute is absent."""
        loss = owner.absence_reason()
        if loss:
            raise SettingError(
                f"to set {', '.join(settings or after)} of {owner.name}",
                found=f"{loss} since the setting was found",
                where=owner.name,
                remedy="see dmesg for the reason, and start again",
            )
        globs = (*after, *list_side_effects(owner, after))
        saved = dict.fromkeys(name for glob in globs for name in owner.matching(glob))
        values = {name: owner.read(name) for name in saved}
        before = {name: value for name, value in values.items() if value is not None}
        changed = (name for name, value in after.items() if before.get(name) != value)
        reset = list_side_effects(owner, changed)
        for attribute in after.keys() - before.keys():
            # Another part of the change may create it.
            if not any(fnmatchcase(attribute, glob) for glob in reset):
                raise SettingError(
                    f"to set {_setting_name(attribute, settings or {})} of {owner.name}",
                    found="the setting is absent here now, or read-only",
                    where=owner.location(attribute),
                    remedy="leave it out here, or see `iostudy settings` for its conditions",
                )
        return cls(owner, before, after, settings or {}, unproven)

    @classmethod
    def from_record(cls, find: Callable[[Record], Attributes], record: Record) -> Self:
        """Rebuild from the journal; ``find`` rebuilds the owner.

        ValueError for invalid names or values.
        """
        before, after, settings = (record[part] for part in ("before", "after", "settings"))
        for name, value in (*before.items(), *after.items()):
            if name.startswith("/") or ".." in name.split("/") or not isinstance(value, str):
                raise ValueError(f"no attribute and value: {name!r}, {value!r}")
        if not all(isinstance(value, str) for value in settings.values()):
            raise ValueError(f"no settings and values: {settings!r}")
        return cls(find(record["owner"]), before, after, settings)

    def record(self) -> Record:
        return {
            "owner": dict(self.owner.record()),
            "before": dict(self.before),
            "after": dict(self.after),
            "settings": dict(self.settings),
        }

    @property
    def written(self) -> Mapping[str, tuple[str, ...]]:
        """Every value that iostudy writes, by attribute."""
        return {name: (value,) for name, value in self.after.items()}

    def describe(self) -> str:
        """``block.scheduler of loop0: none -> bfq``, all requested attributes in one line."""
        return ", ".join(
            f"{self._describe_attribute(name)}: {self.before.get(name, 'not there')} -> "
            f"{', '.join(values)}"
            for name, values in self.written.items()
        )

    def apply(self) -> None:
        """Write and read back. SettingError if a value is refused or not kept, after an undo.

        A later undo would mistake a rounded value for a change of another process.
        """
        for attribute in self.unproven:
            self._prove(attribute, self.before[attribute])
        try:
            for attribute in self.owner.write_order(self.after):
                self._set(attribute, self.after[attribute])
            for attribute, value in self.after.items():
                self._verify(attribute, value)
        except SettingError:
            self.undo(ConflictPolicy.OVERWRITE)
            raise

    def affected_resources(self) -> tuple[str, ...]:
        return self.owner.affected_resources()

    def undo(
        self, policy: ConflictPolicy = ConflictPolicy.REPORT
    ) -> tuple[str | RestoredValue, ...]:
        """Restore every attribute that differs from its original, in the owner's order."""
        loss = self.owner.absence_reason()
        if loss:
            return (f"{self.owner.name}: {loss}, and its changes with it",)
        late = self._list_unfinished()
        conflicts = set() if policy is ConflictPolicy.OVERWRITE else self._find_conflicts(late)
        ours = [n for n in self.owner.write_order(self.before) if n not in conflicts | late]
        done: tuple[str | RestoredValue, ...]
        done, trouble = self._restore(ours)
        if late := self._list_unfinished():
            raise self._not_restorable_yet(late)
        requested = self.owner.write_order(conflicts & self.written.keys())
        if policy is ConflictPolicy.ACCEPT:
            done += tuple(
                f"{self._describe_attribute(n)}: left at {self.owner.read(n)}" for n in requested
            )
        else:
            trouble |= dict.fromkeys(requested, _CHANGED_MEANWHILE)
        if trouble:
            raise self._not_restored(trouble)
        return done

    def _describe_attribute(self, attribute: str) -> str:
        return f"{_setting_name(attribute, self.settings)} of {self.owner.name}"

    def _prove(self, attribute: str, value: str) -> None:
        """Write a value as it is, once for this process; SettingError if it does not stay."""
        if (self.owner, attribute, value) in _proven:
            return
        try:
            self._set(attribute, value)
            self._verify(attribute, value)
        except SettingError as error:
            self.undo(ConflictPolicy.OVERWRITE)
            raise SettingError(
                f"a way back for {attribute} of {self.owner.name} before it is changed",
                found=f"written as it is, {value!r}: {error.found}",
                where=self.owner.location(attribute),
                remedy="leave it out: its old value could not be restored",
            ) from error
        _proven.add((self.owner, attribute, value))

    def _is_same(self, one: str | None, other: str | None) -> bool:
        return one == other

    def _set(self, attribute: str, value: str) -> None:
        try:
            self.owner.write(attribute, value)
        except OSError as error:
            # A file that is being written may be locked for readers, too.
            is_late = isinstance(error, UnfinishedWriteError)
            offered = () if is_late else self.owner.available_values(attribute)
            offers = f"; it offers {', '.join(offered)}" if offered else ""
            raise SettingError(
                f"to set {self._describe_attribute(attribute)} to {value}",
                found=f"{self._refused_by} refused ({error.strerror}){offers}",
                where=self.owner.location(attribute),
                remedy=self.owner.remedy(error, attribute, value),
            ) from error

    def _verify(self, attribute: str, value: str) -> None:
        actual = self.owner.read(attribute)
        if not self._is_same(actual, value):
            raise SettingError(
                f"to set {self._describe_attribute(attribute)} to {value}",
                found=f"the actual value is {actual}",
                where=self.owner.location(attribute),
                remedy="choose a value that this kernel does not round or limit",
            )

    def _restore(
        self, attributes: Iterable[str]
    ) -> tuple[tuple[RestoredValue, ...], dict[str, str]]:
        """Write the originals; return the restored values, and the failures with reasons.

        Only differences are written, because a write pins some defaults (wbt).
        """
        done, trouble = [], {}
        for name in attributes:
            if is_being_written(Path(self.owner.location(name))):
                continue  # since the write of another one; `undo` says so
            actual, original = self.owner.read(name), self.before[name]
            if self._is_same(actual, original):
                continue
            try:
                self.owner.write(name, original)
            except OSError as error:
                trouble[name] = f"{self._refused_by} refused to restore it ({error.strerror})"
            else:
                done.append(RestoredValue(self._describe_attribute(name), actual, original))
        late = self._list_unfinished()
        lost = [
            name
            for name in attributes
            if name not in late and not self._is_same(self.owner.read(name), self.before[name])
        ]
        return tuple(done), dict.fromkeys(lost, "the old value was not kept") | trouble

    def _list_unfinished(self) -> set[str]:
        """Return the attributes that the kernel may still be writing, and that nothing may read."""
        names = {*self.before, *self.written}
        return {name for name in names if is_being_written(Path(self.owner.location(name)))}

    def _find_conflicts(self, late: Collection[str]) -> set[str]:
        """Return the attributes that another process has changed since.

        Attributes affected by our own writes may have any value and are restored. Attributes
        affected by a write of another process are conflicts as well.
        """
        now = {name: self.owner.read(name) for name in self.before if name not in late}
        written = self.written
        conflicts = {
            name
            for name, value in now.items()
            if not any(self._is_same(value, v) for v in (self.before[name], *written.get(name, ())))
        }
        own_side_effects = self._affected_by(written.keys() - conflicts)
        conflicts -= own_side_effects
        return conflicts | self._affected_by(conflicts)

    def _affected_by(self, attributes: Iterable[str]) -> set[str]:
        globs = list_side_effects(self.owner, attributes)
        return {name for name in self.before if any(fnmatchcase(name, glob) for glob in globs)}

    def _not_restored(self, trouble: Mapping[str, str]) -> RestoreError:
        decide = (
            "`iostudy restore --force` restores the value before iostudy, "
            "`iostudy restore --accept` leaves it unchanged and removes the change"
        )
        is_conflict = _CHANGED_MEANWHILE in trouble.values()
        names = {name: _setting_name(name, self.settings) for name in trouble}
        now = (f"{names[name]} is {self.owner.read(name)}: {why}" for name, why in trouble.items())
        return RestoreError(
            "to restore " + ", ".join(f"{names[name]} {self.before[name]}" for name in trouble),
            found="; ".join(now),
            where=self.owner.name,
            remedy=decide if is_conflict else self._by_hand(trouble),
        )

    def _not_restorable_yet(self, late: Collection[str]) -> RestoreError:
        before = {name: value for name, value in self.before.items() if name in late}
        commands = (
            f"echo {shlex.quote(value)} > {shlex.quote(self.owner.location(name))}"
            for name, value in before.items()
        )
        return RestoreError(
            f"to restore {', '.join(map(self._describe_attribute, before))}",
            found=f"{self._refused_by} has not ended a write to it, and reading may wait as well",
            where=", ".join(map(self.owner.location, before)),
            remedy="see dmesg. Once the write has ended, iostudy restores the value, or `iostudy "
            f"restore` does, or: {'; '.join(commands)}",
        )

    def _by_hand(self, attributes: Iterable[str]) -> str:
        """Return what a person can do to restore these attributes."""
        return "see dmesg; write it again"


S = TypeVar("S", bound=AttributeSetting)
Prepare = Callable[
    [Attributes, Mapping[str, str], Mapping[str, str], tuple[str, ...]], AttributeChange
]


def prepare_changes(
    wanted: Mapping[S, str], prepare: Prepare = AttributeChange.prepare
) -> tuple[AttributeChange, ...]:
    """Prepare one change per owner for all requested values; reads the current ones."""
    by_owner: dict[Attributes, dict[S, str]] = {}
    for setting, value in wanted.items():
        by_owner.setdefault(setting.owner, {})[setting] = value
    return tuple(
        prepare(
            owner,
            {setting.attribute: value for setting, value in values.items()},
            {setting.definition.name: value for setting, value in values.items()},
            tuple(s.attribute for s in values if s.definition.undocumented),
        )
        for owner, values in by_owner.items()
    )


def list_side_effects(owner: Attributes, attributes: Iterable[str]) -> list[str]:
    """Return the globs of what the kernel changes when these attributes are written."""
    return [glob for name in attributes for glob in owner.side_effects.get(name, ())]


def _setting_name(attribute: str, settings: Collection[str]) -> str:
    """Return the name of the setting if it is known, otherwise the kernel's own name."""
    kinds = dict.fromkeys(name.partition(".")[0] for name in settings)
    whole = (f"{kind}.{attribute}" for kind in kinds)
    names = [name for name in whole if name in settings or name in catalog.names()]
    last = attribute.rpartition("/")[2]
    requested = [name for name in settings if name.endswith(f".{last}")]
    return next(iter((*names, *requested)), attribute)

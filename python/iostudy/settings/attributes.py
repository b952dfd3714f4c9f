"""Settings that are texts of the kernel, several of them as one reversible change.

Most settings are files of a few bytes below /sys or /proc, or look like it: the attributes of one
queue, all sysctls, the options of one mount. Some disturb others when they are written (a new
scheduler resets nr_requests), so one change covers all attributes of an owner, in whatever order
they were asked for, and keeps what is disturbed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Protocol, Self, TypeVar

from iostudy.errors import RestoreError, SettingError
from iostudy.settings import catalog
from iostudy.settings.change import ConflictPolicy, Record
from iostudy.settings.definition import SettingDefinition
from iostudy.settings.transaction.restored_value import RestoredValue

READ_ONLY = "it cannot be written in this container: run on the host itself"
"""How to mend EROFS, wherever the kernel's texts are."""

_CHANGED_MEANWHILE = "somebody else has changed it meanwhile, so it was left alone"

SideEffects = Mapping[str, tuple[str, ...]]
"""Attribute -> globs of the other attributes that the kernel changes when it is written."""


class Attributes(Protocol):
    """The attributes of one owner: a queue, a mount, the host.

    An owner knows which device or boot it belongs to, so that what is gone is not restored.
    """

    @property
    def kind(self) -> str:
        """Names its class in a journal."""

    @property
    def name(self) -> str:
        """What a person calls the owner: ``loop0``, ``/data``, ``this host``."""

    @property
    def side_effects(self) -> SideEffects:
        """Which attributes change others when they are written."""

    def record(self) -> Record:
        """All it takes to find the owner again."""

    def loss(self) -> str | None:
        """Why the owner, and with it what was changed, is there no more; None while it is."""

    def touches(self) -> tuple[str, ...]:
        """What others may be at work on: kernel names of devices, or WHOLE_HOST."""

    def matching(self, pattern: str) -> tuple[str, ...]:
        """The attributes of a glob that can be read and written now."""

    def in_order(self, attributes: Iterable[str]) -> list[str]:
        """The order to write them in."""

    def read(self, attribute: str) -> str | None:
        """The value that holds now; None where there is no such attribute now."""

    def write(self, attribute: str, value: str) -> None:
        """Hand the value to the kernel; OSError, with its reason, if it refuses."""

    def offered(self, attribute: str) -> tuple[str, ...]:
        """The names that the attribute can be here; empty where it is no choice among names."""

    def where(self, attribute: str) -> str:
        """The file, or what stands for it in an error."""

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        """How to mend that the kernel refused a value."""


@dataclass(frozen=True)
class AttributeSetting:
    """A definition bound to an attribute of an owner."""

    definition: SettingDefinition
    owner: Attributes
    attribute: str

    @property
    def label(self) -> str:
        """``block.scheduler@loop0``; the name alone for what the host has once."""
        place = self.definition.reach.needs_place
        return f"{self.definition.name}@{self.owner.name}" if place else self.definition.name

    def read(self) -> str:
        """The value that holds now; SettingError if it cannot be read."""
        value = self.owner.read(self.attribute)
        if value is None:
            raise SettingError(
                f"to read {self.label}",
                found="it is gone, or there is no such setting here",
                where=self.owner.where(self.attribute),
                remedy="see `iostudy doctor` for what there is",
            )
        return value

    def offered(self) -> tuple[str, ...]:
        """The names that this host offers here; empty for a number."""
        return self.owner.offered(self.attribute)


S = TypeVar("S", bound=AttributeSetting)


def changes(wanted: Mapping[S, str]) -> tuple[AttributeChange, ...]:
    """One change per owner for all that is wanted; reads what is there."""
    by_owner: dict[Attributes, dict[S, str]] = {}
    for setting, value in wanted.items():
        by_owner.setdefault(setting.owner, {})[setting] = value
    return tuple(
        AttributeChange.prepare(
            owner,
            {setting.attribute: value for setting, value in values.items()},
            {setting.definition.name: value for setting, value in values.items()},
        )
        for owner, values in by_owner.items()
    )


@dataclass(frozen=True)
class AttributeChange:
    """Attributes of one owner: ``after`` is wanted, ``before`` is what was there.

    ``before`` also holds what the kernel disturbs on the way. It lacks what only comes into being
    by the change: the tunables of a scheduler that is yet to be chosen. ``settings`` are the names
    and values that were asked for, for those who want to keep them.
    """

    owner: Attributes
    before: Mapping[str, str]
    after: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """That of the owner."""
        return self.owner.kind

    @classmethod
    def prepare(
        cls, owner: Attributes, after: Mapping[str, str], settings: Mapping[str, str] | None = None
    ) -> Self:
        """Read what is there. SettingError if the owner or an attribute is not there."""
        loss = owner.loss()
        if loss:
            raise SettingError(
                f"to set {', '.join(settings or after)} of {owner.name}",
                found=f"{loss} since the setting was looked up",
                where=owner.name,
                remedy="see dmesg for what became of it, and start again",
            )
        found = {name: owner.read(name) for name in _saved(owner, after)}
        before = {name: value for name, value in found.items() if value is not None}
        for attribute in after.keys() - before.keys():
            if not _comes_into_being(owner, attribute, before, after):
                raise _no_such(owner, attribute, settings or {})
        return cls(owner, before, after, settings or {})

    @classmethod
    def from_record(cls, find: Callable[[Record], Attributes], record: Record) -> Self:
        """What the journal has kept; ``find`` makes the owner of its part.

        ValueError for what no attributes and values can be.
        """
        before, after, settings = (record[part] for part in ("before", "after", "settings"))
        for name, value in (*before.items(), *after.items(), *settings.items()):
            if name.startswith("/") or ".." in name.split("/") or not isinstance(value, str):
                raise ValueError(f"no attribute and value: {name!r}, {value!r}")
        return cls(find(record["owner"]), before, after, settings)

    def record(self) -> Record:
        """The owner, and the values before and after."""
        return {
            "owner": dict(self.owner.record()),
            "before": dict(self.before),
            "after": dict(self.after),
            "settings": dict(self.settings),
        }

    def describe(self) -> str:
        """``block.scheduler of loop0: none -> bfq``, all wanted attributes in one line."""
        return ", ".join(
            f"{self._of_owner(name)}: {self.before.get(name, 'not there')} -> {value}"
            for name, value in self.after.items()
        )

    def apply(self) -> None:
        """Write and read back. SettingError if refused or not kept; all is put back then.

        A value that the kernel rounded would look like somebody else's to a later undo.
        """
        try:
            for attribute in self.owner.in_order(self.after):
                self._set(attribute, self.after[attribute])
            for attribute, value in self.after.items():
                self._verify(attribute, value)
        except SettingError:
            self.undo(ConflictPolicy.OVERWRITE)
            raise

    def touches(self) -> tuple[str, ...]:
        """Those of the owner."""
        return self.owner.touches()

    def undo(
        self, foreign: ConflictPolicy = ConflictPolicy.REPORT
    ) -> tuple[str | RestoredValue, ...]:
        """Put back every attribute that differs from what was there, in the owner's order."""
        loss = self.owner.loss()
        if loss:
            return (f"{self.owner.name}: {loss}, and what was changed on it with it",)
        theirs = set() if foreign is ConflictPolicy.OVERWRITE else self._foreign()
        ours = [name for name in self.owner.in_order(self.before) if name not in theirs]
        done: tuple[str | RestoredValue, ...]
        done, trouble = self._put_back(ours)
        asked_for = self.owner.in_order(theirs & self.after.keys())
        if foreign is ConflictPolicy.ACCEPT:
            done += tuple(f"{self._of_owner(n)}: left at {self.owner.read(n)}" for n in asked_for)
        else:
            trouble |= dict.fromkeys(asked_for, _CHANGED_MEANWHILE)
        if trouble:
            raise self._not_restored(trouble)
        return done

    def _of_owner(self, attribute: str) -> str:
        return f"{_called(attribute, self.settings)} of {self.owner.name}"

    def _set(self, attribute: str, value: str) -> None:
        try:
            self.owner.write(attribute, value)
        except OSError as error:
            offered = self.owner.offered(attribute)
            offers = f"; it offers {', '.join(offered)}" if offered else ""
            raise SettingError(
                f"to set {self._of_owner(attribute)} to {value}",
                found=f"the kernel refused ({error.strerror}){offers}",
                where=self.owner.where(attribute),
                remedy=self.owner.remedy(error, attribute, value),
            ) from error

    def _verify(self, attribute: str, value: str) -> None:
        found = self.owner.read(attribute)
        if found != value:
            raise SettingError(
                f"to set {self._of_owner(attribute)} to {value}",
                found=f"the kernel made it {found}",
                where=self.owner.where(attribute),
                remedy="choose a value that this kernel keeps as it is here",
            )

    def _put_back(
        self, attributes: Iterable[str]
    ) -> tuple[tuple[RestoredValue, ...], dict[str, str]]:
        """What was put back, and what was not with the reason.

        Only what differs is written: to write a default pins it in some attributes (wbt).
        """
        done, trouble = [], {}
        for name in attributes:
            found, original = self.owner.read(name), self.before[name]
            if found == original:
                continue
            try:
                self.owner.write(name, original)
            except OSError as error:
                trouble[name] = f"the kernel refused to restore it ({error.strerror})"
            else:
                done.append(RestoredValue(self._of_owner(name), found, original))
        lost = [name for name in attributes if self.owner.read(name) != self.before[name]]
        return tuple(done), dict.fromkeys(lost, "the kernel did not keep it") | trouble

    def _foreign(self) -> set[str]:
        """The attributes that hold neither the value before nor the one we wrote.

        What the kernel disturbs when we write an attribute may hold anything: it goes back to what
        was there. Where somebody else has written that attribute, what hangs on it is theirs too.
        """
        now = {name: self.owner.read(name) for name in self.before}
        theirs = {n for n, v in now.items() if v not in (self.before[n], self.after.get(n))}
        disturbed_by_us = self._disturbed_by(self.after.keys() - theirs)
        theirs -= disturbed_by_us
        return theirs | self._disturbed_by(theirs)

    def _disturbed_by(self, attributes: Iterable[str]) -> set[str]:
        globs = [glob for name in attributes for glob in self.owner.side_effects.get(name, ())]
        return {name for name in self.before if any(fnmatchcase(name, glob) for glob in globs)}

    def _not_restored(self, trouble: Mapping[str, str]) -> RestoreError:
        decide = (
            "`iostudy restore --force` writes back what was there before iostudy, "
            "`iostudy restore --accept` leaves it as it is and forgets it"
        )
        foreign = _CHANGED_MEANWHILE in trouble.values()
        called = {name: _called(name, self.settings) for name in trouble}
        now = (f"{called[name]} is {self.owner.read(name)}: {why}" for name, why in trouble.items())
        return RestoreError(
            "to restore " + ", ".join(f"{called[name]} {self.before[name]}" for name in trouble),
            found="; ".join(now),
            where=self.owner.name,
            remedy=decide if foreign else "see dmesg; write it again",
        )


def _saved(owner: Attributes, after: Mapping[str, str]) -> tuple[str, ...]:
    """What is asked for, as far as it can be written, and what that disturbs."""
    disturbed = [glob for name in after for glob in owner.side_effects.get(name, ())]
    return tuple(dict.fromkeys(n for glob in (*after, *disturbed) for n in owner.matching(glob)))


def _called(attribute: str, settings: Collection[str]) -> str:
    """The name of its setting, as far as those asked for tell it, else the kernel's own."""
    kinds = dict.fromkeys(name.partition(".")[0] for name in settings)
    whole = (f"{kind}.{attribute}" for kind in kinds)
    known = [name for name in whole if name in settings or name in catalog.names()]
    last = attribute.rpartition("/")[2]
    asked_for = [name for name in settings if name.endswith(f".{last}")]
    return next(iter((*known, *asked_for)), attribute)


def _comes_into_being(
    owner: Attributes, attribute: str, before: Mapping[str, str], after: Mapping[str, str]
) -> bool:
    """Whether another part of the change may bring the attribute about."""
    return any(
        fnmatchcase(attribute, glob)
        for name, value in after.items()
        if before.get(name) != value
        for glob in owner.side_effects.get(name, ())
    )


def _no_such(owner: Attributes, attribute: str, settings: Collection[str]) -> SettingError:
    return SettingError(
        f"to set {_called(attribute, settings)} of {owner.name}",
        found="there is no such setting here now, or none that can be changed",
        where=owner.where(attribute),
        remedy="leave it out here, or see `iostudy settings` for what it depends on",
    )

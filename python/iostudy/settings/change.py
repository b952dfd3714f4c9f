"""Protocols of settings and of reversible changes, and the values that an undo restores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Generic, Protocol, TypeVar

from iostudy.settings.definition import SettingDefinition


@dataclass(frozen=True)
class RestoredValue:
    """A restored value: ``what`` changed from ``found`` back to ``original``."""

    what: str
    found: str | None
    original: str

    def __str__(self) -> str:
        """``block.scheduler of loop0: bfq -> none``."""
        return f"{self.what}: {self.found} -> {self.original}"


def format_restored(values: Iterable[str | RestoredValue]) -> tuple[str, ...]:
    """Format all values in order; several steps of one value become one line."""
    lines: dict[str, str | RestoredValue] = {}
    for value in values:
        if isinstance(value, RestoredValue):
            match lines.get(value.what):
                case RestoredValue() as first:
                    lines[value.what] = replace(first, original=value.original)
                case _:
                    lines[value.what] = value
        else:
            lines[value] = value
    return tuple(map(str, lines.values()))


Record = Mapping[str, Any]
"""Journal record of a change: plain JSON values."""


WHOLE_HOST = "the whole host"
"""Affected resource of changes that concern no single device."""


class ConflictPolicy(Enum):
    """Policy for values that another process has changed since.

    REPORT: leave the value, and keep the change for a later undo. OVERWRITE: restore the original.
    ACCEPT: leave the value for good.
    """

    REPORT = auto()
    OVERWRITE = auto()
    ACCEPT = auto()


class Setting(Protocol):
    """A definition bound to a place on this host. It is read-only; a Change writes it."""

    @property
    def definition(self) -> SettingDefinition:
        """Definition of the setting."""

    @property
    def label(self) -> str:
        """Name and place, as in the ledger: ``block.scheduler@loop0``."""

    def read(self) -> str:
        """Read the current value. SettingError if it cannot be read."""

    def available_values(self) -> tuple[str, ...]:
        """Return the names that this host offers; empty for a number."""


D = TypeVar("D", bound=SettingDefinition)
S = TypeVar("S", bound=Setting)


@dataclass(frozen=True)
class SettingKind(Generic[D, S]):
    """Implementation of one class of definitions on a host.

    ``bind`` finds a setting in all its locations at a place. ``changes`` prepares the changes that
    give settings their values; several settings may share one change.
    """

    definition: type[D]
    bind: Callable[[D, str], tuple[S, ...]]
    changes: Callable[[Mapping[S, str]], tuple[Change, ...]]


class Change(Protocol):
    """One reversible change of the host, prepared before it is applied.

    Undo uses only the record and the current state of the host, never the progress of ``apply``, so
    another process can undo the change after a crash at any moment. Undo is idempotent, also for a
    change that was never applied.
    """

    @property
    def kind(self) -> str:
        """Name of the class in a journal; see `iostudy.settings.kinds`."""

    def describe(self) -> str:
        """Describe the change for a person: ``block.scheduler of loop0: none -> bfq``."""

    def record(self) -> Record:
        """Return everything that undo needs."""

    def apply(self) -> None:
        """Apply and read back. SettingError or TargetError; the change may be partial then."""

    def affected_resources(self) -> tuple[str, ...]:
        """Return resources that other commands may use: kernel names of devices, or WHOLE_HOST.

        A file system without a device has its number in mountinfo, such as ``0:45``.
        """

    def undo(
        self, policy: ConflictPolicy = ConflictPolicy.REPORT
    ) -> tuple[str | RestoredValue, ...]:
        """Restore the original values, read them back, and return the restored ones.

        RestoreError if this fails, or for a conflict under REPORT; all else is restored then.
        """


class PrivateChange(Change):
    """A change of what only its owner uses: undo follows the end of the owner."""

    def affected_resources(self) -> tuple[str, ...]:
        return ()

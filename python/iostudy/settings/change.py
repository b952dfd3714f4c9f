"""The two protocols of this floor: a setting somewhere on the host, and a change to undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Generic, Protocol, TypeVar

from iostudy.settings.definition import SettingDefinition
from iostudy.settings.transaction.restored_value import RestoredValue

Record = Mapping[str, Any]
"""What the journal keeps of a change: plain JSON values."""


WHOLE_HOST = "the whole host"
"""What a change touches that concerns no single device."""


class ConflictPolicy(Enum):
    """What becomes of a value that somebody else has set meanwhile.

    REPORT: it is left alone, and stays to be undone. OVERWRITE: what was there before comes back.
    ACCEPT: it is left alone for good.
    """

    REPORT = auto()
    OVERWRITE = auto()
    ACCEPT = auto()


class Setting(Protocol):
    """A definition bound to a place on this host, read only; a Change writes it."""

    @property
    def definition(self) -> SettingDefinition:
        """What it is."""

    @property
    def label(self) -> str:
        """Its name and place, as the ledger has it: ``block.scheduler@loop0``."""

    def read(self) -> str:
        """The value that holds now. SettingError if it cannot be read."""

    def offered(self) -> tuple[str, ...]:
        """The names that this host offers here; empty for a number."""


D = TypeVar("D", bound=SettingDefinition)
S = TypeVar("S", bound=Setting)


@dataclass(frozen=True)
class SettingKind(Generic[D, S]):
    """How settings of one class of definition act on a host.

    ``bind`` finds a setting everywhere it holds for a place, ``changes`` gives what has to be
    changed for the values wanted, several settings at once where they share a change.
    """

    definition: type[D]
    bind: Callable[[D, str], tuple[S, ...]]
    changes: Callable[[Mapping[S, str]], tuple[Change, ...]]


class Change(Protocol):
    """One reversible change of the host, made before it is done: it knows what was there.

    A change is undone by what its record says and by what is found on the host, never by memory of
    how far it came, so that another process can undo it after a crash at any moment. To undo what
    was never done, or twice, does no harm.
    """

    @property
    def kind(self) -> str:
        """Names the class in a journal; see `iostudy.settings.kinds`."""

    def describe(self) -> str:
        """What it changes, for a person: ``block.scheduler of loop0: none -> bfq``."""

    def record(self) -> Record:
        """Everything that undo needs."""

    def apply(self) -> None:
        """Do it and read it back. SettingError or TargetError; it may then be half done."""

    def touches(self) -> tuple[str, ...]:
        """What others may be at work on: kernel names of devices, or WHOLE_HOST.

        A file system without a device is named by its number in mountinfo, such as ``0:45``.
        """

    def undo(
        self, foreign: ConflictPolicy = ConflictPolicy.REPORT
    ) -> tuple[str | RestoredValue, ...]:
        """Put back what was there, read it back, and say what was put back.

        RestoreError where that cannot be, or where somebody else has changed it meanwhile and
        that is to be reported; all else has been put back by then.
        """

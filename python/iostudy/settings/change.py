"""The two protocols of this floor: a setting somewhere on the host, and a change to undo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from iostudy.settings.definition import SettingDefinition

Record = Mapping[str, Any]
"""What the journal keeps of a change: plain JSON values."""


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


class Change(Protocol):
    """One reversible change of the host, made before it is done: it knows what was there.

    A change is undone by what its record says and by what is found on the host, never by memory of
    how far it came, so that another process can undo it after a crash at any moment. To undo what
    was never done, or twice, does no harm.
    """

    kind: ClassVar[str]
    """Names the class in a journal; see `iostudy.settings.kinds`."""

    def describe(self) -> str:
        """What it changes, for a person: ``scheduler of loop0: none -> bfq``."""

    def record(self) -> Record:
        """Everything that undo needs."""

    def apply(self) -> None:
        """Do it and read it back. SettingError or TargetError; it may then be half done."""

    def undo(self, *, force: bool = False) -> tuple[str, ...]:
        """Put back what was there, read it back, and say what was put back.

        RestoreError where that cannot be, or where somebody else has changed it meanwhile and
        ``force`` does not overrule that; all else has been put back by then.
        """

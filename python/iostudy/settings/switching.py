"""Attributes that a study switches among several levels, as one reversible change per owner.

The journal holds the originals and the values of all levels before the first switch. A switch
writes directly from level to level: to restore the originals in between would double the writes,
and would reset what a scheduler has learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import permutations
from typing import Self

from iostudy.errors import SettingError
from iostudy.settings.attributes import AttributeChange, Attributes, list_side_effects
from iostudy.settings.change import Record

Values = Mapping[str, str]
"""Attribute -> value."""


@dataclass(frozen=True)
class SwitchedAttributes(AttributeChange):
    """A change to ``levels[0]``, which is ``after``, and between the other levels."""

    levels: tuple[Values, ...] = ()

    @classmethod
    def join(cls, owner: Attributes, changes: Sequence[AttributeChange | None]) -> Self:
        """Join prepared changes of one owner, one per level; None for a level without any.

        SettingError if an attribute would keep the value of one level under another.
        """
        present = [change for change in changes if change is not None]
        levels = tuple({} if change is None else dict(change.after) for change in changes)
        joined = cls(
            owner,
            before={name: value for change in present for name, value in change.before.items()},
            after=levels[0],
            settings={
                n: value for change in reversed(present) for n, value in change.settings.items()
            },
            levels=levels,
        )
        joined._require_resets()
        return joined

    @classmethod
    def from_record(cls, find: Callable[[Record], Attributes], record: Record) -> Self:
        levels = tuple(record["levels"])
        for level in levels:
            AttributeChange.from_record(find, {**record, "after": level})
        base = AttributeChange.from_record(find, record)
        return cls(base.owner, base.before, base.after, base.settings, levels=levels)

    def record(self) -> Record:
        return {**super().record(), "levels": [dict(level) for level in self.levels]}

    @property
    def written(self) -> Mapping[str, tuple[str, ...]]:
        names = dict.fromkeys(name for level in self.levels for name in level)
        return {n: tuple(dict.fromkeys(v[n] for v in self.levels if n in v)) for n in names}

    def switch(self, level: int) -> tuple[str, ...]:
        """Write a level over any other one and read it back; return the attributes written.

        SettingError if either fails.
        """
        target, written = self._target(self.levels[level]), list[str]()
        for name in self.owner.write_order(target):
            if self.owner.read(name) != target[name]:
                self._set(name, target[name])
                written.append(name)
        for name, value in target.items():
            self._verify(name, value)
        return tuple(written)

    def repeat_switch(self, level: int, attributes: Sequence[str]) -> None:
        """Write these attributes of a level, without reading; SettingError if one is refused."""
        target = self._target(self.levels[level])
        for name in attributes:
            self._set(name, target[name])

    def read_state(self) -> dict[str, str | None]:
        """Read all attributes that a switch may change; None for an absent one."""
        return {
            name: self.owner.read(name) for name in dict.fromkeys((*self.before, *self.written))
        }

    def require_state(self, expected: Mapping[str, str | None]) -> None:
        """SettingError if an attribute differs from the state after the first switch."""
        for name, state in self.read_state().items():
            if state != expected[name]:
                raise SettingError(
                    f"{self._describe_attribute(name)} = {expected[name]} until the next switch",
                    found=f"another process has changed it to {state}",
                    where=self.owner.location(name),
                    remedy="find out what changes it (TuneD, udev rules, another administrator)",
                )

    def _target(self, level: Values) -> Values:
        """Return what the level would give from the originals.

        An attribute that the level itself resets has the kernel's own value.
        """
        changed = {name for name, value in level.items() if self.before.get(name) != value}
        reset = self._affected_by(changed)
        return {n: value for n, value in self.before.items() if n not in reset} | dict(level)

    def _require_resets(self) -> None:
        for before, after in permutations(map(self._target, self.levels), 2):
            changed = {name for name in after if before.get(name) != after[name]}
            globs = list_side_effects(self.owner, changed)
            for name in before.keys() - after.keys():
                if any(fnmatchcase(name, glob) for glob in globs):
                    continue
                raise SettingError(
                    f"to switch from {name} = {before[name]} to a level without {name}",
                    found="the kernel keeps the value: the levels differ in no attribute that "
                    "resets it",
                    where=self.owner.location(name),
                    remedy=f"give every level a value of {name}, or use `decide: {{mode: trials}}`",
                )


class Switcher:
    """Switches of applied changes, each from the level that the previous switch left.

    The first switch from a level to another reads what it has to write, and reads it back. Further
    ones write the same attributes and read nothing. The reader of a window calls `verify` after it,
    so that a value that another process has changed stops the study with SettingError.
    """

    def __init__(self, changes: Sequence[SwitchedAttributes]) -> None:
        self._changes = changes
        self._last = 0, 0
        self._written: dict[tuple[int, int], list[tuple[str, ...]]] = {}
        self._states = {self._last: self._read_states()}

    def switch(self, level: int) -> None:
        """Write a level over the present one."""
        pair = self._last[1], level
        if pair in self._written:
            for change, names in zip(self._changes, self._written[pair], strict=True):
                change.repeat_switch(level, names)
        else:
            self.verify()
            self._written[pair] = [change.switch(level) for change in self._changes]
            self._states[pair] = self._read_states()
        self._last = pair

    def verify(self) -> None:
        """Read back all that a switch may change; SettingError if it is not as the switch left it.

        The state is that after the first switch between the same two levels.
        """
        for change, expected in zip(self._changes, self._states[self._last], strict=True):
            change.require_state(expected)

    def _read_states(self) -> list[dict[str, str | None]]:
        return [change.read_state() for change in self._changes]

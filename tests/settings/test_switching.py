"""Switches of attributes that are kept in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pytest

from iostudy.errors import RestoreError, SettingError
from iostudy.settings.attributes import AttributeChange
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.switching import SwitchedAttributes, Switcher


@dataclass(frozen=True)
class Memory:
    """A queue whose mode resets its depth; ``writes`` records every write."""

    values: dict[str, str]
    writes: list[tuple[str, str]] = field(default_factory=list)
    kind: str = "memory"
    name: str = "queue"
    side_effects: Any = field(default_factory=lambda: {"mode": ("depth",)})

    def record(self) -> dict[str, Any]:
        return {}

    def absence_reason(self) -> None:
        return None

    def affected_resources(self) -> tuple[str, ...]:
        return ()

    def matching(self, pattern: str) -> tuple[str, ...]:
        return tuple(name for name in self.values if name == pattern)

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        return sorted(attributes, key=lambda name: (name != "mode", name))

    def read(self, attribute: str) -> str | None:
        return self.values.get(attribute)

    def write(self, attribute: str, value: str) -> None:
        if value == "refused":
            raise OSError(22, "Invalid argument")
        self.writes.append((attribute, value))
        if attribute == "mode" and value != self.values["mode"]:
            self.values["depth"] = "128"
        self.values[attribute] = value

    def available_values(self, attribute: str) -> tuple[str, ...]:
        return ()

    def location(self, attribute: str) -> str:
        return attribute

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        return "choose another value"


@pytest.fixture
def queue() -> Memory:
    return Memory({"mode": "a", "depth": "7", "merges": "0"})


def joined(queue: Memory, *levels: dict[str, str]) -> SwitchedAttributes:
    changes = [AttributeChange.prepare(queue, level) if level else None for level in levels]
    return SwitchedAttributes.join(queue, changes)


def test_only_differences_are_written(queue: Memory) -> None:
    change = joined(queue, {"mode": "a", "merges": "0"}, {"mode": "b", "merges": "0"})
    switcher = Switcher([change])
    switcher.switch(1)
    switcher.switch(1)
    assert queue.writes == [("mode", "b")]


def test_a_repeated_switch_only_writes(queue: Memory) -> None:
    change = joined(queue, {"mode": "a", "merges": "0"}, {"mode": "b", "merges": "1"})
    switcher = Switcher([change])
    for level in (1, 0):
        switcher.switch(level)
    queue.writes.clear()
    with patch.object(Memory, "read", side_effect=AssertionError):
        for level in (1, 0, 1):
            switcher.switch(level)
    there, back = [("mode", "b"), ("merges", "1")], [("mode", "a"), ("depth", "7"), ("merges", "0")]
    assert queue.writes == [*there, *back, *there]
    switcher.verify()


@pytest.mark.parametrize("name", ["mode", "merges", "depth"])
def test_a_foreign_change_is_noticed_after_any_window(queue: Memory, name: str) -> None:
    switcher = Switcher([joined(queue, {"mode": "b", "merges": "0"}, {"mode": "c", "merges": "1"})])
    for level in (1, 0, 1, 0):
        switcher.switch(level)
        switcher.verify()
    queue.values[name] = "64"
    with pytest.raises(SettingError, match="another process has changed it to 64"):
        switcher.verify()


def test_a_level_without_values_is_the_original(queue: Memory) -> None:
    change = joined(queue, {}, {"mode": "b"})
    switcher = Switcher([change])
    switcher.switch(1)
    assert queue.values["depth"] == "128"
    switcher.switch(0)
    assert queue.values == {"mode": "a", "depth": "7", "merges": "0"}


def test_the_journal_gives_the_same_change(queue: Memory) -> None:
    change = joined(queue, {"mode": "b"}, {"mode": "c", "merges": "1"})
    assert SwitchedAttributes.from_record(lambda _: queue, change.record()) == change
    assert change.describe() == "mode of queue: a -> b, c, merges of queue: 0 -> 1"


@pytest.mark.parametrize("name", ["/etc/passwd", "../x"])
def test_a_journal_with_a_path_is_refused(queue: Memory, name: str) -> None:
    record = {**joined(queue, {"mode": "b"}, {"mode": "c"}).record(), "levels": [{name: "b"}]}
    with pytest.raises(ValueError, match="no attribute"):
        SwitchedAttributes.from_record(lambda _: queue, record)


def test_a_refused_level_is_an_error(queue: Memory) -> None:
    switcher = Switcher([joined(queue, {"mode": "b"}, {"mode": "refused"})])
    with pytest.raises(SettingError, match="refused"):
        switcher.switch(1)


def test_every_level_is_undone(queue: Memory) -> None:
    change = joined(queue, {"mode": "b"}, {"mode": "c", "merges": "1"}, {"mode": "a"})
    switcher = Switcher([change])
    for level in (1, 0, 2, 1):
        switcher.switch(level)
        change.undo()
        assert queue.values == {"mode": "a", "depth": "7", "merges": "0"}
        switcher = Switcher([change])


def test_a_foreign_value_is_not_undone(queue: Memory) -> None:
    change = joined(queue, {"merges": "1"}, {"merges": "2"})
    queue.values["merges"] = "3"
    with pytest.raises(RestoreError, match="another process"):
        change.undo()
    change.undo(ConflictPolicy.OVERWRITE)
    assert queue.values["merges"] == "0"


def test_a_foreign_change_of_a_side_effect_is_noticed(queue: Memory) -> None:
    switcher = Switcher([joined(queue, {"mode": "b"}, {"mode": "c"})])
    switcher.switch(1)
    queue.values["depth"] = "64"
    with pytest.raises(SettingError, match="another process has changed it to 64"):
        switcher.switch(0)


def test_a_value_that_would_stay_is_refused(queue: Memory) -> None:
    levels = {"mode": "b", "depth": "9"}, {"mode": "b"}
    with pytest.raises(SettingError, match="to a level without depth"):
        joined(queue, *levels)
    joined(queue, levels[0], {"mode": "c"})

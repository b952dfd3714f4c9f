"""Definitions of settings that a file declares: commands, a key of a text file, or kernel files.

They come from a study file, from files of the user or of the host, and from `declared.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from iostudy.settings.definition import Reach, SettingDefinition, Switching

VALUE = "{}"
"""Stands for the value in an argument of a command."""

NOT_SET = "(not set)"
"""Value of a key that its text file does not have."""

UNKNOWN_EFFECT = Switching("its effect on a running workload is unknown")

_SIZE = re.compile(r"(\d+)(?:([KMGTPE])(?:i?B)?)?", re.ASCII | re.IGNORECASE)


class Place(StrEnum):
    """Where a declared setting exists: once, on each disk or top volume, or on each mount."""

    HOST = "host"
    DISK = "disk"
    VOLUME = "volume"
    MOUNT = "mount"


PLACEHOLDERS = {
    Place.HOST: (),
    Place.DISK: ("name", "path", "number"),
    Place.VOLUME: ("name", "path", "number"),
    Place.MOUNT: ("mount", "source"),
}
"""Placeholders of a place in arguments and paths, without their braces."""

REACH = {
    Place.HOST: Reach.HOST,
    Place.DISK: Reach.DEVICE,
    Place.VOLUME: Reach.DEVICE,
    Place.MOUNT: Reach.MOUNT,
}


@dataclass(frozen=True, kw_only=True)
class DeclaredDefinition(SettingDefinition):
    """A declared setting.

    ``equals`` are pairs of a value as it is read and as levels have it. ``normalise`` is a command
    that gets a value as it is read, and prints it as levels have it. A command is killed after
    ``seconds``. ``persist`` is a command that keeps a value for good.
    """

    place: Place = Place.HOST
    equals: tuple[tuple[str, str], ...] = ()
    normalise: tuple[str, ...] = ()
    seconds: float = 10.0
    persist: str = ""
    reach: Reach = Reach.HOST
    switching: Switching = UNKNOWN_EFFECT

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """Every command that a change runs."""
        return (self.normalise,) if self.normalise else ()

    def matches(self, wanted: str, found: str) -> bool:
        """Return whether the values are the same, also as sizes: 128K is 131072."""
        return is_same(wanted, found)


@dataclass(frozen=True, kw_only=True)
class CommandDefinition(DeclaredDefinition):
    """A setting that one command prints and another one changes."""

    read: tuple[str, ...]
    write: tuple[str, ...]

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        return (self.read, self.write, *super().commands)


@dataclass(frozen=True, kw_only=True)
class TextFileDefinition(DeclaredDefinition):
    """A setting that is a key of a text file; ``after`` is the command that makes it effective."""

    file: str
    key: str
    section: str = ""
    separator: str = " = "
    after: tuple[str, ...] = ()

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        return (*((self.after,) if self.after else ()), *super().commands)


@dataclass(frozen=True, kw_only=True)
class AttributeDefinition(DeclaredDefinition):
    """A setting that is a file below /sys or /proc, or every file of a pattern.

    Of several ``attributes`` the first that exists is meant. A write changes the files ``resets``
    too: patterns that are absolute, or begin in the folder of the attribute. ``offered`` is the
    file of that folder that lists the possible words.
    """

    attributes: tuple[str, ...]
    resets: tuple[str, ...] = ()
    offered: str = ""


def is_same(one: str, other: str) -> bool:
    """Return whether two values are the same text, or the same number or size in bytes."""
    return one == other or (_bytes(one) is not None and _bytes(one) == _bytes(other))


def _bytes(text: str) -> int | None:
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    return int(match[1]) << 10 * ("KMGTPE".index(match[2].upper()) + 1 if match[2] else 0)


def fill(text: str, replaced: Iterable[tuple[str, str]]) -> str:
    """Put values in the place of ``{name}``; other braces stay, as awk and the shell need them."""
    values = dict(replaced)
    return re.sub(r"\{(\w*)\}", lambda match: values.get(match[1], match[0]), text)

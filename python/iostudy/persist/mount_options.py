"""Settings of a mount within the options of its line in fstab (values alone).

Source: mount(8), "Filesystem-independent mount options"; ext4(5); btrfs(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_SEPARATOR = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')
"""A comma outside quotation marks, as in ``context="system_u:object_r:tmp_t:s0:c1,c2"``."""

_ATIME = ("noatime", "atime", "relatime", "norelatime", "strictatime", "nostrictatime")
_SWITCHES: Mapping[str, tuple[str, str]] = {
    "mount.nodiratime": ("nodiratime", "diratime"),
    "mount.lazytime": ("lazytime", "nolazytime"),
    "mount.barrier": ("barrier", "nobarrier"),
    "mount.discard": ("discard", "nodiscard"),
}
_OPPOSITES = {
    word: pair for pair in (*_SWITCHES.values(), ("auto", "noauto"), ("rw", "ro")) for word in pair
}
_ATIME_FAMILY = dict.fromkeys(_ATIME, _ATIME)
_FAMILIES: Mapping[str, tuple[str, ...]] = {**_OPPOSITES, **_ATIME_FAMILY}
"""Options of which only one can hold, by each of their names."""


def split(options: str) -> list[str]:
    """The options one by one."""
    return [option for option in _SEPARATOR.split(options) if option]


def merge(options: str, settings: Mapping[str, str]) -> str:
    """The options with the settings in them, each in the place of what it replaces."""
    merged = split(options)
    for name, value in settings.items():
        for option in options_of(name, value):
            merged = _with(merged, option)
    return ",".join(merged)


def options_of(name: str, value: str) -> list[str]:
    """``mount.atime``, ``noatime`` -> ``noatime``; ``mount.commit``, ``30`` -> ``commit=30``."""
    if name in _SWITCHES:
        on, off = _SWITCHES[name]
        return [on if value == "on" else off]
    if name == "mount.options":
        return split(value)
    return [value if name == "mount.atime" else f"{name.removeprefix('mount.')}={value}"]


def _with(options: Iterable[str], option: str) -> list[str]:
    """The option where its family stood first, else at the end."""
    family = _family(option)
    options = list(options)
    place = next((i for i, old in enumerate(options) if _key(old) in family), len(options))
    rest = [old for old in options if _key(old) not in family]
    return [*rest[:place], option, *rest[place:]]


def _family(option: str) -> tuple[str, ...]:
    key = _key(option)
    return _FAMILIES.get(key, (key, f"no{key}", key.removeprefix("no")))


def _key(option: str) -> str:
    return option.partition("=")[0]

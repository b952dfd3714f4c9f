"""Merging of mount settings into the options of a line in fstab (values only).

Source: fstab(5); mount(8), "FILESYSTEM-INDEPENDENT MOUNT OPTIONS".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from iostudy.settings.mount_options import format_option, option_names, split_option

_SEPARATOR = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')
"""A comma outside quotation marks, as in ``context="system_u:object_r:tmp_t:s0:c1,c2"``."""


def split(options: str) -> list[str]:
    """The options one by one."""
    return [option for option in _SEPARATOR.split(options) if option]


def merge(options: str, settings: Mapping[str, str]) -> str:
    """The options with the settings in them, each in the place of what it replaces."""
    merged = split(options)
    for name, value in settings.items():
        for option in format_options(name, value):
            merged = _replace_option(merged, option)
    return ",".join(merged)


def format_options(name: str, value: str) -> list[str]:
    """``mount.atime``, ``noatime`` -> ``noatime``; ``mount.commit``, ``30`` -> ``commit=30``."""
    if name == "mount.options":
        return split(value)
    return [format_option(name.removeprefix("mount."), value)]


def conflicting_options(option: str) -> str:
    """A regular expression for the options that this one replaces, itself among them."""
    words = option_names(_key(option))
    return "|".join((*map(re.escape, words), rf"{re.escape(_key(option))}=[^,\s]*"))


def _replace_option(options: Iterable[str], option: str) -> list[str]:
    """Replace the first option of the same key, or append the option."""
    options = list(options)
    own = [index for index, old in enumerate(options) if _key(old) == _key(option)]
    place = own[0] if own else len(options)
    rest = [old for index, old in enumerate(options) if index not in own]
    return [*rest[:place], option, *rest[place:]]


def _key(option: str) -> str:
    return split_option(option)[0]

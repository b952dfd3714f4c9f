"""Parsing and formatting of mount options.

An option is a word (``discard``), a word that says no (``nodiscard``) or ``key=value``. Taken apart
it is a key and a value: ``discard`` and ``on``, ``discard`` and ``off``, ``commit`` and ``60``. The
few that do not follow this have a line in a table.

Source: mount(8), "FILESYSTEM-INDEPENDENT MOUNT OPTIONS"; fs/proc_namespace.c of the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from iostudy.settings.values import TextLine

ON, OFF = "on", "off"
ATIME = "atime"
ATIMES = ("noatime", "relatime", "strictatime")
NODIRATIME = "nodiratime"
PER_MOUNT = (ATIME, "dev", "exec", NODIRATIME, "suid", "symfollow")
"""What belongs to a mount; all else belongs to its file system, and so to every mount of it."""

_PAIRS = {
    **{mode: (ATIME, mode) for mode in ATIMES},
    "nodiratime": (NODIRATIME, ON),
    "diratime": (NODIRATIME, OFF),
    "async": ("sync", OFF),
    "inode32": ("inode64", OFF),
    "barrier=1": ("barrier", ON),
    "barrier=0": ("barrier", OFF),
}
_SPELLED = {pair: option for option, pair in _PAIRS.items() if pair[0] != "barrier"}
_KEY = re.compile(r"[A-Za-z0-9_.:-]+")
_AMBIGUOUS = ("", ON, OFF)

_ACCESS = ("ro", "rw")
PROTECTION = ("nosuid", "nodev")
"""Options of every mount that iostudy makes: whoever owns a file system gains no rights by it."""
MOUNT_POINTS = Path("/run/iostudy/mounts")
"""The folder of the mount points that studies make."""
_UNPROTECTED = frozenset({"suid", "dev", "defaults", "user", "users", "owner", "group"})
"""Options that undo the protection, or that change it by who may unmount."""
_NO_RIGHTS = "what iostudy mounts stays nosuid,nodev, and it takes these from no mount"
_OF_MOUNT_8 = frozenset(
    {"_netdev", "auto", "bind", "defaults", "fail", "group", "loop", "move", "owner", "rbind"}
    | {"remount", "user", "users"}
)
"""Without the no that may stand before them."""


def is_made(point: Path) -> bool:
    """Return whether studies make this mount point, and remove it."""
    return point.parent == MOUNT_POINTS


def split_option(option: str) -> tuple[str, str]:
    """Split one option into key and value.

    A value that looks like a word (``on`` of ``index=on``) keeps its equals sign.
    """
    if option in _PAIRS:
        return _PAIRS[option]
    key, equals, value = option.partition("=")
    if equals:
        return key, f"={value}" if value in _AMBIGUOUS or value.startswith("=") else value
    return (key.removeprefix("no"), OFF) if key.startswith("no") else (key, ON)


def option_names(key: str) -> tuple[str, ...]:
    """Return the words that set the key: ``noatime``, ``relatime``, ``strictatime``, ``atime``."""
    special = (option for option, (name, _) in _PAIRS.items() if name == key and "=" not in option)
    return tuple(dict.fromkeys((*special, key, f"no{key}")))


def format_option(key: str, value: str) -> str:
    """Format the option for the kernel."""
    if (key, value) in _SPELLED:
        return _SPELLED[key, value]
    if value == ON:
        return key
    if value == OFF:
        return f"no{key}"
    return f"{key}{value}" if value.startswith("=") else f"{key}={value}"


def mount_values(options: Iterable[str]) -> dict[str, str]:
    """Return every flag of a mount, from its options in mountinfo.

    mountinfo shows neither defaults nor strictatime.
    """
    shown = parse_values(options)
    values = {key: shown.get(key, ON) for key in PER_MOUNT}
    return values | {ATIME: shown.get(ATIME, "strictatime"), NODIRATIME: shown.get(NODIRATIME, OFF)}


def parse_values(options: Iterable[str]) -> dict[str, str]:
    """Parse the values of ``options``, without ro and rw."""
    return dict(split_option(option) for option in options if option not in _ACCESS)


def format_options(values: Mapping[str, str]) -> str:
    """Join all options in one text."""
    return ",".join(format_option(key, value) for key, value in values.items())


def parse(text: str) -> dict[str, str]:
    """Parse the options in ``text``; ValueError for options that cannot be set here."""
    values: dict[str, str] = {}
    for option in text.split(","):
        key, value = _checked(option.strip())
        if key in values:
            raise ValueError(
                f"an option twice: {format_option(key, values[key])} and {option.strip()}"
            )
        values[key] = value
    return values


def find_unprotected(text: str) -> str | None:
    """Return the first option of a list for mount(8) that undoes the protection, if one does.

    mount(8) keeps a quoted comma together; each part of such a value is examined on its own.
    """
    options = map(str.strip, text.split(","))
    return next((option for option in options if _unprotects(option)), None)


def _unprotects(option: str) -> bool:
    key = option.partition("=")[0].strip('"').lower()
    return key in _UNPROTECTED or key.startswith("x-mount.")


def _checked(option: str) -> tuple[str, str]:
    if option in _ACCESS:
        raise ValueError(f"not for {option}: iostudy makes nothing read only or writable")
    if option.removeprefix("no") in _OF_MOUNT_8 or option.startswith("x-"):
        raise ValueError(f"not for the kernel alone: {option} is an option of mount(8)")
    if _unprotects(option):
        raise ValueError(f"not for {option}: {_NO_RIGHTS}")
    key, value = split_option(option)
    if not _KEY.fullmatch(key):
        raise ValueError(f"no list of mount options: {option!r} is none")
    if key in (ATIME, *ATIMES) and value not in ATIMES:
        raise ValueError(f"unclear: instead of {option} write noatime, relatime or strictatime")
    if key in PER_MOUNT and key != ATIME and value not in (ON, OFF):
        raise ValueError(f"not a flag: instead of {option} write {key} or no{key}")
    return key, value


@dataclass(frozen=True)
class FirstMountText(TextLine):
    """Options for mount(8), which mounts a new file system with them and `PROTECTION`."""

    def parse(self, text: str) -> str:
        """Return the text without surrounding blanks; ValueError if it undoes the protection."""
        value = super().parse(text)
        if unprotected := find_unprotected(value):
            raise ValueError(f"not for {unprotected}: {_NO_RIGHTS}")
        return value


@dataclass(frozen=True)
class OptionText:
    """Mount options separated by commas, each at most once."""

    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        return "mount options with commas between them, such as discard,commit=60"

    def parse(self, text: str) -> str:
        if not text.isprintable():
            raise ValueError(f"not a line of printable text; allowed: {self.allowed}")
        return format_options(parse(text))

"""Ways to match disks in udev rules: one disk by its identity, or a class of disks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import assert_never

from iostudy.persist.request import DiskMatch, InventoryDisk

_UNWRITABLE = re.compile(r'[^ -~]|["\\|]')
_GLOB = re.compile(r"[*?\[]")
_NUMBER = re.compile(r"\d+")
_LETTERED = re.compile(r"([a-z]{1,3}?d)[a-z]+")
"""Disks that a driver letters, such as sda, xvdb, dasdc: all of their prefixes end in d."""
_NOT_A_PATH = 'ENV{DM_MULTIPATH_DEVICE_PATH}!="1", ENV{DM_UUID}!="mpath-*"'
"""Excludes multipath volumes and their paths (multipath-tools, 60-multipath.rules)."""


@dataclass(frozen=True)
class DiskPattern:
    """The match of a udev rule, and the options of `udevadm trigger` that select the same disks.

    ``name`` describes the disks. Each element of ``triggers`` is one call's selection. `udevadm
    trigger` cannot exclude multipath paths, on which no rule acts.
    """

    rule: str
    triggers: tuple[tuple[str, ...], ...]
    name: str


def find_pattern(disk: InventoryDisk, match: DiskMatch) -> DiskPattern:
    """The pattern of a disk; ValueError if it has nothing to match by."""
    match match:
        case DiskMatch.SERIAL:
            return _match_identity(disk)
        case DiskMatch.MODEL:
            if not disk.model:
                raise ValueError("the disk has no model to know its class by")
            model = _escape(disk.model)
            rule = f'ATTR{{device/model}}=="{model}"'
            # The kernel pads the model with blanks, which only rules ignore.
            return _class_pattern(
                rule, f"--attr-match=device/model={model}*", f"model {disk.model}"
            )
        case DiskMatch.ROTATIONAL:
            if not disk.bus or not disk.rotational:
                raise ValueError("it is no physical disk that says whether it is rotational")
            kind = "rotational" if disk.rotational == "1" else "not rotational"
            rule = f'ATTR{{queue/rotational}}=="{disk.rotational}", TEST=="device"'
            attribute = f"--attr-match=queue/rotational={disk.rotational}"
            return _class_pattern(rule, attribute, kind, "--attr-match=device/uevent")
        case DiskMatch.NAME_PATTERN:
            pattern = name_pattern(disk)
            trigger = f"--sysname-match={_in_sysfs(pattern)}"
            return _class_pattern(f'KERNEL=="{pattern}"', trigger, pattern)
        case unreachable:
            assert_never(unreachable)


def name_pattern(disk: InventoryDisk) -> str:
    """The pattern of a driver's names in udev: ``sd*``, and ``cciss/c*d*`` of ``cciss!c0d0``.

    A driver gives its disks letters or numbers.
    """
    letters = _LETTERED.fullmatch(disk.name)
    return f"{letters[1]}*" if letters else _NUMBER.sub("*", _escape(disk.udev_name))


def _in_sysfs(pattern: str) -> str:
    """The pattern for `udevadm trigger`, which knows a slash in a name as ``!``, as sysfs does."""
    return pattern.replace("/", "?")


def in_class(disk: InventoryDisk, studied: InventoryDisk, match: DiskMatch) -> bool:
    """Return whether rules for the class of the studied disk act on another disk."""
    if disk.exclusion_reason or disk.zoned:
        return False
    match match:
        case DiskMatch.SERIAL:
            return disk.name == studied.name
        case DiskMatch.MODEL:
            return disk.model == studied.model
        case DiskMatch.ROTATIONAL:
            return bool(disk.bus) and disk.rotational == studied.rotational
        case DiskMatch.NAME_PATTERN:
            return fnmatchcase(disk.udev_name, name_pattern(studied))
        case unreachable:
            assert_never(unreachable)


def _match_identity(disk: InventoryDisk) -> DiskPattern:
    named = " ".join(filter(None, (disk.name, disk.model)))
    if disk.wwid or disk.serial:
        identity = _escape(disk.wwid or disk.serial)
        key, *files = _identity_files(disk)
        triggers = tuple((f"--attr-match={file}={identity}",) for file in files)
        return DiskPattern(f'{key}=="{identity}"', triggers, named)
    if disk.named:
        name = _escape(disk.udev_name)
        return DiskPattern(f'KERNEL=="{name}"', ((f"--sysname-match={_in_sysfs(name)}",),), named)
    raise ValueError("the disk has neither a WWID nor a serial number to know it by")


def _identity_files(disk: InventoryDisk) -> tuple[str, ...]:
    """The sysfs key of the identity in a rule, then the files that may hold it."""
    if disk.wwid_file.endswith("/uuid"):
        return f"ATTR{{{disk.wwid_file}}}", disk.wwid_file
    # ATTRS finds it on the disk or on a parent; trigger needs the place.
    name = "wwid" if disk.wwid else "serial"
    return f"ATTRS{{{name}}}", name, f"device/{name}"


def _class_pattern(rule: str, trigger: str, name: str, *more: str) -> DiskPattern:
    return DiskPattern(f"{rule}, {_NOT_A_PATH}", ((trigger, *more),), f"disks: {name}")


def _escape(identity: str) -> str:
    """Return a pattern that matches only this text."""
    if _UNWRITABLE.search(identity):
        raise ValueError(f"its identity {identity!r} has a character that no rule can match")
    return _GLOB.sub(r"[\g<0>]", identity)

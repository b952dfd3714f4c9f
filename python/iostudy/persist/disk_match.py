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
_VIRTUAL = ("loop", "ram", "zram", "dm-", "md", "nbd")
"""Names of devices without a `device` folder in sysfs."""
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
            if not is_physical(disk) or not disk.rotational:
                raise ValueError("it is no physical disk that says whether it is rotational")
            kind = "rotational" if disk.rotational == "1" else "not rotational"
            rule = f'ATTR{{queue/rotational}}=="{disk.rotational}", TEST=="device"'
            attribute = f"--attr-match=queue/rotational={disk.rotational}"
            return _class_pattern(rule, attribute, kind, "--attr-match=device/uevent")
        case DiskMatch.NAME_PATTERN:
            pattern = name_pattern(disk.name)
            return _class_pattern(f'KERNEL=="{pattern}"', f"--sysname-match={pattern}", pattern)
        case unreachable:
            assert_never(unreachable)


def is_physical(disk: InventoryDisk) -> bool:
    """Return whether a disk is a device of a bus, by its kernel name."""
    return not disk.name.startswith(_VIRTUAL)


def name_pattern(name: str) -> str:
    """The pattern of a driver's kernel names: ``sda`` -> ``sd*``, ``nvme0n1`` -> ``nvme*n*``.

    SCSI, virtio and Xen disks are named by letters, others by numbers.
    """
    letters = re.fullmatch(r"(sd|vd|xvd|hd)[a-z]+", name)
    return f"{letters[1]}*" if letters else _NUMBER.sub("*", _escape(name))


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
            return is_physical(disk) and disk.rotational == studied.rotational
        case DiskMatch.NAME_PATTERN:
            return fnmatchcase(disk.name, name_pattern(studied.name))
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
        name = _escape(disk.name)
        return DiskPattern(f'KERNEL=="{name}"', ((f"--sysname-match={name}",),), named)
    raise ValueError("the disk has neither a WWID nor a serial number to know it by")


def _identity_files(disk: InventoryDisk) -> tuple[str, ...]:
    """The sysfs key of the identity in a rule, then the files that may hold it."""
    for prefix, folder in (("dm-", "dm"), ("md", "md")):
        if disk.wwid and disk.name.startswith(prefix):
            return f"ATTR{{{folder}/uuid}}", f"{folder}/uuid"
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

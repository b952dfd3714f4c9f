"""Creation-time properties of a mounted file system, read back from it."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iostudy.host import devices
from iostudy.host.mounts import Mount
from iostudy.settings.definitions import filesystem as definitions
from iostudy.units import KIB

_SECTOR_BYTES = 512
_SUPERBLOCK_AT, _SUPERBLOCK_BYTES = 1024, 1024
_MAGIC = 0xEF53
_HAS_JOURNAL = 0x4
NO_STRIPES = "none"


@dataclass(frozen=True)
class ExtSuperblock:
    """What the superblock of an ext2, ext3 or ext4 says; stripes are in blocks.

    Source: Documentation/filesystems/ext4/super.rst.
    """

    block_bytes: int
    blocks: int
    reserved_blocks: int
    has_journal: bool
    stride: int
    stripe_width: int

    @classmethod
    def parse(cls, data: bytes) -> ExtSuperblock:
        """Read a superblock from its 1024 bytes; ValueError if it is invalid."""
        if len(data) < _SUPERBLOCK_BYTES or struct.unpack_from("<H", data, 0x38)[0] != _MAGIC:
            raise ValueError("no superblock of an ext file system")
        low, reserved_low = struct.unpack_from("<II", data, 0x4)
        high, reserved_high = struct.unpack_from("<II", data, 0x150)
        return cls(
            block_bytes=KIB << struct.unpack_from("<I", data, 0x18)[0],
            blocks=high << 32 | low,
            reserved_blocks=reserved_high << 32 | reserved_low,
            has_journal=bool(struct.unpack_from("<I", data, 0x5C)[0] & _HAS_JOURNAL),
            stride=struct.unpack_from("<H", data, 0x164)[0],
            stripe_width=struct.unpack_from("<I", data, 0x170)[0],
        )


def read_property(name: str, mount: Mount) -> str:
    """Read the value of a file system's setting, in the form of the setting.

    OSError, or ValueError, if the file system is unreadable.
    """
    return _READ[name](mount)


def find_contradiction(requested: str, shown: Sequence[str]) -> str:
    """Return the option that the kernel shows with another value, or "".

    Both are mount options. Undisplayed options are in force as well: the kernel refuses a mount
    with unknown options.
    """
    values = dict(option.split("=", 1) for option in shown if "=" in option)
    for option in requested.split(","):
        key, equals, value = option.partition("=")
        if equals and values.get(key, value) != value:
            return f"{key}={values[key]}"
        opposite = key.removeprefix("no") if key.startswith("no") else f"no{key}"
        if not equals and opposite in shown:
            return opposite
    return ""


def shown_options(mount: Mount) -> tuple[str, ...]:
    """The options of a mount and of its file system, each once."""
    return tuple(dict.fromkeys((*mount.options, *mount.super_options)))


def _block_size(mount: Mount) -> str:
    return str(os.statvfs(mount.point).f_frsize)


def _journal(mount: Mount) -> str:
    return "on" if _superblock(mount).has_journal else "off"


def _reserved(mount: Mount) -> str:
    found = _superblock(mount)
    return str(round(100 * found.reserved_blocks / found.blocks))


def _stripe_width(mount: Mount) -> str:
    if mount.filesystem == "xfs":
        return _stripes(*_xfs_sectors(mount), _SECTOR_BYTES)
    found = _superblock(mount)
    return _stripes(found.stride, found.stripe_width, found.block_bytes)


def _xfs_sectors(mount: Mount) -> tuple[int, int]:
    """Stripe unit and width, which xfs shows among its mount options where it has any."""
    values = dict(option.split("=", 1) for option in mount.super_options if "=" in option)
    return int(values.get("sunit", 0)), int(values.get("swidth", 0))


def _stripes(unit: int, width: int, each_bytes: int) -> str:
    return f"{unit * each_bytes // KIB} {width // unit}" if unit else NO_STRIPES


def _options(mount: Mount) -> str:
    return ",".join(shown_options(mount))


def _superblock(mount: Mount) -> ExtSuperblock:
    device = devices.read_device_by_number(mount.device)
    if device is None:
        raise ValueError("no block device holds it")
    with device.path.open("rb") as file:
        file.seek(_SUPERBLOCK_AT)
        return ExtSuperblock.parse(file.read(_SUPERBLOCK_BYTES))


_READ: dict[str, Callable[[Mount], str]] = {
    definitions.FILESYSTEM_TYPE.name: lambda mount: mount.filesystem,
    definitions.BLOCK_SIZE.name: _block_size,
    definitions.JOURNAL.name: _journal,
    definitions.RESERVED.name: _reserved,
    definitions.STRIPE_WIDTH.name: _stripe_width,
    definitions.OPTIONS.name: _options,
}
